//! GCE: generalized cross-entropy, between cross-entropy (q to 0) and mean absolute error (q = 1).
//!
//! Zhang and Sabuncu, "Generalized cross entropy loss for training deep neural networks with noisy labels",
//! `NeurIPS` 2018; not truncated, as in the TV paper.

use super::prelude::*;
use crate::elementary::exp;

settings! {
    /// generalized cross-entropy, between cross-entropy and mean absolute error
    Gce {
        /// The exponent q: near 0 it is cross-entropy, at 1 mean absolute error. 0.7 is its authors' choice; the TV
        /// paper gives none.
        q: f64 = 0.7 => UP_TO_ONE,
    }
}

impl Build for Gce {
    fn build(&self, _task: &Task) -> Result<Box<dyn Method>, Error> {
        Ok(Box::new(GceState { q: self.q, clean: Softmax::default() }))
    }
}

struct GceState {
    q: f64,
    clean: Softmax,
}

impl Method for GceState {
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        let q = self.q;
        self.clean.of(batch.logits);
        // Through the logarithm, the power p^q has no infinite slope at p = 0.
        label_loss(batch, &self.clean, gradient, |log_p| {
            let power = exp(q * log_p);
            ((1.0 - power) / q, power)
        })
    }
}
