//! Anchor points: the example surest to be of a class shows, by its noisy posterior, how that class is labeled.
//!
//! Patrini, Rozza, Menon, Nock and Qu, "Making deep neural networks robust to label noise", CVPR 2017.

use super::Posteriors;
use crate::noise::Transition;
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};

/// Which example stands for a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchors {
    /// The one with the highest probability of the class. The paper's tables match this one only.
    #[default]
    Argmax,
    /// The highest one below the 97 % quantile, which passes over a few outliers.
    Quantile,
}

/// The quantile of [`Anchors::Quantile`], from the loss-correction paper.
const QUANTILE: f64 = 0.97;

/// T whose row i is the posterior of the anchor of class i.
pub fn anchors(seen: &Posteriors<'_>, which: Anchors) -> Result<Transition, Error> {
    let mut transition = Matrix::zeros(seen.classes(), seen.classes());
    for (class, row) in transition.iter_rows_mut().enumerate() {
        row.copy_from_slice(seen.probabilities.row(anchor(seen.probabilities, class, which)));
    }
    // A network's float32 softmax sums to one only so far; a row that is no distribution is still refused.
    for row in transition.iter_rows_mut() {
        let sum: f64 = row.iter().sum();
        if (sum - 1.0).abs() < 1e-3 {
            row.iter_mut().for_each(|entry| *entry /= sum);
        }
    }
    Transition::new(transition)
}

/// The row of the anchor of a class.
fn anchor(probabilities: &Matrix, class: usize, which: Anchors) -> usize {
    let column: Vec<f64> = probabilities.iter_rows().map(|row| row[class]).collect();
    let limit = match which {
        Anchors::Argmax => f64::INFINITY,
        Anchors::Quantile => quantile(&column, QUANTILE),
    };
    let highest = |below: f64| {
        let mut best = None;
        for (row, &value) in column.iter().enumerate().filter(|(_, value)| **value < below) {
            if best.is_none_or(|best| value > column[best]) {
                best = Some(row);
            }
        }
        best
    };
    // Where all values are alike, none lies below the quantile, and the highest has to do.
    highest(limit).or_else(|| highest(f64::INFINITY)).unwrap_or(0)
}

/// The value below which a share of the values lies, interpolated linearly.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let (low, rest) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + rest * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probabilities(first: &[f64]) -> Matrix {
        Matrix::from_vec(2, first.iter().flat_map(|p| [*p, 1.0 - p]).collect())
    }

    #[test]
    fn argmax_takes_the_surest_example_of_each_class() {
        let probabilities = probabilities(&[0.7, 0.9, 0.2, 0.4]);
        let seen = Posteriors::new(&probabilities, &[0; 4]).unwrap();
        let transition = anchors(&seen, Anchors::Argmax).unwrap();
        assert_eq!(transition.row(0), [0.9, 1.0 - 0.9]);
        assert_eq!(transition.row(1), [0.2, 0.8]);
    }

    #[test]
    fn quantile_passes_over_the_surest_three_percent() {
        let values: Vec<f64> = (0..=100).map(|percent| f64::from(percent) / 100.0).collect();
        let probabilities = probabilities(&values);
        let seen = Posteriors::new(&probabilities, &[0; 101]).unwrap();
        let transition = anchors(&seen, Anchors::Quantile).unwrap();
        assert!((transition.row(0)[0] - 0.96).abs() < 1e-12, "{:?}", transition.row(0));
        assert!((transition.row(1)[1] - 0.96).abs() < 1e-12, "{:?}", transition.row(1));
    }

    #[test]
    fn posteriors_that_are_all_alike_still_have_anchors() {
        let probabilities = probabilities(&[0.6; 5]);
        let seen = Posteriors::new(&probabilities, &[1; 5]).unwrap();
        assert_eq!(anchors(&seen, Anchors::Quantile).unwrap().row(1), [0.6, 0.4]);
    }

    #[test]
    fn probabilities_that_are_not_are_refused() {
        let broken = Matrix::from_vec(2, vec![0.9, 0.9, 0.1, 0.9]);
        let seen = Posteriors::new(&broken, &[0, 1]).unwrap();
        assert!(matches!(anchors(&seen, Anchors::Argmax), Err(Error::RowSum { row: 0, .. })));
        assert!(matches!(Posteriors::new(&broken, &[0]), Err(Error::Length { labels: 1, examples: 2 })));
        assert!(matches!(
            Posteriors::new(&broken, &[0, 2]),
            Err(Error::Label { row: 1, label: 2, classes: 2 })
        ));
    }
}
