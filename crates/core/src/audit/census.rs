//! The first pass: how many examples have each label, and how sure the model is of them.

use super::block::{MOST, check};
use super::{Block, Probability};
use crate::{Error, Matrix};

/// Sums of probabilities are kept in whole units of 2^-51, which add up exactly: the result does not depend on the order.
/// They are the last digits of a float between 2 and 4.
const UNITS: u64 = 1 << 51;
const DIGITS: u64 = (1 << 52) - 1;
/// Examples whose units add up to less than 2^64.
const RUN: usize = 1 << 12;

/// What is known of the classes after one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Census {
    given: Vec<u64>,
    confidence: Vec<u128>,
    soft: Matrix,
}

/// What the probability of a class must reach for an example to count for it: the mean over the examples that have its
/// label. A class without examples has none, and nothing counts for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds(Vec<f64>);

impl Census {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self { given: vec![0; classes], confidence: vec![0; classes], soft: Matrix::zeros(classes, classes) }
    }

    /// Counts a block, without the soft counts that only [`Census::soft`] needs.
    pub fn count<P: Probability>(&mut self, block: &Block<'_, P>) {
        let unchecked: Result<(), Error> = self.count_each(block, |_| Ok(()));
        debug_assert!(unchecked.is_ok());
    }

    /// The same for a block that nobody has looked at yet: the first row that is no distribution is named.
    pub fn count_checked<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Error> {
        let classes = block.classes();
        self.count_each(block, |example| check(example, classes))
    }

    #[inline]
    fn count_each<P: Probability>(
        &mut self,
        block: &Block<'_, P>,
        check: impl Fn((usize, &[P], u32)) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut sums = vec![(0_u64, 0_u64); self.given.len()];
        let mut rows = block.rows();
        loop {
            let mut seen = 0;
            for (at, row, label) in rows.by_ref().take(RUN) {
                check((at, row, label))?;
                let sums = &mut sums[label as usize];
                sums.0 += 1;
                sums.1 += (2.0 + row[label as usize].wide()).to_bits() & DIGITS;
                seen += 1;
            }
            let all = self.given.iter_mut().zip(&mut self.confidence).zip(&mut sums);
            for ((given, confidence), sums) in all {
                let (count, units) = std::mem::take(sums);
                *given += count;
                *confidence += u128::from(units);
            }
            if seen < RUN {
                return Ok(());
            }
        }
    }

    /// Counts each example for every class by its probability.
    pub fn count_softly<P: Probability>(&mut self, block: &Block<'_, P>) {
        for (_, row, label) in block.rows() {
            let sums = self.soft.row_mut(label as usize);
            sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p.wide());
        }
    }

    /// Takes over what another census has counted.
    pub fn merge(&mut self, other: &Self) {
        self.given.iter_mut().zip(&other.given).for_each(|(a, b)| *a += b);
        self.confidence.iter_mut().zip(&other.confidence).for_each(|(a, b)| *a += b);
        self.soft.values_mut().iter_mut().zip(other.soft.values()).for_each(|(a, b)| *a += b);
    }

    /// What was counted of each label, without the soft counts: how many examples have it, and the sum of its
    /// probabilities over them in whole units, to be taken back by [`Census::from_counts`].
    #[must_use]
    pub fn counts(&self) -> (&[u64], &[u128]) {
        (&self.given, &self.confidence)
    }

    /// A census that was counted elsewhere.
    ///
    /// # Panics
    /// If there is not a sum for each label.
    #[must_use]
    pub fn from_counts(given: Vec<u64>, confidence: Vec<u128>) -> Self {
        assert_eq!(given.len(), confidence.len(), "a sum for each label");
        let classes = given.len();
        Self { given, confidence, soft: Matrix::zeros(classes, classes) }
    }

    /// How many examples have each label.
    #[must_use]
    pub fn given(&self) -> &[u64] {
        &self.given
    }

    /// The sums of the probabilities of each class (row) over the examples of each label (column).
    #[must_use]
    pub fn soft(&self) -> Matrix {
        self.soft.transposed()
    }

    /// The thresholds of confident learning.
    #[must_use]
    pub fn thresholds(&self) -> Thresholds {
        // Rounded down by more than a unit, so that where all are equally sure all count.
        let mean = |(&sum, &count): (&u128, &u64)| match count {
            0 => f64::INFINITY,
            count => (sum / u128::from(count)).saturating_sub(1) as f64 / UNITS as f64,
        };
        Thresholds(self.confidence.iter().zip(&self.given).map(mean).collect())
    }
}

impl Thresholds {
    /// The threshold of each class that has examples.
    #[must_use]
    pub fn values(&self) -> Vec<Option<f64>> {
        self.0.iter().map(|&threshold| Some(threshold).filter(|found| found.is_finite())).collect()
    }

