//! The total variation regularizer of the paper: predictions are pushed apart.

use super::softmax::Softmax;
use super::{dot, sum, vectorized};
use crate::Matrix;
use crate::random::Stream;

/// R: the total variation (half the L1 distance) between the predictions for two examples, averaged over pairs.
#[derive(Debug, Default)]
pub struct TotalVariation {
    pairs: Vec<(u32, u32)>,
    /// For each example and class, how often it was above its partner less how often below: dR/dp but for a factor.
    signs: Matrix,
    differences: Vec<f64>,
}

impl TotalVariation {
    /// Draws `count` pairs of a batch, each member uniformly and with replacement.
    pub fn draw_pairs(&mut self, count: usize, batch: usize, stream: &mut Stream) {
        self.pairs.clear();
        self.pairs.extend((0..count).map(|_| (stream.below(batch) as u32, stream.below(batch) as u32)));
    }

    /// Takes these pairs.
    pub fn set_pairs(&mut self, pairs: impl IntoIterator<Item = (u32, u32)>) {
        self.pairs.clear();
        self.pairs.extend(pairs);
    }

    /// R over the pairs; adds the gradient of `weight * R` with respect to the logits.
    pub fn add(&mut self, weight: f64, clean: &Softmax, gradient: &mut Matrix) -> f64 {
        let clean = clean.probabilities();
        if self.pairs.is_empty() {
            return 0.0;
        }
        self.signs.reset(clean.rows(), clean.columns());
        let half_share = 0.5 / self.pairs.len() as f64;
        let total = compare(self, clean);
        through_softmax(clean, &self.signs, weight * half_share, gradient);
        half_share * total
    }
}

vectorized! {
    /// The sum of the L1 distances of the pairs; counts the signs on the way.
        fn compare(terms: &mut TotalVariation, clean: &Matrix) -> f64 {
        let TotalVariation { pairs, signs, differences } = terms;
        differences.clear();
        differences.resize(clean.columns(), 0.0);
        for &(a, b) in pairs.iter().filter(|(a, b)| a != b) {
            let (a, b) = (a as usize, b as usize);
            let (up, down) = signs.two_rows_mut(a, b);
            let predictions = clean.row(a).iter().zip(clean.row(b));
            for (((total, up), down), (a, b)) in differences.iter_mut().zip(up).zip(down).zip(predictions) {
                let difference = a - b;
                *total += difference.abs();
                let sign = sign(difference);
                *up += sign;
                *down -= sign;
            }
        }
        sum(differences)
    }

/// Adds `scale` times the slopes dL/dp, taken through the softmax: p (s - <p, s>) row by row.
fn through_softmax(clean: &Matrix, slopes: &Matrix, scale: f64, gradient: &mut Matrix) {
    let rows = gradient.iter_rows_mut().zip(clean.iter_rows()).zip(slopes.iter_rows());
    for ((gradient, p), slopes) in rows {
        let mean = dot(p, slopes);
        for ((out, p), slope) in gradient.iter_mut().zip(p).zip(slopes) {
            *out += scale * p * (slope - mean);
        }
    }
}
}

/// -1, 0 or 1: where two predictions agree, neither is pushed.
#[inline(always)]
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}
