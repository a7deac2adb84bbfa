//! How often a classifier is right.

use crate::Matrix;

/// The share of rows whose largest score is at the label; among equal scores the first class counts.
#[must_use]
pub fn accuracy(scores: &Matrix, labels: &[u32]) -> f64 {
    top_k(scores, labels, 1)
}

/// The share of rows whose label is among the `k` largest scores; among equal scores the first classes count.
///
/// # Panics
/// If there is not a label for each row: a bug of the caller.
#[must_use]
pub fn top_k(scores: &Matrix, labels: &[u32], k: usize) -> f64 {
    assert_eq!(scores.rows(), labels.len(), "a label for each row");
    let among = |(row, label): (&[f64], &u32)| {
        let (label, own) = (*label as usize, row[*label as usize]);
        let ahead = |(class, score): (usize, &f64)| *score > own || (*score == own && class < label);
        // A score that is not a number is never right.
        !own.is_nan() && row.iter().enumerate().filter(|&place| ahead(place)).count() < k
    };
    let right = scores.iter_rows().zip(labels).filter(|&row| among(row)).count();
    right as f64 / labels.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_scores_counts() {
        let scores =
            Matrix::from_vec(3, vec![0.5, 0.5, 0.0, 0.1, 0.2, 0.7, 0.4, 0.3, 0.3, f64::NAN, 0.0, 0.0]);
        assert!((accuracy(&scores, &[1, 2, 2, 0]) - 0.25).abs() < 1e-15);
        assert!((top_k(&scores, &[1, 2, 2, 0], 2) - 0.5).abs() < 1e-15);
        assert!((top_k(&scores, &[1, 2, 2, 0], 3) - 0.75).abs() < 1e-15);
    }
}
