//! Bayes' theorem: what the true class is, given the example and the label it has.

use super::Probability;
use crate::Matrix;
use crate::decompose::Inverse;
use crate::noise::Transition;

/// A noise matrix, as the posterior needs it: what each class says of a label, side by side.
#[derive(Clone, Debug)]
pub struct Channel {
    by_label: Matrix,
}

/// What is known of one label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// P(label is wrong).
    pub wrong: f64,
    /// The most probable true class; where the given label is as probable as any, the given label.
    pub suggested: u32,
    /// Its probability.
    pub probability: f64,
    /// How far it is ahead of the second.
    pub margin: f64,
}

impl Channel {
    /// For labels that came about by this noise.
    #[must_use]
    pub fn new(noise: &Transition) -> Self {
        Self { by_label: noise.matrix().transposed() }
    }

    /// p(true class | x, given label) into `posterior`, from p(true class | x).
    ///
    /// A label that cannot be, since no class that is possible here is ever given it, says nothing: p(true class | x)
    /// stands.
    pub fn posterior<P: Probability>(&self, row: &[P], label: u32, posterior: &mut [f64]) {
        let chances = self.by_label.row(label as usize);
        let mut sum = 0.0;
        for ((posterior, p), chance) in posterior.iter_mut().zip(row).zip(chances) {
            *posterior = p.wide() * chance;
            sum += *posterior;
        }
        if sum > 0.0 {
            posterior.iter_mut().for_each(|posterior| *posterior /= sum);
        } else {
            let total: f64 = row.iter().map(|p| p.wide()).sum();
            posterior.iter_mut().zip(row).for_each(|(posterior, p)| *posterior = p.wide() / total);
        }
    }
}

impl Verdict {
    /// What p(true class | x, given label) says of the label.
    #[must_use]
    pub fn of(posterior: &[f64], label: u32) -> Self {
        let label = label as usize;
        let (mut best, mut second, mut wrong) = (label, 0.0_f64, 0.0);
        for (class, &p) in posterior.iter().enumerate().filter(|(class, _)| *class != label) {
            wrong += p;
            if p > posterior[best] {
                second = second.max(posterior[best]);
                best = class;
            } else {
                second = second.max(p);
            }
        }
        let probability = posterior[best];
        Self {
            wrong: wrong.clamp(0.0, 1.0),
            suggested: best as u32,
            probability,
            margin: probability - second,
        }
    }
}

/// Undoes what noise does to a distribution: p(true class | x) from p(given label | x).
#[derive(Clone, Debug)]
pub struct Undo {
    noise: Transition,
    inverse: Option<Matrix>,
}

impl Undo {
    /// For labels that came about by this noise.
    #[must_use]
    pub fn new(noise: &Transition) -> Self {
        let mut inverse = Inverse::default();
        let found = inverse.of(noise.matrix()).map(|_| inverse.matrix().clone());
        let finite = |found: &Matrix| found.values().iter().all(|entry| entry.is_finite());
        Self { noise: noise.clone(), inverse: found.filter(finite) }
    }

    /// The distribution p with p T nearest to q, by divergence, into `clean`.
    ///
    /// The inverse of T would do for exact q. For an estimate it may leave the simplex, so it is only where the search
    /// begins: expectation-maximization (with room for it in `ratio`) for one mixture, known from astronomy as Richardson-Lucy deconvolution. Where
    /// the inverse is right it ends at once.
    pub fn of<P: Probability>(&self, noisy: &[P], (clean, ratio): (&mut [f64], &mut [f64])) {
        /// Steps that are smaller change nothing that is ever shown.
        const ENOUGH: f64 = 1e-4;
        self.start(noisy, clean);
        for _ in 0..30 {
            ratio.fill(0.0);
            for (class, &p) in clean.iter().enumerate() {
                ratio.iter_mut().zip(self.noise.row(class)).for_each(|(said, chance)| *said += p * chance);
            }
            for (ratio, q) in ratio.iter_mut().zip(noisy) {
                *ratio = if *ratio > 0.0 { q.wide() / *ratio } else { 0.0 };
            }
            let mut moved = 0.0_f64;
            for (class, p) in clean.iter_mut().enumerate() {
                let factor: f64 =
                    self.noise.row(class).iter().zip(&*ratio).map(|(chance, ratio)| chance * ratio).sum();
                moved = moved.max((*p * (factor - 1.0)).abs());
                *p *= factor;
            }
            normalize(clean);
            if moved < ENOUGH {
                return;
            }
        }
    }

