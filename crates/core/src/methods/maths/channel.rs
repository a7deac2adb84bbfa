//! The likelihood of a noisy label: the classifier's probabilities p sent through a transition matrix T.

use super::softmax::Softmax;
use super::{dot, vectorized};
use crate::Matrix;
use crate::elementary::{exp, ln};
use crate::methods::Batch;
use crate::noise::Dirichlet;
use crate::random::Stream;

/// A transition matrix as a loss needs it: by noisy label.
#[derive(Debug, Default)]
pub struct Channel {
    /// Row y is column y of T.
    by_label: Matrix,
    /// The same in logarithms, where they are known better than their exponentials: a matrix drawn from faint counts
    /// has entries too small to be numbers.
    logs: Option<Matrix>,
    /// A drawn matrix before it is turned over.
    drawn: Matrix,
}

/// Above this, the likelihood of a label is exact as a plain sum: what underflows in it is 100 digits away.
const SAFE: f64 = 1e-200;
/// The logarithm given to the likelihood of a label that no class can have.
const IMPOSSIBLE: f64 = -708.0;

impl Channel {
    /// Becomes this transition matrix.
    pub fn set(&mut self, transition: &Matrix) {
        self.logs = None;
        transpose(transition, &mut self.by_label);
    }

    /// Becomes a matrix drawn from a distribution over matrices.
    pub fn draw(&mut self, counts: &Dirichlet, stream: &mut Stream) {
        counts.draw_logs(&mut self.drawn, stream);
        let logs = self.logs.get_or_insert_default();
        transpose(&self.drawn, logs);
        self.by_label.reshape(logs.rows(), logs.columns());
        exponentials(logs.values(), self.by_label.values_mut());
    }

    /// c: the probability of a label, from those of the classes.
    #[inline]
    pub(crate) fn likelihood(&self, p: &[f64], label: usize) -> f64 {
        dot(p, self.by_label.row(label))
    }

    /// The logarithm of the probability that a class is given a label.
    fn log(&self, class: usize, label: usize) -> f64 {
        match &self.logs {
            Some(logs) => logs[(label, class)],
            None if self.by_label[(label, class)] < f64::MIN_POSITIVE => f64::NEG_INFINITY,
            None => ln(self.by_label[(label, class)]),
        }
    }
}

/// Writes rows as columns.
fn transpose(matrix: &Matrix, turned: &mut Matrix) {
    turned.reshape(matrix.columns(), matrix.rows());
    for (row, entries) in matrix.iter_rows().enumerate() {
        for (column, &entry) in entries.iter().enumerate() {
            turned[(column, row)] = entry;
        }
    }
}

/// The mean negative log-likelihood of the noisy labels, -ln c with c = <p, T\[:, y\]>.
///
/// Its gradient with respect to the logits is p - r, where r = p T\[:, y\] / c is the probability of each true class
/// given the label: bounded, whatever the logits. `each` sees (label, r) of every example, for those who count.
pub fn noisy_nll(
    batch: &Batch<'_>,
    clean: &Softmax,
    noise: &Channel,
    gradient: &mut Matrix,
    each: impl FnMut(usize, &[f64]),
) -> f64 {
    gradient.reshape(batch.logits.rows(), batch.logits.columns());
    likelihoods(batch, clean, noise, gradient, each)
}

vectorized! {
fn likelihoods<E: FnMut(usize, &[f64])>(
    batch: &Batch<'_>,
    clean: &Softmax,
    noise: &Channel,
    gradient: &mut Matrix,
    mut each: E,
) -> f64 {
    let scale = 1.0 / batch.labels.len() as f64;
    let mut total = 0.0;
    for (example, &label) in batch.labels.iter().enumerate() {
        let (label, row) = (label as usize, gradient.row_mut(example));
        let (p, shares) = (clean.probabilities().row(example), noise.by_label.row(label));
        let likelihood = dot(p, shares);
        total -= if likelihood > SAFE {
            let inverse = 1.0 / likelihood;
            row.iter_mut().zip(p).zip(shares).for_each(|((r, p), share)| *r = p * share * inverse);
            ln(likelihood)
        } else {
            log_responsibilities(batch, clean, noise, (example, label), row)
        };
        each(label, row);
        row.iter_mut().zip(p).for_each(|(slope, p)| *slope = (p - *slope) * scale);
    }
    total * scale
}

fn exponentials(logs: &[f64], entries: &mut [f64]) {
    entries.iter_mut().zip(logs).for_each(|(entry, log)| *entry = exp(*log));
}
}

/// Sums the responsibilities of a batch by label: row j of `expected` says how many labels j each class is held to
/// account for. Its entries sum to the number of examples.
pub fn counted(expected: &mut Matrix) -> impl FnMut(usize, &[f64]) {
    expected.values_mut().fill(0.0);
    |label, responsibilities| {
        expected.row_mut(label).iter_mut().zip(responsibilities).for_each(|(sum, r)| *sum += r);
    }
}

/// The same in logarithms, for a likelihood too small to be a number; gives back ln c.
#[cold]
fn log_responsibilities(
    batch: &Batch<'_>,
    clean: &Softmax,
    noise: &Channel,
    (example, label): (usize, usize),
    row: &mut [f64],
) -> f64 {
    for (class, r) in row.iter_mut().enumerate() {
        *r = clean.log_probability(batch, example, class) + noise.log(class, label);
    }
    if row.iter().all(|&r| r == f64::NEG_INFINITY) {
        // No class is ever given this label: it says nothing about the class, so r is p and the gradient zero.
        row.copy_from_slice(clean.probabilities().row(example));
        return IMPOSSIBLE;
    }
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    row.iter_mut().for_each(|r| *r = exp(*r - largest));
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|r| *r /= sum);
    largest + ln(sum)
}
