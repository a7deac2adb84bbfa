//! Columns that give the labels away: a network that sees one finds every label right.
//!
//! Where rows are sorted by their label, the number of a row tells it; and so does a column that was made from the labels,
//! such as the number of the class beside its name.

use super::{Codes, Role, Schema};
use crate::Warning;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// So many rows have to agree for it to be no accident.
const FEWEST_ROWS: usize = 20;
/// So often each value of a column has to stand with the same label, on average.
const REPEATED: usize = 5;
/// So many values of a column there can be for each class; columns that measure something have more, and are soon done
/// with.
const VALUES_PER_CLASS: usize = 10;

/// How a column follows the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// Each row has one more than the row before.
    Counts,
    /// Whole numbers that never fall, and rise by one for two rows or more.
    Rises,
}

/// The columns of numbers that only count the rows, and what to say of all that follow them; `row` tells which row of
/// the file one of those that were kept is.
pub(super) fn numbered(
    schema: &Schema,
    numbers: &[f32],
    row: impl Fn(usize) -> u32,
) -> (Vec<usize>, Vec<Warning>) {
    let (mut counts, mut warnings) = (Vec::new(), Vec::new());
    for (name, role) in schema.names.iter().zip(&schema.roles) {
        let &Role::Number(place) = role else { continue };
        let values = numbers.iter().skip(place).step_by(schema.numbers.max(1));
        match numbering(values.enumerate().map(|(at, &value)| (row(at), value))) {
            // What else is there to go by?
            Some(Numbering::Counts) if schema.numbers + schema.categories > counts.len() + 1 => {
                counts.push(place);
                warnings.push(Warning::Counts { column: name.clone() });
            }
            Some(_) => warnings.push(Warning::Rises { column: name.clone() }),
            None => {}
        }
    }
    (counts, warnings)
}

/// What to say of the columns from whose value the label of every row follows.
pub(super) fn telling(
    schema: &Schema,
    (numbers, categories): (&[f32], &[Codes]),
    labels: &[u32],
) -> Vec<Warning> {
    let classes = labels.iter().max().map_or(0, |&last| last as usize + 1);
    let most = (classes * VALUES_PER_CLASS).min(labels.len() / REPEATED);
    let tells = |role: &Role| match *role {
        Role::Number(place) => {
            let values = numbers.iter().skip(place).step_by(schema.numbers.max(1));
            tells(values.map(|value| value.to_bits()), labels, most)
        }
        Role::Category(place) => tells(categories[place].rows.iter().copied(), labels, most),
        Role::Label | Role::Ignored => false,
    };
    let columns = schema.names.iter().zip(&schema.roles).filter(|(_, role)| tells(role));
    columns.map(|(name, _)| Warning::Tells { column: name.clone() }).collect()
}

/// Whether equal values always have the same label, though there are several labels; of `most` values at most.
fn tells(values: impl Iterator<Item = u32>, labels: &[u32], most: usize) -> bool {
    let mut known = HashMap::new();
    for (value, &label) in values.zip(labels) {
        match known.entry(value) {
            Entry::Occupied(known) if *known.get() != label => return false,
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => {
                place.insert(label);
                if known.len() > most {
                    return false;
                }
            }
        }
    }
    let mut labels_of = known.into_values();
    let first = labels_of.next();
    labels.len() >= FEWEST_ROWS && labels_of.any(|label| Some(label) != first)
}

/// How values follow the numbers of their rows.
fn numbering(mut values: impl Iterator<Item = (u32, f32)> + Clone) -> Option<Numbering> {
    let all = values.clone();
    let (first_row, first) = values.next()?;
    let (mut last, mut count) = (first, 1);
    for (_, value) in values {
        // A missing value is not greater either.
        if !(value >= last && value.fract() == 0.0) {
            return None;
        }
        (last, count) = (value, count + 1);
    }
    if count < FEWEST_ROWS || first.fract() != 0.0 || f64::from(last) - f64::from(first) < count as f64 / 2.0
    {
        return None;
    }
    // Large numbers are rounded to the 24 bits they are kept in.
    let mut steps = all.map(|(row, value)| {
        let expected = f64::from(first) + f64::from(row - first_row);
        (f64::from(value) - expected).abs() <= 2.0 * expected.abs() * f64::from(f32::EPSILON)
    });
    Some(if steps.all(|fits| fits) { Numbering::Counts } else { Numbering::Rises })
}

#[cfg(test)]
mod tests {
    use super::{Numbering, numbering, tells};

    fn of(value: impl Fn(u32) -> f32) -> Option<Numbering> {
        numbering((0..100).map(|row| (row, value(row))))
    }

    #[test]
    fn a_column_that_counts_is_told_from_one_that_rises_and_from_one_that_measures() {
        assert_eq!(of(|row| row as f32), Some(Numbering::Counts));
        assert_eq!(of(|row| (700_000_001 + row) as f32), Some(Numbering::Counts));
        assert_eq!(of(|row| (3 * row + row % 2) as f32), Some(Numbering::Rises));
        assert_eq!(of(|row| (row / 10) as f32), None, "a few sorted values");
        assert_eq!(of(|row| row as f32 + 0.5), None);
        assert_eq!(of(|row| 100.0 - row as f32), None);
        assert_eq!(of(|row| if row == 50 { f32::NAN } else { row as f32 }), None);
    }

    #[test]
    fn rows_that_were_left_out_are_counted() {
        let kept = (0..100).filter(|row| row % 7 != 3);
        assert_eq!(numbering(kept.map(|row| (row, (row + 1) as f32))), Some(Numbering::Counts));
    }

    #[test]
    fn a_few_rows_say_nothing() {
        assert_eq!(numbering((0..19).map(|row| (row, row as f32))), None);
    }

    #[test]
    fn a_column_from_which_every_label_follows_is_told_from_one_that_goes_with_most() {
        let labels: Vec<u32> = (0..100).map(|row| row % 3).collect();
        let column = |value: fn(u32) -> u32| tells((0..100).map(value), &labels, 20);
        assert!(column(|row| 7 - row % 3));
        assert!(column(|row| row % 6), "several values of a class");
        assert!(!column(|row| if row == 99 { 1 } else { row % 3 }), "one that differs");
        assert!(!column(|_| 4), "always the same");
        assert!(!column(|row| row), "each value once");
        assert!(!tells((0..100).map(|row| row % 2), &[1; 100], 20), "a single class");
        assert!(!tells((0..12).map(|row| row % 3), &labels[..12], 20), "a few rows");
    }
}
