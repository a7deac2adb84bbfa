//! A Dirichlet distribution over each row of a transition matrix.

use super::Transition;
use super::gamma::log_gamma_draws;
use crate::elementary::{exp, ln, vectorized};
use crate::random::Stream;
use crate::{Error, Matrix};
use statrs::distribution::{Beta, ContinuousCDF as _};

/// Counts of (true class, noisy label), and with them a distribution over transition matrices.
///
/// A zero is exact: the matrix has no probability there until it is counted once. Counts may be as small as they
/// like: draws are made in logarithms, where nothing underflows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dirichlet {
    counts: Matrix,
}

/// A row is not allowed to fade below this, so that its proportions are never lost.
const FAINTEST: f64 = 1e-200;

impl Dirichlet {
    /// Counts to start from: square, finite, not negative, something in every row.
    pub fn new(counts: Matrix) -> Result<Self, Error> {
        if counts.rows() != counts.columns() {
            return Err(Error::NotSquare(vec![counts.rows(), counts.columns()]));
        }
        for (row, entries) in counts.iter_rows().enumerate() {
            if let Some(column) = entries.iter().position(|count| !count.is_finite() || *count < 0.0) {
                return Err(Error::NotAProbability { row, column, value: entries[column] });
            }
            let sum: f64 = entries.iter().sum();
            if sum < f64::MIN_POSITIVE {
                return Err(Error::RowSum { row, sum });
            }
        }
        Ok(Self { counts })
    }

    /// Counts on the diagonal alone: no noise has been seen yet.
    pub fn diagonal(classes: usize, prior: f64) -> Result<Self, Error> {
        let mut counts = Matrix::identity(classes);
        counts.values_mut().iter_mut().for_each(|count| *count *= prior);
        Self::new(counts)
    }

    /// The counts.
    #[must_use]
    pub fn counts(&self) -> &Matrix {
        &self.counts
    }

    /// Lets the old counts fade by β₁ (`keep`), then adds β₂ (`weight`) times what was just seen.
    pub fn observe(&mut self, seen: &Matrix, keep: f64, weight: f64) {
        for (row, seen) in self.counts.iter_rows_mut().zip(seen.iter_rows()) {
            let mass: f64 = row.iter().sum();
            let keep = if mass * keep < FAINTEST { 1.0 } else { keep };
            row.iter_mut().zip(seen).for_each(|(count, seen)| *count = keep * *count + weight * seen);
        }
    }

    /// The mean of the distribution: each row over its sum.
    #[must_use]
    pub fn mean(&self) -> Transition {
        let mut mean = self.counts.clone();
        for row in mean.iter_rows_mut() {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|count| *count /= sum);
        }
        Transition::trusted(mean)
    }

    /// One matrix from the distribution.
    pub fn draw(&self, stream: &mut Stream) -> Transition {
        let mut drawn = Matrix::default();
        self.draw_logs(&mut drawn, stream);
        drawn.values_mut().iter_mut().for_each(|entry| *entry = exp(*entry));
        Transition::trusted(drawn)
    }

    /// The logarithms of one matrix from the distribution, written over `logs`; minus infinity where a count is zero.
    pub fn draw_logs(&self, logs: &mut Matrix, stream: &mut Stream) {
        logs.reshape(self.counts.rows(), self.counts.columns());
        log_gamma_draws(self.counts.values(), logs.values_mut(), stream);
        for (row, counts) in logs.iter_rows_mut().zip(self.counts.iter_rows()) {
            normalize_logs(row, counts, stream);
        }
    }

    /// Between which bounds each entry lies with probability `level`, half of the rest on each side.
    ///
    /// An entry of a Dirichlet row has a beta distribution. The interval is as good as the counts are independent
    /// observations, which faded counts of a training run are not.
    pub fn interval(&self, level: f64) -> Result<(Matrix, Matrix), Error> {
        if !(level > 0.0 && level < 1.0) {
            let (key, expected) = ("level".into(), "in (0, 1)");
            return Err(Error::Setting { key, expected, found: level.to_string() });
        }
        let bound = |tail: f64| {
            let mut bounds = self.counts.clone();
            for row in bounds.iter_rows_mut() {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|count| *count = beta_quantile(*count, sum - *count, tail));
            }
            bounds
        };
        let tail = (1.0 - level) / 2.0;
        Ok((bound(tail), bound(1.0 - tail)))
    }
}

/// The value below which a Beta(a, b) variable lies with probability `tail`; a zero parameter makes it certain.
fn beta_quantile(a: f64, b: f64, tail: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    Beta::new(a, b).map_or(1.0, |beta| beta.inverse_cdf(tail))
}

/// Takes the logarithms of gamma draws to those of a distribution: each less the logarithm of their sum.
fn normalize_logs(logs: &mut [f64], counts: &[f64], stream: &mut Stream) {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest > f64::NEG_INFINITY {
        divide_by_their_sum(logs, largest);
    } else {
        // Counts so small that even logarithms overflow: the limit of the distribution is one certain label.
        let certain = stream.weighted(counts);
        logs.fill(f64::NEG_INFINITY);
        logs[certain] = 0.0;
    }
}

vectorized! {
/// Subtracts the logarithm of the sum of their exponentials from all of them.
fn divide_by_their_sum(logs: &mut [f64], largest: f64) {
    let mut sums = [0.0; 8];
    for chunk in logs.chunks(8) {
        sums.iter_mut().zip(chunk).for_each(|(sum, log)| *sum += exp(log - largest));
    }
    let log_sum = largest + ln(sums.iter().sum());
    logs.iter_mut().for_each(|log| *log -= log_sum);
}
}
