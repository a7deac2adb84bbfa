//! CCE: categorical cross-entropy on the noisy labels, as if they were right. What every other method must beat.

use super::prelude::*;

settings! {
    /// plain cross-entropy on the noisy labels
    Cce {}
}

impl Build for Cce {
    fn build(&self, _task: &Task) -> Result<Box<dyn Method>, Error> {
        Ok(Box::<CceState>::default())
    }
}

#[derive(Default)]
struct CceState {
    clean: Softmax,
}

impl Method for CceState {
    fn begins_plainly(&self) -> bool {
        true
    }

    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        self.clean.of(batch.logits);
        label_loss(batch, &self.clean, gradient, |log_p| (-log_p, 1.0))
    }
}
