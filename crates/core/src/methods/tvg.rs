//! TVG: total variation regularization with a transition matrix learnt by gradient.
//!
//! T is the row-wise softmax of free parameters W, trained by an Adam of its own beside the classifier. With R_kj the
//! number of labels j the batch puts down to class k, the gradient for W is as simple as for any softmax: what T
//! expects of them less what was seen.
//!
//! Zhang, Niu and Sugiyama, ICML 2021.

use super::prelude::*;
use crate::elementary::{exp, ln, vectorized};

settings! {
    /// total variation regularization, T learnt by gradient
    Tvg {
        /// Weight γ of the total variation regularizer.
        gamma: f64 = 0.1 => AT_LEAST_ZERO,
        /// Pairs of examples in the regularizer, drawn with replacement from each batch.
        pairs: usize = 512 => ABOVE_ZERO,
        /// The diagonal of T at the start; the paper's 0.5 is also the true T of its symmetric noise.
        diagonal: f64 = 0.5 => INSIDE_UNIT,
        /// Peak learning rate of T: it rises from zero, and falls to zero at the last step.
        rate: f64 = 5e-3 => ABOVE_ZERO,
        /// Steps over which the rate rises, but at most a fifth of all.
        warmup: u64 = 400,
    }
}

impl Build for Tvg {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let classes = task.classes;
        let off = (1.0 - self.diagonal) / (classes - 1) as f64;
        let start = |row, column| if row == column { ln(self.diagonal) } else { ln(off) };
        Ok(Box::new(TvgState {
            settings: self.clone(),
            ramp: Ramp::new(self.rate, self.warmup, task.steps),
            parameters: Matrix::from_fn(classes, classes, start),
            adam: Adam::new(classes * classes),
            transition: Matrix::zeros(classes, classes),
            expected: Matrix::zeros(classes, classes),
            slopes: Matrix::zeros(classes, classes),
            noise: Channel::default(),
            clean: Softmax::default(),
            spread: TotalVariation::default(),
        }))
    }
}

struct TvgState {
    settings: Tvg,
    ramp: Ramp,
    parameters: Matrix,
    adam: Adam,
    transition: Matrix,
    /// Row j: how many labels j each true class is held to account for.
    expected: Matrix,
    slopes: Matrix,
    noise: Channel,
    clean: Softmax,
    spread: TotalVariation,
}

impl Method for TvgState {
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        let Self { settings, parameters, transition, expected, noise, clean, spread, .. } = self;
        row_softmax(parameters, transition);
        noise.set(transition);
        clean.of(batch.logits);
        spread.draw_pairs(settings.pairs, batch.labels.len(), &mut batch.stream("pairs"));
        let nll = noisy_nll(batch, clean, noise, gradient, counted(expected));
        nll - settings.gamma * spread.add(-settings.gamma, clean, gradient)
    }

    fn update(&mut self, _batch: &Batch<'_>, peers: &dyn Peers) {
        let Self { parameters, adam, transition, expected, slopes, .. } = self;
        peers.sum(expected.values_mut());
        slopes_of_softmax(transition, expected, slopes);
        let rate = self.ramp.rate(adam.steps());
        adam.step(parameters.values_mut(), slopes.values(), rate);
    }

    fn transition(&self) -> Option<Transition> {
        let mut transition = Matrix::default();
        row_softmax(&self.parameters, &mut transition);
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

/// T from W: the softmax of each row.
pub(super) fn row_softmax(parameters: &Matrix, transition: &mut Matrix) {
    transition.copy_from(parameters);
    softmax_in_place(transition);
}

vectorized! {
fn softmax_in_place(rows: &mut Matrix) {
    for row in rows.iter_rows_mut() {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().for_each(|entry| *entry = exp(*entry - largest));
        let share = 1.0 / row.iter().sum::<f64>();
        row.iter_mut().for_each(|entry| *entry *= share);
    }
}
}

/// The gradient of the mean negative log-likelihood for W: T_kj (sum of row k of R) - R_kj, over the examples.
pub(super) fn slopes_of_softmax(transition: &Matrix, expected: &Matrix, slopes: &mut Matrix) {
    let examples: f64 = expected.values().iter().sum();
    for (class, (slopes, shares)) in slopes.iter_rows_mut().zip(transition.iter_rows()).enumerate() {
        let mass: f64 = expected.iter_rows().map(|row| row[class]).sum();
        for ((slope, share), seen) in slopes.iter_mut().zip(shares).zip(expected.iter_rows()) {
            *slope = (share * mass - seen[class]) / examples;
        }
    }
}
