//! Determinant, inverse and singular values of a K x K matrix.
//!
//! K is the number of classes: small enough for the plain algorithms, which is why no linear algebra library is
//! asked for these three (`docs/decisions/0003-small-linear-algebra.md`).

use crate::Matrix;
use crate::elementary::{ln, vectorized};

/// The inverse of a matrix, and room to find it in.
#[derive(Clone, Debug, Default)]
pub struct Inverse {
    matrix: Matrix,
    work: Matrix,
}

impl Inverse {
    /// Becomes the inverse of this matrix and gives back the logarithm of |det M|, or nothing if M is singular.
    ///
    /// Gauss-Jordan elimination with partial pivoting.
    pub fn of(&mut self, matrix: &Matrix) -> Option<f64> {
        let size = matrix.rows();
        let Self { matrix: right, work: left } = self;
        left.copy_from(matrix);
        right.reset(size, size);
        (0..size).for_each(|row| right[(row, row)] = 1.0);
        let mut log_determinant = 0.0;
        for column in 0..size {
            let by_size =
                |&a: &usize, &b: &usize| left[(a, column)].abs().total_cmp(&left[(b, column)].abs());
            let pivot = (column..size).max_by(by_size)?;
            let scale = left[(pivot, column)];
            if !scale.is_normal() {
                return None;
            }
            log_determinant += ln(scale.abs());
            eliminate([left, right], column, pivot);
        }
        Some(log_determinant)
    }

    /// The inverse of the matrix last given, if it had one.
    #[must_use]
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }
}

/// Makes the column of the first matrix that of the identity, and does the same to the rows of the second.
fn eliminate([left, right]: [&mut Matrix; 2], column: usize, pivot: usize) {
    if pivot != column {
        for matrix in [&mut *left, &mut *right] {
            let (one, other) = matrix.two_rows_mut(pivot, column);
            one.swap_with_slice(other);
        }
    }
    let scale = 1.0 / left[(column, column)];
    for matrix in [&mut *left, &mut *right] {
        matrix.row_mut(column).iter_mut().for_each(|entry| *entry *= scale);
    }
    subtract_row(left, right, column);
}

vectorized! {
/// Subtracts multiples of one row from all others, so that its column is zero in them.
fn subtract_row(left: &mut Matrix, right: &mut Matrix, column: usize) {
    for row in (0..left.rows()).filter(|&row| row != column) {
        let factor = left[(row, column)];
        for matrix in [&mut *left, &mut *right] {
            let (target, source) = matrix.two_rows_mut(row, column);
            target.iter_mut().zip(source).for_each(|(entry, pivot)| *entry -= factor * *pivot);
        }
    }
}
}

/// The singular values, largest first.
///
/// One-sided Jacobi rotations: accurate even for the small values that decide a condition number.
#[must_use]
pub fn singular_values(matrix: &Matrix) -> Vec<f64> {
    let mut columns = matrix.transposed();
    let size = columns.rows();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _sweep in 0..60 {
        let mut largest_angle = 0.0_f64;
        for first in 0..size {
            for second in first + 1..size {
                let (a, b) = columns.two_rows_mut(first, second);
                let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
                if ab.abs() <= f64::EPSILON * (aa * bb).sqrt() {
                    continue;
                }
                largest_angle = largest_angle.max(ab.abs() / (aa * bb).sqrt());
                let zeta = (bb - aa) / (2.0 * ab);
                let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = cosine * tangent;
                for (a, b) in a.iter_mut().zip(b) {
                    (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
                }
            }
        }
        if largest_angle < 1e-14 {
            break;
        }
    }
    let mut values: Vec<f64> = columns.iter_rows().map(|column| dot(column, column).sqrt()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn square(size: usize) -> impl Strategy<Value = Matrix> {
        prop::collection::vec(-1.0..1.0_f64, size * size)
            .prop_map(move |values| Matrix::from_vec(size, values))
    }

    #[test]
    fn a_known_matrix_has_its_known_decomposition() {
        let matrix = Matrix::from_vec(2, vec![3.0, 0.0, 4.0, 5.0]);
        let mut inverse = Inverse::default();
        let log_determinant = inverse.of(&matrix).unwrap();
        assert!((log_determinant - 15_f64.ln()).abs() < 1e-14);
        assert!((inverse.matrix()[(1, 0)] + 4.0 / 15.0).abs() < 1e-15);
        let values = singular_values(&matrix);
        assert!(
            (values[0] - 45_f64.sqrt()).abs() < 1e-13 && (values[1] - 5_f64.sqrt()).abs() < 1e-13,
            "{values:?}"
        );
    }

    #[test]
    fn a_singular_matrix_has_no_inverse() {
        assert!(Inverse::default().of(&Matrix::zeros(3, 3)).is_none());
        assert!(Inverse::default().of(&Matrix::from_vec(2, vec![1.0, 2.0, 2.0, 4.0])).is_none());
    }

    proptest! {
        #[test]
        fn inverse_and_singular_values_agree_with_the_matrix(matrix in (2_usize..8).prop_flat_map(square)) {
            let values = singular_values(&matrix);
            let smallest = values[values.len() - 1];
            prop_assume!(smallest > 1e-3);
            let mut inverse = Inverse::default();
            let log_determinant = inverse.of(&matrix).unwrap();
            let identity = matrix.product(inverse.matrix());
            for (entry, expected) in identity.values().iter().zip(Matrix::identity(matrix.rows()).values()) {
                prop_assert!((entry - expected).abs() < 1e-9);
            }
            let product: f64 = values.iter().map(|value| value.ln()).sum();
            prop_assert!((product - log_determinant).abs() < 1e-9);
            prop_assert!((singular_values(inverse.matrix())[0] * smallest - 1.0).abs() < 1e-9);
        }
    }
}
