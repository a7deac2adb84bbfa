//! MAE: the mean absolute error between the prediction and the label, a loss that wrong labels hardly move.
//!
//! Ghosh, Kumar and Sastry, "Robust loss functions under label noise for deep neural networks", AAAI 2017.

use super::prelude::*;
use crate::elementary::exp;

settings! {
    /// mean absolute error, a loss robust to symmetric noise
    Mae {
        /// What multiplies 1 - p\[y\]: 1, as the paper's generalized cross-entropy at q = 1, or 2, the whole L1
        /// distance. It matters for SGD only.
        scale: f64 = 1.0 => ABOVE_ZERO,
    }
}

impl Build for Mae {
    fn build(&self, _task: &Task) -> Result<Box<dyn Method>, Error> {
        Ok(Box::new(MaeState { scale: self.scale, clean: Softmax::default() }))
    }
}

struct MaeState {
    scale: f64,
    clean: Softmax,
}

impl Method for MaeState {
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        let scale = self.scale;
        self.clean.of(batch.logits);
        label_loss(batch, &self.clean, gradient, |log_p| {
            let p = exp(log_p);
            (scale * (1.0 - p), scale * p)
        })
    }
}
