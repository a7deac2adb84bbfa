//! Many runs as the tables of a paper: methods by noises, mean(deviation) over the seeds.

mod compare;
mod gather;
mod markup;
mod paper;

pub use compare::{Comparison, Verdict, Whose};
pub use gather::{Gathered, Trial, gather};
pub use markup::Format;

use cleanest_core::methods::Choice;
use cleanest_core::noise::Noise;
use cleanest_core::stats::{Summary, welch_t_test};
use std::collections::BTreeMap;

/// The level of the test that decides what is bold.
const LEVEL: f64 = 0.05;

/// What a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Accuracy on clean test labels after the last step, in percent.
    Accuracy,
    /// The average total variation between the estimated and the injected noise, times 100.
    AverageTv,
}

/// One table: the runs of one set and one model.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name of the set.
    pub data: String,
    /// The model.
    pub model: String,
    /// What is in its cells.
    pub metric: Metric,
    /// Methods, with the settings that tell them apart where some were varied.
    pub rows: Vec<String>,
    /// Noises.
    pub columns: Vec<String>,
    /// The cells, row by row; none where there is no run.
    pub cells: Vec<Vec<Option<Cell>>>,
}

/// The runs that differ by their seed alone.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Mean and deviation.
    pub summary: Summary,
    /// Whether it is the best of its column, or not significantly worse than the best.
    pub is_best: bool,
    /// What the paper has here, and how it compares.
    pub paper: Option<Comparison>,
    values: Vec<f64>,
}

impl Metric {
    /// What a table of it is called.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy, %",
            Self::AverageTv => "average TV, x100",
        }
    }

    /// What a run has of it; a method that does not model the noise has no estimate to be wrong.
    fn of(self, trial: &Trial) -> Option<f64> {
        match self {
            Self::Accuracy => trial.accuracy,
            Self::AverageTv => trial.average_tv.filter(|_| trial.models_noise),
        }
    }

    /// A number that is larger where the metric is better.
    pub(super) fn merit(self, value: f64) -> f64 {
        match self {
            Self::Accuracy => value,
            Self::AverageTv => -value,
        }
    }
}

/// The tables of some runs, by set and model; those without a single number are left out.
#[must_use]
pub fn tables(trials: &[Trial], metrics: &[Metric], with_paper: bool) -> Vec<Table> {
    let mut groups: BTreeMap<(&str, &str), Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        groups.entry((&trial.data, &trial.model)).or_default().push(trial);
    }
    let mut tables = Vec::new();
    for ((data, model), trials) in groups {
        for &metric in metrics {
            let mut table = Table::of((data, model), metric, &trials);
            table.embolden();
            if with_paper {
                table.compare();
            }
            if !table.rows.is_empty() {
                tables.push(table);
            }
        }
    }
    tables
}

impl Table {
    fn of((data, model): (&str, &str), metric: Metric, trials: &[&Trial]) -> Self {
        let counted: Vec<&&Trial> = trials.iter().filter(|trial| metric.of(trial).is_some()).collect();
        let mut rows: Vec<(usize, String)> =
            counted.iter().map(|trial| (place(&trial.method), trial.row.clone())).collect();
        let mut columns: Vec<(usize, String)> =
            counted.iter().map(|trial| (noise_place(&trial.noise), trial.noise.clone())).collect();
        for list in [&mut rows, &mut columns] {
            list.sort();
            list.dedup();
        }
        let cell = |row: &str, column: &str| {
            let here = counted.iter().filter(|trial| trial.row == row && trial.noise == column);
            let values: Vec<f64> = here.filter_map(|trial| metric.of(trial)).collect();
            let summary = Summary::of(&values)?;
            Some(Cell { summary, is_best: false, paper: None, values })
        };
        let cells = rows.iter().map(|(_, row)| columns.iter().map(|(_, column)| cell(row, column)).collect());
        let cells = cells.collect();
        let names = |list: Vec<(usize, String)>| list.into_iter().map(|(_, name)| name).collect();
        Self {
            data: data.into(),
            model: model.into(),
            metric,
            cells,
            rows: names(rows),
            columns: names(columns),
        }
    }

    /// Marks the best cell of each column, and those that a one-tailed t-test cannot tell from it.
    fn embolden(&mut self) {
        let merits =
            |cell: &Cell| cell.values.iter().map(|&value| self.metric.merit(value)).collect::<Vec<_>>();
        for column in 0..self.columns.len() {
            let mean = |row: &usize| {
                self.cells[*row][column].as_ref().map(|cell| self.metric.merit(cell.summary.mean))
            };
            let rows = (0..self.rows.len()).filter(|row| mean(row).is_some());
            let best = rows.max_by(|a, b| mean(a).partial_cmp(&mean(b)).unwrap_or(std::cmp::Ordering::Equal));
            let Some(best) = best else { continue };
            let Some(top) = self.cells[best][column].as_ref().map(merits) else { continue };
            let ties = (0..self.rows.len()).map(|row| {
                let cell = self.cells[row][column].as_ref();
                // Without a second trial there is nothing to test with, and only the best is the best.
                let tied = |cell| welch_t_test(&top, &merits(cell)).is_ok_and(|p| p > LEVEL);
                row == best || cell.is_some_and(tied)
            });
            let ties: Vec<bool> = ties.collect();
            for (row, is_best) in ties.into_iter().enumerate() {
                self.cells[row][column].iter_mut().for_each(|cell| cell.is_best = is_best);
            }
        }
    }

    /// Sets what the paper has beside each cell.
    fn compare(&mut self) {
        for (row, cells) in self.rows.iter().zip(&mut self.cells) {
            for (column, cell) in self.columns.iter().zip(cells) {
                let theirs = paper::cell((&self.data, row, column), self.metric);
                if let (Some(cell), Some(theirs)) = (cell, theirs) {
                    let spread = Some(cell.summary.deviation).filter(|_| cell.summary.count > 1);
                    cell.paper = Some(Comparison::new((cell.summary.mean, spread), theirs, self.metric));
                }
            }
        }
    }

    /// The smallest and the largest number of runs in a cell.
    fn counts(&self) -> (usize, usize) {
        let counts = || self.cells.iter().flatten().flatten().map(|cell| cell.summary.count);
        (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
    }
}

impl Cell {
    /// `mean(deviation)` as the paper prints it; a single run has no deviation.
    #[must_use]
    pub fn text(&self) -> String {
        if self.summary.count > 1 { self.summary.to_string() } else { format!("{:.2}", self.summary.mean) }
    }
}

/// Where a method stands in the list of methods.
fn place(method: &str) -> usize {
    Choice::NAMES.iter().position(|name| *name == method).unwrap_or(usize::MAX)
}

/// Where a noise stands in the list of noises.
pub(super) fn noise_place(noise: &str) -> usize {
    let kind = noise.split(':').next().unwrap_or_default();
    Noise::KINDS.iter().position(|known| known.name == kind).unwrap_or(usize::MAX)
}
