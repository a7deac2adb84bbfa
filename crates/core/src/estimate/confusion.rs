//! The confusion of predictions and labels, and what Dual-T makes of it.

use super::{Anchors, Posteriors, anchors};
use crate::noise::Transition;
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};

/// How often each predicted class (row) has each noisy label (column); a prediction is the most probable class.
#[must_use]
pub fn confusion(seen: &Posteriors<'_>) -> Matrix {
    let mut counts = Matrix::zeros(seen.classes(), seen.classes());
    for (row, &label) in seen.probabilities.iter_rows().zip(seen.labels) {
        counts[(most_probable(row), label as usize)] += 1.0;
    }
    counts
}

/// The same with each example counted for every class by its probability.
#[must_use]
pub fn soft_confusion(seen: &Posteriors<'_>) -> Matrix {
    let mut by_label = Matrix::zeros(seen.classes(), seen.classes());
    for (row, &label) in seen.probabilities.iter_rows().zip(seen.labels) {
        by_label.row_mut(label as usize).iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
    }
    by_label.transposed()
}

/// Counts as a transition matrix: each row over its sum.
///
/// A class that was never counted gets the row of the identity: nothing was seen of its noise.
#[must_use]
pub fn frequencies(mut counts: Matrix) -> Transition {
    for (class, row) in counts.iter_rows_mut().enumerate() {
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|count| *count /= sum);
        } else {
            row.fill(0.0);
            row[class] = 1.0;
        }
    }
    Transition::trusted(counts)
}

/// In which order Dual-T multiplies its two matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// From the true class to the predicted one, then on to the label: the estimator of the Dual-T paper.
    #[default]
    Correct,
    /// The other way round, as the code released with the TV paper has it.
    Reference,
}

/// Dual-T: from the true class to the predicted one by anchors, from there to the label by counting.
///
/// Yao, Liu, Han, Gong, Deng, Niu and Sugiyama, "Dual T: reducing estimation error for transition matrix in
/// label-noise learning", `NeurIPS` 2020.
pub fn dual_t(seen: &Posteriors<'_>, which: Anchors, order: Order) -> Result<Transition, Error> {
    let (to_predicted, to_label) = (anchors(seen, which)?, frequencies(confusion(seen)));
    match order {
        Order::Correct => to_predicted.then(&to_label),
        Order::Reference => to_label.then(&to_predicted),
    }
}

/// The first of the most probable classes.
fn most_probable(row: &[f64]) -> usize {
    let mut best = 0;
    for (class, &probability) in row.iter().enumerate() {
        if probability > row[best] {
            best = class;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Matrix, Vec<u32>) {
        let probabilities = Matrix::from_vec(
            3,
            vec![0.8, 0.1, 0.1, 0.6, 0.3, 0.1, 0.1, 0.9, 0.0, 0.2, 0.7, 0.1, 0.3, 0.5, 0.2],
        );
        (probabilities, vec![0, 1, 1, 1, 2])
    }

    #[test]
    fn predictions_are_counted_against_labels() {
        let (probabilities, labels) = example();
        let counts = confusion(&Posteriors::new(&probabilities, &labels).unwrap());
        assert_eq!(counts.values(), [1.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_class_never_predicted_keeps_the_identity_row() {
        let (probabilities, labels) = example();
        let transition = frequencies(confusion(&Posteriors::new(&probabilities, &labels).unwrap()));
        assert_eq!(transition.row(0), [0.5, 0.5, 0.0]);
        assert_eq!(transition.row(2), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn soft_counts_sum_to_the_number_of_examples() {
        let (probabilities, labels) = example();
        let counts = soft_confusion(&Posteriors::new(&probabilities, &labels).unwrap());
        assert!((counts.values().iter().sum::<f64>() - 5.0).abs() < 1e-12);
        assert!((counts[(1, 1)] - (0.3 + 0.9 + 0.7)).abs() < 1e-12);
        assert!((counts[(2, 2)] - 0.2).abs() < 1e-12);
    }

    #[test]
    fn dual_t_is_the_product_in_the_asked_order() {
        let (probabilities, labels) = example();
        let seen = Posteriors::new(&probabilities, &labels).unwrap();
        let club = anchors(&seen, Anchors::Argmax).unwrap();
        let spade = frequencies(confusion(&seen));
        let by_hand = |i: usize, j: usize| (0..3).map(|l| club.row(i)[l] * spade.row(l)[j]).sum::<f64>();
        let correct = dual_t(&seen, Anchors::Argmax, Order::Correct).unwrap();
        let reversed = dual_t(&seen, Anchors::Argmax, Order::Reference).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                assert!((correct.row(i)[j] - by_hand(i, j)).abs() < 1e-15);
            }
        }
        assert!(correct.average_tv(&reversed).unwrap() > 0.01, "the order matters here");
    }
}
