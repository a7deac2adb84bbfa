//! A Dirichlet distribution over each row of a transition matrix.

use super::Transition;
use crate::elementary::{exp, ln};
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
        let mut drawn = self.counts.clone();
        for (row, counts) in drawn.iter_rows_mut().zip(self.counts.iter_rows()) {
            draw_log_row(counts, row, stream);
            row.iter_mut().for_each(|entry| *entry = exp(*entry));
        }
        Transition::trusted(drawn)
    }

    /// The logarithms of one matrix from the distribution, written over `logs`; minus infinity where a count is zero.
    pub fn draw_logs(&self, logs: &mut Matrix, stream: &mut Stream) {
        logs.reshape(self.counts.rows(), self.counts.columns());
        for (row, counts) in logs.iter_rows_mut().zip(self.counts.iter_rows()) {
            draw_log_row(counts, row, stream);
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
        Ok((bound((1.0 - level) / 2.0), bound((1.0 + level) / 2.0)))
    }
}

/// The value below which a Beta(a, b) variable lies with probability `tail`; a zero parameter makes it certain.
fn beta_quantile(a: f64, b: f64, tail: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    Beta::new(a, b).map_or(1.0, |beta| beta.inverse_cdf(tail))
}

/// The logarithms of a draw from a Dirichlet distribution: gamma draws over their sum.
fn draw_log_row(counts: &[f64], logs: &mut [f64], stream: &mut Stream) {
    for (log, &count) in logs.iter_mut().zip(counts) {
        *log = if count > 0.0 { log_gamma_draw(count, stream) } else { f64::NEG_INFINITY };
    }
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest > f64::NEG_INFINITY {
        let log_sum = largest + ln(logs.iter().map(|log| exp(log - largest)).sum());
        logs.iter_mut().for_each(|log| *log -= log_sum);
    } else {
        // Counts so small that even logarithms overflow: the limit of the distribution is one certain label.
        let certain = stream.weighted(counts);
        logs.fill(f64::NEG_INFINITY);
        logs[certain] = 0.0;
    }
}

/// The logarithm of a draw from the gamma distribution with this shape.
///
/// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; a shape below one is drawn at one
/// more and brought back by U^(1/shape), which only logarithms survive.
fn log_gamma_draw(shape: f64, stream: &mut Stream) -> f64 {
    let (raised, correction) =
        if shape < 1.0 { (shape + 1.0, ln(stream.uniform()) / shape) } else { (shape, 0.0) };
    let d = raised - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let (v, log_v) = (root * root * root, 3.0 * ln(root));
        let u = stream.uniform();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || ln(u) < 0.5 * x * x + d * (1.0 - v + log_v) {
            return ln(d) + log_v + correction;
        }
    }
}
