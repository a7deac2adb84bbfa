//! The noise transition matrix.

use crate::decompose::singular_values;
use crate::{Error, Matrix};

/// How far a row may be from summing to 1 before it is taken for a mistake.
const TOLERANCE: f64 = 1e-6;

/// T: the probability that an example of one true class (row) is given one noisy label (column).
///
/// Checked once, when it is made: square, finite, not negative, every row summing to 1 within
/// 1e-6, and then renormalized to the last bit of f64.
///
/// ```
/// use cleanest_core::noise::Noise;
///
/// let pair = "pair:0.4".parse::<Noise>()?.transition(10, 0)?;
/// let clean = "clean".parse::<Noise>()?.transition(10, 0)?;
/// assert!((pair.average_tv(&clean)? - 0.4).abs() < 1e-15);
/// # Ok::<(), cleanest_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    matrix: Matrix,
    names: Option<Vec<String>>,
}

impl Transition {
    /// Checks a matrix and takes it as a transition matrix.
    pub fn new(mut matrix: Matrix) -> Result<Self, Error> {
        if matrix.rows() != matrix.columns() {
            return Err(Error::NotSquare(vec![matrix.rows(), matrix.columns()]));
        }
        if matrix.rows() < 2 {
            return Err(Error::TooFewClasses(matrix.rows()));
        }
        for (row, entries) in matrix.iter_rows_mut().enumerate() {
            let wrong = entries.iter().position(|entry| !entry.is_finite() || *entry < 0.0);
            if let Some(column) = wrong {
                return Err(Error::NotAProbability { row, column, value: entries[column] });
            }
            let sum: f64 = entries.iter().sum();
            if (sum - 1.0).abs() > TOLERANCE {
                return Err(Error::RowSum { row, sum });
            }
            normalize(entries);
        }
        Ok(Self { matrix, names: None })
    }

    /// A matrix known to be right but for the last bits of its row sums.
    pub(crate) fn trusted(mut matrix: Matrix) -> Self {
        matrix.iter_rows_mut().for_each(normalize);
        Self { matrix, names: None }
    }

    /// No noise: every label is right.
    #[must_use]
    pub fn identity(classes: usize) -> Self {
        Self { matrix: Matrix::identity(classes), names: None }
    }

    /// The same matrix, with names for its classes.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, Error> {
        if names.len() != self.classes() {
            return Err(Error::Classes {
                what: "the list of names",
                expected: self.classes(),
                found: names.len(),
            });
        }
        self.names = Some(names);
        Ok(self)
    }

    /// The number K of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.matrix.rows()
    }

    /// The names of the classes, where they are known.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The name of a class, or its number.
    #[must_use]
    pub fn name(&self, class: usize) -> String {
        self.names.as_ref().map_or_else(|| class.to_string(), |names| names[class].clone())
    }

    /// The entries.
    #[must_use]
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The labels that one true class is given: a distribution.
    #[must_use]
    pub fn row(&self, class: usize) -> &[f64] {
        self.matrix.row(class)
    }

    /// This noise, and then another one on top of it.
    pub fn then(&self, next: &Self) -> Result<Self, Error> {
        self.same_size(next)?;
        Ok(Self { names: self.names.clone(), ..Self::trusted(self.matrix.product(&next.matrix)) })
    }

    /// The paper's distance between two transition matrices: the total variation (half the L1 distance) between two
    /// rows, averaged over the rows.
    pub fn average_tv(&self, other: &Self) -> Result<f64, Error> {
        self.same_size(other)?;
        let differences = self.matrix.values().iter().zip(other.matrix.values()).map(|(a, b)| (a - b).abs());
        Ok(0.5 * differences.sum::<f64>() / self.classes() as f64)
    }

    /// The share of wrong labels if all true classes are equally frequent.
    #[must_use]
    pub fn noise_rate(&self) -> f64 {
        let classes = self.classes();
        1.0 - (0..classes).map(|class| self.matrix[(class, class)]).sum::<f64>() / classes as f64
    }

    /// The share of wrong labels if the true classes are as frequent as these weights.
    pub fn noise_rate_for(&self, weights: &[f64]) -> Result<f64, Error> {
        let classes = self.classes();
        if weights.len() != classes {
            return Err(Error::Classes { what: "the weights", expected: classes, found: weights.len() });
        }
        let right: f64 =
            weights.iter().enumerate().map(|(class, weight)| weight * self.matrix[(class, class)]).sum();
        Ok(1.0 - right / weights.iter().sum::<f64>())
    }

    /// Whether every class is given its own label more often than any other one: what the paper assumes, and calls
    /// diagonally dominant.
    #[must_use]
    pub fn is_diagonally_dominant(&self) -> bool {
        let most_often_itself = |class: usize| {
            let row = self.row(class);
            row.iter().enumerate().all(|(label, &share)| label == class || share < row[class])
        };
        (0..self.classes()).all(most_often_itself)
    }

    /// By how much the inverse of this matrix can blow up an error: the ratio of the largest singular value to the
    /// smallest, infinite if labels alone cannot tell two mixtures of classes apart.
    #[must_use]
    pub fn condition_number(&self) -> f64 {
        let values = singular_values(&self.matrix);
        let (largest, smallest) = (values[0], values[values.len() - 1]);
        if smallest <= largest * f64::EPSILON { f64::INFINITY } else { largest / smallest }
    }

    fn same_size(&self, other: &Self) -> Result<(), Error> {
        if self.classes() == other.classes() {
            return Ok(());
        }
        Err(Error::Classes { what: "the other matrix", expected: self.classes(), found: other.classes() })
    }
}