    /// What the inverse says, with a little left for everything it rules out.
    fn start<P: Probability>(&self, noisy: &[P], clean: &mut [f64]) {
        const LITTLE: f64 = 1e-4;
        clean.fill(0.0);
        if let Some(inverse) = &self.inverse {
            for (q, row) in noisy.iter().zip(inverse.iter_rows()) {
                clean.iter_mut().zip(row).for_each(|(p, entry)| *p += q.wide() * entry);
            }
        }
        clean.iter_mut().for_each(|p| *p = p.max(LITTLE));
        normalize(clean);
    }
}

/// Each over their sum; all alike, if there is nothing to divide.
fn normalize(values: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    let count = values.len() as f64;
    values.iter_mut().for_each(|value| *value = if sum > 0.0 { *value / sum } else { 1.0 / count });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn pair() -> Transition {
        "pair:0.4".parse::<Noise>().unwrap().transition(3, 0).unwrap()
    }

    #[test]
    fn the_posterior_is_bayes_theorem() {
        // Class 0 becomes 1 with 0.4: of 0.5 x 0.4 and 0.3 x 0.6, under label 1.
        let mut posterior = [0.0; 3];
        Channel::new(&pair()).posterior(&[0.5_f64, 0.3, 0.2], 1, &mut posterior);
        assert!((posterior[0] - 0.2 / 0.38).abs() < 1e-12);
        assert!((posterior[1] - 0.18 / 0.38).abs() < 1e-12);
        let verdict = Verdict::of(&posterior, 1);
        assert_eq!(verdict.suggested, 0);
        assert!((verdict.wrong - 0.2 / 0.38).abs() < 1e-12);
        assert!((verdict.margin - 0.02 / 0.38).abs() < 1e-12);
    }

    #[test]
    fn a_label_that_cannot_be_says_nothing() {
        let mut posterior = [0.0; 3];
        Channel::new(&pair()).posterior(&[0.0_f64, 1.0, 0.0], 0, &mut posterior);
        assert_eq!(posterior, [0.0, 1.0, 0.0]);
        let verdict = Verdict::of(&posterior, 0);
        assert_eq!((verdict.wrong, verdict.suggested, verdict.margin), (1.0, 1, 1.0));
    }

    #[test]
    fn a_tie_leaves_the_label_as_it_is() {
        let verdict = Verdict::of(&[0.4, 0.4, 0.2], 1);
        assert_eq!((verdict.suggested, verdict.margin), (1, 0.0));
    }

    #[test]
    fn what_noise_did_to_a_distribution_is_undone() {
        let noise = pair();
        let clean = [0.7, 0.1, 0.2];
        let noisy: Vec<f64> =
            (0..3).map(|label| (0..3).map(|class| clean[class] * noise.row(class)[label]).sum()).collect();
        let mut found = [0.0; 3];
        Undo::new(&noise).of(&noisy, (&mut found, &mut [0.0; 3]));
        for (found, clean) in found.iter().zip(clean) {
            assert!((found - clean).abs() < 1e-3, "{found} for {clean}");
        }
    }

    #[test]
    fn noise_that_has_no_inverse_is_undone_as_far_as_it_goes() {
        let blind = Transition::new(Matrix::from_vec(2, vec![0.5, 0.5, 0.5, 0.5])).unwrap();
        let mut found = [0.0; 2];
        Undo::new(&blind).of(&[0.5_f64, 0.5], (&mut found, &mut [0.0; 2]));
        assert!((found[0] - 0.5).abs() < 1e-9, "nothing is known");
    }

    #[test]
    fn an_impossible_distribution_still_gives_one() {
        let mut found = [0.0; 3];
        Undo::new(&pair()).of(&[1.0_f64, 0.0, 0.0], (&mut found, &mut [0.0; 3]));
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(found[0] > 0.99);
    }
}