    /// The thresholds as the probabilities of a block are compared with them.
    pub(super) fn rounded<P: Probability>(&self) -> Rounded<P> {
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        Rounded { each: self.0.iter().map(|&threshold| P::at_least(threshold)).collect(), left: MOST - least }
    }
}

/// Thresholds of one kind of number.
pub(super) struct Rounded<P> {
    each: Vec<P>,
    /// An example that is surer of its label than this leaves too little for any other class to reach its threshold.
    left: f64,
}

impl<P: Probability> Rounded<P> {
    /// Whether an example that is so sure of its label leaves too little for any other class to count.
    #[inline]
    pub(super) fn decides(&self, own: P) -> bool {
        own.wide() > self.left
    }

    /// An example that is surer of its label than this counts for its label or for nothing.
    pub(super) fn left(&self) -> f64 {
        self.left
    }

    /// The threshold of a class.
    pub(super) fn of(&self, class: usize) -> P {
        self.each[class]
    }

    /// Whether a probability reaches the threshold of a class.
    #[inline]
    pub(super) fn reaches(&self, class: usize, p: P) -> bool {
        p >= self.each[class]
    }

    /// The most probable class among those that reach their threshold.
    #[inline]
    pub(super) fn confident(&self, row: &[P]) -> Option<usize> {
        // Mostly it is the most probable of all, which is found without branches: it cannot be foretold.
        let (mut top, mut most) = (0, P::BELOW);
        for (class, &p) in row.iter().enumerate() {
            let ahead = p > most;
            top = if ahead { class } else { top };
            most = if ahead { p } else { most };
        }
        if self.reaches(top, most) { Some(top) } else { self.confident_otherwise(row) }
    }

    #[cold]
    pub(super) fn confident_otherwise(&self, row: &[P]) -> Option<usize> {
        let reached = row.iter().enumerate().filter(|(class, p)| self.reaches(*class, **p));
        let further =
            |best: (usize, P), next: (usize, &P)| if *next.1 > best.1 { (next.0, *next.1) } else { best };
        let best = reached.fold((usize::MAX, P::BELOW), further);
        (best.0 < usize::MAX).then_some(best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(probabilities: &[f32], labels: &[u32], classes: usize) -> Census {
        let mut census = Census::new(classes);
        let block = Block::checked((probabilities, labels), classes, 0).unwrap();
        census.count(&block);
        census.count_softly(&block);
        census
    }

    #[test]
    fn a_threshold_is_the_mean_over_the_examples_of_the_label() {
        let census = counted(&[0.75, 0.25, 0.25, 0.75, 0.5, 0.5], &[0, 0, 1], 2);
        let thresholds = census.thresholds().values();
        assert!(thresholds.iter().all(|found| (found.unwrap() - 0.5).abs() < 1e-12), "{thresholds:?}");
        assert_eq!(census.given(), [2, 1]);
    }

    #[test]
    fn the_confident_class_is_the_most_probable_above_its_threshold_not_of_all() {
        // Class 0 is nearly always said with 0.95; 0.5 for it is the most probable but not confident.
        let thresholds = Thresholds(vec![0.9, 0.2, 0.3, f64::INFINITY]).rounded::<f32>();
        let of = |row: [f32; 4]| thresholds.confident(&row);
        assert_eq!(of([0.5, 0.25, 0.25, 0.0]), Some(1));
        assert_eq!(of([0.3, 0.3, 0.4, 0.0]), Some(2));
        assert_eq!(of([0.8, 0.1, 0.1, 0.0]), None);
        assert_eq!(of([0.95, 0.03, 0.02, 0.0]), Some(0));
        assert_eq!(of([0.0, 0.0, 0.0, 1.0]), None, "a class nobody was given");
    }

    #[test]
    fn equally_sure_examples_all_count() {
        let probabilities = [0.1_f32, 0.9].repeat(7);
        let thresholds = counted(&probabilities, &[1; 7], 2).thresholds().rounded::<f32>();
        assert_eq!(thresholds.confident(&probabilities[..2]), Some(1));
    }

    #[test]
    fn parts_in_any_order_make_the_same_whole() {
        let rows: Vec<f32> = (1..=99).flat_map(|i| [i as f32 / 100.0, 1.0 - i as f32 / 100.0]).collect();
        let labels: Vec<u32> = (0..99).map(|i| i % 2).collect();
        let whole = counted(&rows, &labels, 2);
        let mut parts: Vec<Census> = (0..9)
            .map(|at| counted(&rows[22 * at..22 * at + 22], &labels[11 * at..11 * at + 11], 2))
            .collect();
        parts.reverse();
        let mut merged = Census::new(2);
        parts.iter().for_each(|part| merged.merge(part));
        assert_eq!(merged.thresholds(), whole.thresholds());
        assert_eq!(merged.given(), whole.given());
    }
}
