//! A stretch of examples: a row of probabilities and a label for each.

use crate::Error;

/// How far the probabilities of an example may be from summing to 1.
pub const TOLERANCE: f64 = 0.01;

/// What the probabilities of an example sum to at most, with room for the rounding of the sum.
pub(super) const MOST: f64 = 1.0 + TOLERANCE + 1e-3;

/// A number of a table of probabilities.
pub trait Probability: Copy + Send + Sync + PartialOrd + std::ops::Add<Output = Self> + 'static {
    /// Nothing.
    const ZERO: Self;
    /// Less than any probability.
    const BELOW: Self;

    /// The number in full precision.
    fn wide(self) -> f64;

    /// The smallest number of this kind that is not below `bound`: comparing with either is the same.
    fn at_least(bound: f64) -> Self;
}

impl Probability for f32 {
    const ZERO: Self = 0.0;
    const BELOW: Self = -1.0;

    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn at_least(bound: f64) -> Self {
        let near = bound as Self;
        if f64::from(near) < bound { near.next_up() } else { near }
    }
}

impl Probability for f64 {
    const ZERO: Self = 0.0;
    const BELOW: Self = -1.0;

    #[inline]
    fn wide(self) -> f64 {
        self
    }

    fn at_least(bound: f64) -> Self {
        bound
    }
}

/// Examples that follow one another. Its rows are distributions and its labels classes: checked once, at the door.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, P> {
    probabilities: &'a [P],
    labels: &'a [u32],
    classes: usize,
    first: usize,
}

impl<'a, P: Probability> Block<'a, P> {
    /// Examples from row `first` on, whose rows sum to 1 within [`TOLERANCE`]; the first that is not right is named.
    pub fn checked(
        (probabilities, labels): (&'a [P], &'a [u32]),
        classes: usize,
        first: usize,
    ) -> Result<Self, Error> {
        let block = Self::trusted((probabilities, labels), classes, first);
        block.rows().try_for_each(|example| check(example, classes))?;
        Ok(block)
    }

    /// Those of some rows, in order, that are in this block.
    pub fn among<'r>(
        &self,
        rows: &'r [usize],
    ) -> impl Iterator<Item = (usize, &'a [P], u32)> + use<'a, 'r, P> {
        let (first, end, classes) = (self.first, self.first + self.labels.len(), self.classes);
        let (probabilities, labels) = (self.probabilities, self.labels);
        let inside = &rows[rows.partition_point(|&row| row < first)..rows.partition_point(|&row| row < end)];
        inside.iter().map(move |&row| {
            let at = row - first;
            (row, &probabilities[at * classes..(at + 1) * classes], labels[at])
        })
    }

    /// Examples that were checked before.
    ///
    /// # Panics
    /// If there is not a row of `classes` probabilities for each label.
    #[must_use]
    pub fn trusted((probabilities, labels): (&'a [P], &'a [u32]), classes: usize, first: usize) -> Self {
        assert_eq!(probabilities.len(), labels.len() * classes, "a row of probabilities for each label");
        Self { probabilities, labels, classes, first }
    }

    /// The number K of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Row number, probabilities and label of each example.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &'a [P], u32)> + use<'a, P> {
        let rows = self.probabilities.chunks_exact(self.classes).zip(self.labels);
        let first = self.first;
        rows.enumerate().map(move |(at, (row, &label))| (first + at, row, label))
    }
}

/// Whether an example has a distribution and one of the classes.
#[inline]
pub(super) fn check<P: Probability>(
    (row, probabilities, label): (usize, &[P], u32),
    classes: usize,
) -> Result<(), Error> {
    let (mut sum, mut least) = (P::ZERO, P::ZERO);
    for &probability in probabilities {
        sum = sum + probability;
        least = if probability < least { probability } else { least };
    }
    // A sum that is not a number fails the comparison too.
    let is_distribution = (sum.wide() - 1.0).abs() <= TOLERANCE && least >= P::ZERO;
    if !is_distribution {
        return Err(wrong_row(row, probabilities, sum.wide()));
    }
    if label as usize >= classes {
        return Err(Error::Label { row, label, classes });
    }
    Ok(())
}

/// What is wrong with a row that is not a distribution.
fn wrong_row<P: Probability>(row: usize, probabilities: &[P], sum: f64) -> Error {
    let odd = |p: &P| !(p.wide() >= 0.0 && p.wide().is_finite());
    match probabilities.iter().position(odd) {
        Some(column) => Error::Probability { row, column, value: probabilities[column].wide() },
        None => Error::ProbabilitySum { row, sum },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(values: &[f32], labels: &[u32]) -> String {
        Block::checked((values, labels), 2, 10).unwrap_err().to_string()
    }

    #[test]
    fn each_way_a_row_can_be_wrong_has_its_own_sentence() {
        assert_eq!(
            problem(&[0.5, 0.5, 0.5, f32::NAN], &[0, 1]),
            "row 12, class 1 (from 0): not a probability: NaN"
        );
        assert_eq!(problem(&[-0.25, 1.25], &[0]), "row 11, class 0 (from 0): not a probability: -0.25");
        assert_eq!(problem(&[0.5, 0.25], &[0]), "row 11: the probabilities sum to 0.75, not to 1");
        assert!(problem(&[0.5, 0.5], &[2]).contains("is not a class"));
    }

    #[test]
    fn a_sum_within_the_tolerance_passes() {
        assert!(Block::checked((&[0.5_f32, 0.4951][..], &[0][..]), 2, 0).is_ok());
    }
}
