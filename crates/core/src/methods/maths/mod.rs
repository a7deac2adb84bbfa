//! The few formulas all methods are made of, each a pass over the batch.
//!
//! They run on the widest vectors the machine has, chosen when the program runs. No sum depends on that choice, so
//! neither does a single bit of the results.

mod channel;
mod softmax;
mod total_variation;

use crate::elementary::vectorized;

pub use channel::{Channel, counted, noisy_nll};
pub use softmax::{Softmax, label_loss};
pub use total_variation::TotalVariation;

/// The sum of products, always added in the same order: eight partial sums, whatever the width of a vector.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    folded(sums) + rest
}

/// The sum, in the order of [`dot`].
#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for lane in 0..8 {
            sums[lane] += chunk[lane];
        }
    }
    folded(sums) + rest
}

/// The largest value; what is not a number is passed over.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut best = [f64::NEG_INFINITY; 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder().iter().copied().fold(f64::NEG_INFINITY, larger);
    for chunk in chunks {
        for lane in 0..8 {
            best[lane] = larger(best[lane], chunk[lane]);
        }
    }
    best.into_iter().fold(rest, larger)
}

#[inline(always)]
fn folded(s: [f64; 8]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
