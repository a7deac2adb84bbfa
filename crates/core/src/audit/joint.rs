//! The confident joint: how many examples of each label the model is sure are of each class.
//!
//! Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 2021.

use super::census::Rounded;
use super::{Block, Probability, Thresholds};
use crate::Matrix;
use crate::noise::Transition;

/// The second pass: how many examples of each given label (row) are confidently of each class (column).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    classes: usize,
    counts: Vec<u64>,
}

impl Joint {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * classes] }
    }

    /// Counts a block.
    pub fn count<P: Probability>(&mut self, block: &Block<'_, P>, thresholds: &Thresholds) {
        let thresholds = thresholds.rounded::<P>();
        block.rows().for_each(|(_, row, label)| self.count_one(row, label as usize, &thresholds));
    }

    /// Counts an example.
    #[inline]
    pub(super) fn count_one<P: Probability>(&mut self, row: &[P], label: usize, thresholds: &Rounded<P>) {
        let counts = &mut self.counts[label * self.classes..(label + 1) * self.classes];
        // Most examples: it is their label or nothing.
        if thresholds.decides(row[label]) {
            counts[label] += u64::from(thresholds.reaches(label, row[label]));
        } else if let Some(class) = thresholds.confident(row) {
            counts[class] += 1;
        }
    }

    /// Counts an example whose most probable class was looked for already.
    #[inline]
    pub(super) fn count_top<P: Probability>(
        &mut self,
        (top, most): (usize, P),
        (row, label): (&[P], usize),
        thresholds: &Rounded<P>,
    ) {
        if thresholds.reaches(top, most) {
            self.counts[label * self.classes + top] += 1;
        } else if !thresholds.decides(row[label]) {
            let class = thresholds.confident_otherwise(row);
            class.into_iter().for_each(|class| self.counts[label * self.classes + class] += 1);
        }
    }

    /// Counts so many examples whose label is confidently right.
    pub(super) fn count_right(&mut self, label: usize, count: u64) {
        self.counts[label * self.classes + label] += count;
    }

    /// Counts that were made elsewhere, row by row.
    ///
    /// # Panics
    /// If they do not fill a square.
    #[must_use]
    pub fn from_counts(classes: usize, counts: Vec<u64>) -> Self {
        assert_eq!(counts.len(), classes * classes, "a count for each label and class");
        Self { classes, counts }
    }

    /// Tells the row of each example that counts for another class than its label.
    pub fn each_confused<P: Probability>(
        block: &Block<'_, P>,
        thresholds: &Thresholds,
        mut tell: impl FnMut(usize, &[P], u32),
    ) {
        let thresholds = thresholds.rounded::<P>();
        for (at, row, label) in block.rows() {
            let decided = thresholds.decides(row[label as usize]);
            if !decided && thresholds.confident(row).is_some_and(|class| class != label as usize) {
                tell(at, row, label);
            }
        }
    }

    /// Takes over what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
    }

    /// The counts, a row for each given label.
    #[must_use]
    pub fn counts(&self) -> Vec<Vec<u64>> {
        self.counts.chunks(self.classes).map(<[u64]>::to_vec).collect()
    }

    /// The counts with each row brought to the number of examples that have its label. A label no example of which is
    /// confident is taken to be right: at least one is counted on the diagonal.
    #[must_use]
    pub fn calibrated(&self, given: &[u64]) -> Matrix {
        let mut joint = Matrix::zeros(self.classes, self.classes);
        for (label, counts) in self.counts.chunks(self.classes).enumerate() {
            let counted = |class: usize| counts[class].max(u64::from(class == label)) as f64;
            let sum: f64 = (0..self.classes).map(counted).sum();
            for class in 0..self.classes {
                joint[(label, class)] = counted(class) / sum * given[label] as f64;
            }
        }
        joint
    }

    /// The noise matrix, P(given label | true class) with a row for each true class, and its inverse,
    /// P(true class | given label) with a row for each given label.
    #[must_use]
    pub fn noise(&self, given: &[u64]) -> (Transition, Transition) {
        let joint = self.calibrated(given);
        (crate::estimate::frequencies(joint.transposed()), crate::estimate::frequencies(joint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calibrated_joint_has_the_counts_of_the_labels() {
        let joint = Joint { classes: 2, counts: vec![6, 2, 0, 0] }.calibrated(&[16, 5]);
        assert_eq!(joint.values(), [12.0, 4.0, 0.0, 5.0]);
        let (noise, inverse) = Joint { classes: 2, counts: vec![6, 2, 1, 3] }.noise(&[16, 4]);
        // The joint is [12, 4; 1, 3]: of the true class 1, 4 of 7 were given label 0.
        assert!((noise.row(1)[0] - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(inverse.row(0), [0.75, 0.25]);
    }
}
