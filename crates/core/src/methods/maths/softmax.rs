//! From logits to probabilities, and the losses that look at the probability of the label alone.

use super::{largest, sum, vectorized};
use crate::Matrix;
use crate::elementary::{exp, ln};
use crate::methods::Batch;

/// The classifier's probabilities p of a batch, and what is needed to take their logarithms without underflow.
#[derive(Debug, Default)]
pub struct Softmax {
    probabilities: Matrix,
    log_normalizers: Vec<f64>,
}

impl Softmax {
    /// Becomes the softmax of each row of the logits.
    pub fn of(&mut self, logits: &Matrix) {
        let Self { probabilities, log_normalizers } = self;
        probabilities.reshape(logits.rows(), logits.columns());
        log_normalizers.resize(logits.rows(), 0.0);
        softmax(logits, probabilities, log_normalizers);
    }

    /// The probabilities: a row for each example.
    #[must_use]
    pub fn probabilities(&self) -> &Matrix {
        &self.probabilities
    }

    /// The logarithm of the probability an example gives to a class, from its logits.
    #[inline]
    pub(super) fn log_probability(&self, batch: &Batch<'_>, example: usize, class: usize) -> f64 {
        batch.logits.row(example)[class] - self.log_normalizers[example]
    }
}

/// Numbers that are taken through the softmax at a time.
const BLOCK: usize = 1024;

vectorized! {
/// Some rows at a time: few enough to stay in the nearest cache, enough to fill the vectors of `exp`.
fn softmax(logits: &Matrix, probabilities: &mut Matrix, log_normalizers: &mut [f64]) {
    let rows = (BLOCK / logits.columns()).max(1);
    let inputs = logits.values().chunks(rows * logits.columns());
    let blocks = probabilities.values_mut().chunks_mut(rows * logits.columns());
    for ((inputs, block), log_normalizers) in inputs.zip(blocks).zip(log_normalizers.chunks_mut(rows)) {
        softmax_of_rows(inputs, block, log_normalizers);
    }
}
}

#[inline(always)]
fn softmax_of_rows(logits: &[f64], probabilities: &mut [f64], log_normalizers: &mut [f64]) {
    let columns = logits.len() / log_normalizers.len();
    let rows = probabilities.chunks_exact_mut(columns).zip(logits.chunks_exact(columns));
    for ((row, logits), log_normalizer) in rows.zip(log_normalizers.iter_mut()) {
        *log_normalizer = largest(logits);
        row.iter_mut().zip(logits).for_each(|(p, logit)| *p = logit - *log_normalizer);
    }
    probabilities.iter_mut().for_each(|p| *p = exp(*p));
    for (row, log_normalizer) in probabilities.chunks_exact_mut(columns).zip(log_normalizers) {
        let total = sum(row);
        let share = 1.0 / total;
        row.iter_mut().for_each(|p| *p *= share);
        *log_normalizer += ln(total);
    }
}

/// The mean of a loss that looks at the probability of the given label alone.
///
/// For such a loss the gradient with respect to the logits is `weight * (p - e_y)`; `of` gives the loss and this
/// weight from the logarithm of p\[y\].
pub fn label_loss(
    batch: &Batch<'_>,
    clean: &Softmax,
    gradient: &mut Matrix,
    of: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let scale = 1.0 / batch.labels.len() as f64;
    gradient.reshape(batch.logits.rows(), batch.logits.columns());
    let mut total = 0.0;
    for (example, &label) in batch.labels.iter().enumerate() {
        let label = label as usize;
        let (loss, weight) = of(clean.log_probability(batch, example, label));
        total += loss;
        let weight = weight * scale;
        let slopes = gradient.row_mut(example);
        slopes.iter_mut().zip(clean.probabilities.row(example)).for_each(|(slope, p)| *slope = weight * p);
        slopes[label] -= weight;
    }
    total * scale
}
