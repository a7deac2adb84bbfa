//! VolMinNet: of all matrices that explain the labels, the one whose columns span the least volume.
//!
//! T is learnt by gradient beside the classifier, with λ ln |det T| added to the likelihood.
//!
//! Li, Liu, Han, Niu and Sugiyama, "Provably end-to-end label-noise learning without anchor points", ICML 2021.

use super::prelude::*;
use super::tvg::row_softmax;
use crate::decompose::Inverse;
use crate::elementary::{exp, ln};
use serde::{Deserialize, Serialize};

settings! {
    /// T of minimal volume, learnt by gradient
    VolMinNet {
        /// Weight λ of the logarithm of the volume.
        lambda: f64 = 1e-4 => AT_LEAST_ZERO,
        /// How T follows from free parameters: `sigmoid`, normalized rows of ones on the diagonal and sigmoids beside
        /// it, as its authors have it, or `softmax`, as in TVG.
        form: Form = Form::Sigmoid,
        /// The diagonal of T at the start; its authors' values for 10 and for 100 classes both come to about this.
        diagonal: f64 = 0.48 => INSIDE_UNIT,
        /// Learning rate of T.
        rate: f64 = 0.01 => ABOVE_ZERO,
    }
}

/// How T follows from free parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Rows of one on the diagonal and sigmoid(W) beside it, normalized.
    #[default]
    Sigmoid,
    /// The softmax of each row of W.
    Softmax,
}

impl Build for VolMinNet {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let classes = task.classes;
        let (on, off) = match self.form {
            Form::Softmax => (ln(self.diagonal), ln((1.0 - self.diagonal) / (classes - 1) as f64)),
            // With few classes the diagonal starts higher, for no entry beside it starts above one half of it.
            Form::Sigmoid => {
                let beside = ((1.0 / self.diagonal - 1.0) / (classes - 1) as f64).min(0.5);
                (0.0, ln(beside / (1.0 - beside)))
            }
        };
        let square = || Matrix::zeros(classes, classes);
        Ok(Box::new(VolMinNetState {
            settings: self.clone(),
            parameters: Matrix::from_fn(classes, classes, |row, column| if row == column { on } else { off }),
            adam: Adam::new(classes * classes),
            transition: square(),
            expected: square(),
            slopes: square(),
            inverse: Inverse::default(),
            log_volume: None,
            noise: Channel::default(),
            clean: Softmax::default(),
        }))
    }
}

struct VolMinNetState {
    settings: VolMinNet,
    parameters: Matrix,
    adam: Adam,
    transition: Matrix,
    /// Row j: how many labels j each true class is held to account for.
    expected: Matrix,
    slopes: Matrix,
    /// The inverse of T, and ln |det T| unless T is singular.
    inverse: Inverse,
    log_volume: Option<f64>,
    noise: Channel,
    clean: Softmax,
}

impl VolMinNetState {
    fn transition_of(&self, transition: &mut Matrix) {
        match self.settings.form {
            Form::Softmax => row_softmax(&self.parameters, transition),
            Form::Sigmoid => {
                transition.copy_from(&self.parameters);
                for (class, row) in transition.iter_rows_mut().enumerate() {
                    row.iter_mut().for_each(|entry| *entry = sigmoid(*entry));
                    row[class] = 1.0;
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|entry| *entry /= sum);
                }
            }
        }
    }

    /// dL/dW. With H = T * dL/dT, entry by entry, both forms give H_kj - T_kj (sum of row k of H); the sigmoid adds
    /// a factor of its own, and leaves the diagonal alone.
    fn find_slopes(&mut self) {
        let Self { settings, transition, inverse, expected, slopes, parameters, .. } = self;
        let examples: f64 = expected.values().iter().sum();
        // A singular T has no volume left to take away.
        let lambda = if self.log_volume.is_some() { settings.lambda } else { 0.0 };
        for (class, row) in slopes.iter_rows_mut().enumerate() {
            let shares = transition.row(class);
            for (label, slope) in row.iter_mut().enumerate() {
                *slope = lambda * shares[label] * inverse.matrix()[(label, class)] - expected[(label, class)] / examples;
            }
            let sum: f64 = row.iter().sum();
            row.iter_mut().zip(shares).for_each(|(slope, share)| *slope -= share * sum);
            if settings.form == Form::Sigmoid {
                let inner = row.iter_mut().zip(parameters.row(class));
                inner.for_each(|(slope, parameter)| *slope *= 1.0 - sigmoid(*parameter));
                row[class] = 0.0;
            }
        }
    }
}

impl Method for VolMinNetState {
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        let mut transition = std::mem::take(&mut self.transition);
        self.transition_of(&mut transition);
        self.transition = transition;
        let Self { settings, transition, expected, noise, clean, inverse, log_volume, .. } = self;
        noise.set(transition);
        clean.of(batch.logits);
        *log_volume = inverse.of(transition);
        let nll = noisy_nll(batch, clean, noise, gradient, counted(expected));
        nll + settings.lambda * log_volume.unwrap_or(0.0)
    }

    fn update(&mut self, _batch: &Batch<'_>, peers: &dyn Peers) {
        peers.sum(self.expected.values_mut());
        self.find_slopes();
        self.adam.step(self.parameters.values_mut(), self.slopes.values(), self.settings.rate);
    }

    fn transition(&self) -> Option<Transition> {
        let mut transition = Matrix::default();
        self.transition_of(&mut transition);
        Some(Transition::trusted(transition))
    }

    fn state(&self) -> State {
        self.adam.save(State::default().with("parameters", self.parameters.values()))
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.parameters = state.square("parameters", self.parameters.rows())?;
        self.adam.load(state)
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}
