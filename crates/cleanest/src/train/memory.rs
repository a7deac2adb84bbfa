//! What each example was said to be while it was trained on.
//!
//! The logits pass by anyway, so this is free; and a mean over half a run ranks wrong labels at least as well as the last
//! network does on images, since a network memorizes its last labels best.

use cleanest_core::Matrix;
use cleanest_core::methods::maths::Softmax;
use cleanest_engine::{Parameters, Tensor};

const SUMS: &str = "probabilities";
const COUNTS: &str = "counts";

/// Sums of the probabilities each training example was given.
#[derive(Debug)]
pub(super) struct Memory {
    classes: usize,
    sums: Vec<f32>,
    counts: Vec<f32>,
    softmax: Softmax,
}

impl Memory {
    /// Nothing remembered of so many examples yet.
    pub(super) fn new(examples: usize, classes: usize) -> Self {
        let (sums, counts) = (vec![0.0; examples * classes], vec![0.0; examples]);
        Self { classes, sums, counts, softmax: Softmax::default() }
    }

    /// Remembers what was just said of some rows.
    pub(super) fn add(&mut self, rows: &[u32], logits: &Matrix) {
        self.softmax.of(logits);
        for (&row, said) in rows.iter().zip(self.softmax.probabilities().iter_rows()) {
            let row = row as usize;
            let sums = &mut self.sums[row * self.classes..(row + 1) * self.classes];
            sums.iter_mut().zip(said).for_each(|(sum, &p)| *sum += p as f32);
            self.counts[row] += 1.0;
        }
    }

    /// The mean for each example; one that never came by takes what the last network says.
    pub(super) fn mean(&self, last: &Matrix) -> Matrix {
        let mut mean = last.clone();
        for (row, (sums, &count)) in self.sums.chunks_exact(self.classes).zip(&self.counts).enumerate() {
            if count > 0.0 {
                let total: f64 = sums.iter().map(|&sum| f64::from(sum)).sum();
                mean.row_mut(row)
                    .iter_mut()
                    .zip(sums)
                    .for_each(|(mean, &sum)| *mean = f64::from(sum) / total);
            }
        }
        mean
    }

    /// For a checkpoint.
    pub(super) fn state(&self) -> Parameters {
        let mut state = Parameters::new();
        state
            .insert(SUMS, Tensor { shape: vec![self.counts.len(), self.classes], values: self.sums.clone() });
        state.insert(COUNTS, Tensor { shape: vec![self.counts.len()], values: self.counts.clone() });
        state
    }

    /// Takes over what a checkpoint holds, if it is of this size.
    pub(super) fn restore(&mut self, mut state: Parameters) {
        if let (Some(sums), Some(counts)) = (state.remove(SUMS), state.remove(COUNTS))
            && (sums.values.len(), counts.values.len()) == (self.sums.len(), self.counts.len())
        {
            (self.sums, self.counts) = (sums.values, counts.values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_the_times_an_example_came_by() {
        let mut memory = Memory::new(3, 2);
        let logits = |p: f64| Matrix::from_vec(2, vec![p.ln(), (1.0 - p).ln()]);
        memory.add(&[2], &logits(0.5));
        memory.add(&[2], &logits(0.75));
        memory.add(&[0], &logits(0.25));
        let mut resumed = Memory::new(3, 2);
        resumed.restore(memory.state());
        let mean = resumed.mean(&Matrix::from_vec(2, vec![0.5, 0.5, 0.125, 0.875, 0.5, 0.5]));
        for (row, expected) in [(0, 0.25), (1, 0.125), (2, 0.625)] {
            assert!((mean.row(row)[0] - expected).abs() < 1e-6, "row {row}");
        }
    }
}
