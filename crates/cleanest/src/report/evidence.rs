//! Rows of numbers: the columns in which an example looks least like its label and most like the suggestion.

use crate::audit::Suspect;
use cleanest_data::{Dataset, Example, Feature};
use std::collections::BTreeMap;

/// Columns that are shown of an example.
const SHOWN: usize = 5;
/// Numbers that are looked at to say what is usual in a class.
const SAMPLED: usize = 500_000;

/// What is usual in the classes of a table.
pub(super) struct Evidence<'a> {
    data: &'a Dataset,
    columns: Vec<Column>,
    /// How far apart the numbers of each column lie, over all classes.
    spread: Vec<f32>,
    usual: BTreeMap<u32, Vec<Usual>>,
}

/// A column as the file has it.
enum Column {
    Number { name: String, at: usize },
    Category { name: String, at: usize, values: Vec<String> },
}

/// What a column usually holds in a class.
enum Usual {
    /// The median.
    Number(f32),
    /// The share of each text.
    Category(Vec<f32>),
}

/// A column of an example, and what is usual in it.
pub(super) struct Line {
    pub(super) name: String,
    /// What it holds; nothing where it is missing.
    pub(super) value: Option<String>,
    pub(super) given: String,
    pub(super) suggested: String,
}

impl<'a> Evidence<'a> {
    /// Looks at the classes that suspects have or should have; nothing of images.
    pub(super) fn new(data: &'a Dataset, suspects: &[Suspect]) -> Option<Self> {
        let Example::Row(first) = (!data.is_empty()).then(|| data.example(0))? else { return None };
        let columns = columns(data, first.len());
        let most = (SAMPLED / first.len().max(1)).clamp(50, 1000);
        let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for suspect in suspects {
            members.entry(suspect.given).or_default();
            members.entry(suspect.suggested).or_default();
        }
        for (row, label) in data.labels().indices().iter().enumerate() {
            members.entry(*label).and_modify(|rows| rows.push(row));
        }
        let all: Vec<usize> = sampled(&(0..data.len()).collect::<Vec<_>>(), most);
        let spread = columns.iter().map(|column| spread(&column.numbers(data, &all))).collect();
        let usual = members.into_iter().map(|(class, rows)| {
            let rows = sampled(&rows, most);
            (class, columns.iter().map(|column| column.usual(data, &rows)).collect())
        });
        Some(Self { data, usual: usual.collect(), columns, spread })
    }

    /// The most telling columns of an example.
    pub(super) fn lines(&self, suspect: &Suspect) -> Vec<Line> {
        let (Some(given), Some(suggested)) =
            (self.usual.get(&suspect.given), self.usual.get(&suspect.suggested))
        else {
            return Vec::new();
        };
        if suspect.row >= self.data.len() {
            return Vec::new();
        }
        let Example::Row(row) = self.data.example(suspect.row) else { return Vec::new() };
        let telling =
            |at: usize| self.columns[at].telling(row, self.spread[at], [&given[at], &suggested[at]]);
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by(|&a, &b| telling(b).total_cmp(&telling(a)));
        let line = |at: usize| {
            let column = &self.columns[at];
            Line {
                name: column.name().to_owned(),
                value: column.value(row),
                given: column.text(&given[at], row),
                suggested: column.text(&suggested[at], row),
            }
        };
        order.into_iter().take(SHOWN).map(line).collect()
    }
}

/// The columns of a table by their names; numbers without names by their places.
fn columns(data: &Dataset, width: usize) -> Vec<Column> {
    if data.features().is_empty() {
        return (0..width).map(|at| Column::Number { name: format!("column {at}"), at }).collect();
    }
    let mut at = 0;
    let mut column = |feature: &Feature| {
        let name = feature.name().to_owned();
        let column = match feature {
            Feature::Number { .. } => Column::Number { name, at },
            Feature::Category { values, .. } => Column::Category { name, at, values: values.clone() },
        };
        at += feature.width();
        column
    };
    data.features().iter().map(&mut column).collect()
}

impl Column {
    fn name(&self) -> &str {
        match self {
            Self::Number { name, .. } | Self::Category { name, .. } => name,
        }
    }