/// Makes a row sum to 1, as well as rounding allows.
fn normalize(row: &mut [f64]) {
    let sum: f64 = row.iter().sum();
    // What already sums to one as well as rounding allows stays as it is, so that a file reads back to the last bit.
    if (sum - 1.0).abs() <= row.len() as f64 * f64::EPSILON {
        return;
    }
    row.iter_mut().for_each(|entry| *entry /= sum);
    // What rounding left goes to the largest entry, where it matters least.
    let largest = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
    row[largest] += 1.0 - row.iter().sum::<f64>();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix(rows: &[&[f64]]) -> Matrix {
        Matrix::from_vec(rows[0].len(), rows.concat())
    }

    fn said(rows: &[&[f64]]) -> String {
        Transition::new(matrix(rows)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_row_stochastic_is_refused_with_its_place() {
        assert_eq!(
            said(&[&[1.0, 0.0]]),
            "a transition matrix has as many rows as columns, this one has shape [1, 2]"
        );
        assert_eq!(said(&[&[1.0]]), "there must be at least two classes: 1");
        assert_eq!(
            said(&[&[1.0, 0.0], &[f64::NAN, 1.0]]),
            "entry (1, 0) (from 0) of the transition matrix is not a probability: NaN"
        );
        assert_eq!(
            said(&[&[1.5, -0.5], &[0.0, 1.0]]),
            "entry (0, 1) (from 0) of the transition matrix is not a probability: -0.5"
        );
        assert_eq!(
            said(&[&[1.0, 0.0], &[0.5, 0.4]]),
            "row 1 (from 0) of the transition matrix must sum to 1: 0.9"
        );
    }

    #[test]
    fn a_label_given_more_often_than_the_own_one_breaks_dominance() {
        let dominant =
            Transition::new(matrix(&[&[0.5, 0.3, 0.2], &[0.3, 0.4, 0.3], &[0.0, 0.0, 1.0]])).unwrap();
        let tied = Transition::new(matrix(&[&[0.5, 0.5], &[0.0, 1.0]])).unwrap();
        assert!(dominant.is_diagonally_dominant() && !tied.is_diagonally_dominant());
    }

    #[test]
    fn the_condition_number_is_that_of_the_two_norm() {
        let symmetric = Transition::new(matrix(&[&[0.7, 0.3], &[0.3, 0.7]])).unwrap();
        assert!((symmetric.condition_number() - 2.5).abs() < 1e-12, "eigenvalues 1 and 0.4");
        let useless = Transition::new(matrix(&[&[0.5, 0.5], &[0.5, 0.5]])).unwrap();
        assert_eq!(useless.condition_number().to_bits(), f64::INFINITY.to_bits());
    }

    #[test]
    fn the_noise_rate_follows_the_frequencies_of_the_classes() {
        let one_sided = Transition::new(matrix(&[&[1.0, 0.0], &[0.4, 0.6]])).unwrap();
        assert!((one_sided.noise_rate() - 0.2).abs() < 1e-15);
        assert!((one_sided.noise_rate_for(&[3.0, 1.0]).unwrap() - 0.1).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn rows_sum_to_one_as_well_as_rounding_allows(
            values in prop::collection::vec(1e-9..1.0_f64, 100),
            off in -9e-7..9e-7_f64,
        ) {
            let mut matrix = Matrix::from_vec(10, values);
            for row in matrix.iter_rows_mut() {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|entry| *entry *= (1.0 + off) / sum);
            }
            let transition = Transition::new(matrix).unwrap();
            for row in transition.matrix().iter_rows() {
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() <= 10.0 * f64::EPSILON);
            }
        }

        #[test]
        fn average_tv_is_a_distance_of_at_most_one(
            a in prop::collection::vec(0.01..1.0_f64, 16),
            b in prop::collection::vec(0.01..1.0_f64, 16),
        ) {
            let make = |values: Vec<f64>| {
                let mut matrix = Matrix::from_vec(4, values);
                matrix.iter_rows_mut().for_each(normalize);
                Transition::new(matrix).unwrap()
            };
            let (a, b, clean) = (make(a), make(b), Transition::identity(4));
            let tv = |a: &Transition, b: &Transition| a.average_tv(b).unwrap();
            prop_assert!(tv(&a, &a) == 0.0 && (tv(&a, &b) - tv(&b, &a)).abs() < 1e-15);
            prop_assert!(tv(&a, &b) <= tv(&a, &clean) + tv(&clean, &b) + 1e-15 && tv(&a, &b) <= 1.0);
            prop_assert!((tv(&a, &clean) - a.noise_rate()).abs() < 1e-14);
            prop_assert!(tv(&a.then(&clean).unwrap(), &a) < 1e-15);
        }
    }
}