    /// The numbers of the column in some rows, but for missing ones.
    fn numbers(&self, data: &Dataset, rows: &[usize]) -> Vec<f32> {
        let Self::Number { at, .. } = self else { return Vec::new() };
        let number = |&row: &usize| match data.example(row) {
            Example::Row(numbers) => numbers[*at],
            Example::Image(_) => f32::NAN,
        };
        rows.iter().map(number).filter(|number| number.is_finite()).collect()
    }

    fn usual(&self, data: &Dataset, rows: &[usize]) -> Usual {
        match self {
            Self::Number { .. } => Usual::Number(quantile(&mut self.numbers(data, rows), 0.5)),
            Self::Category { at, values, .. } => {
                let mut shares = vec![0.0; values.len()];
                for &row in rows {
                    let Example::Row(numbers) = data.example(row) else { continue };
                    let there = numbers[*at..][..values.len()].iter().map(|number| number.max(0.0));
                    shares
                        .iter_mut()
                        .zip(there)
                        .for_each(|(share, there)| *share += there / rows.len() as f32);
                }
                Usual::Category(shares)
            }
        }
    }

    /// By how much the example is nearer to the second of two classes than to the first.
    fn telling(&self, row: &[f32], spread: f32, [given, suggested]: [&Usual; 2]) -> f32 {
        let telling = match (self, given, suggested) {
            (Self::Number { at, .. }, Usual::Number(given), Usual::Number(suggested)) => {
                ((row[*at] - given).abs() - (row[*at] - suggested).abs()) / spread
            }
            (Self::Category { at, values, .. }, Usual::Category(given), Usual::Category(suggested)) => {
                let held = row[*at..][..values.len()].iter().zip(suggested.iter().zip(given));
                held.map(|(there, (suggested, given))| there * (suggested - given)).sum()
            }
            _ => 0.0,
        };
        if telling.is_finite() { telling } else { 0.0 }
    }

    /// What the example holds.
    fn value(&self, row: &[f32]) -> Option<String> {
        match self {
            Self::Number { at, .. } => row[*at].is_finite().then(|| figure(row[*at])),
            Self::Category { at, values, .. } => {
                let held = row[*at..][..values.len()].iter().position(|&there| there > 0.5);
                held.map(|value| values[value].clone())
            }
        }
    }

    /// What is usual: a median, or how many have the text that this example has.
    fn text(&self, usual: &Usual, row: &[f32]) -> String {
        match (self, usual) {
            (_, Usual::Number(median)) if median.is_finite() => figure(*median),
            (Self::Category { at, values, .. }, Usual::Category(shares)) => {
                let held = row[*at..][..values.len()].iter().position(|&there| there > 0.5);
                let most = || (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
                let percent = |value: usize| format!("{:.0} %", 100.0 * shares[value]);
                match (held, most()) {
                    (Some(held), _) => format!("{} have it", percent(held)),
                    (None, Some(most)) => format!("{} ({})", values[most], percent(most)),
                    (None, None) => String::new(),
                }
            }
            _ => "unknown".to_owned(),
        }
    }
}

/// At most so many of some rows, from the first to the last.
fn sampled(rows: &[usize], most: usize) -> Vec<usize> {
    rows.iter().copied().step_by(rows.len().div_ceil(most).max(1)).collect()
}

/// The middle half of the numbers; where it has no width, all of them.
fn spread(numbers: &[f32]) -> f32 {
    let mut numbers = numbers.to_vec();
    let (low, high) = (quantile(&mut numbers, 0.25), quantile(&mut numbers, 0.75));
    if high > low { high - low } else { quantile(&mut numbers, 1.0) - quantile(&mut numbers, 0.0) }
}

fn quantile(numbers: &mut [f32], share: f32) -> f32 {
    if numbers.is_empty() {
        return f32::NAN;
    }
    let at = (share * (numbers.len() - 1) as f32).round() as usize;
    *numbers.select_nth_unstable_by(at, f32::total_cmp).1
}

/// A number with four digits that mean something.
fn figure(number: f32) -> String {
    let size = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    if !(-4..7).contains(&size) {
        return format!("{number:.3e}");
    }
    let text = format!("{number:.*}", (3 - size).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_mean_something() {
        let shown = [0.0, 5.1, 0.012_345, 1234.56, -2.0, 1e9, 65535.0].map(figure);
        assert_eq!(shown, ["0", "5.1", "0.01235", "1235", "-2", "1.000e9", "65535"]);
    }
}
