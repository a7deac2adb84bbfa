//! Known-T: forward correction with a transition matrix that is given. What a perfect estimate of T would reach.

use super::corrected::Corrected;
use super::prelude::*;
use crate::noise::Noise;

settings! {
    /// correction by a transition matrix that is given
    KnownT {
        /// The matrix: a noise such as `pair:0.4`, or `file:PATH`. Where noise is injected, that noise.
        noise: Option<Noise> = None,
    }
}

impl Build for KnownT {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let noise = self.noise.as_ref().ok_or(Error::NoTransition)?;
        let mut corrected = Corrected::default();
        corrected.set(Some(noise.transition(task.classes, task.seed)?));
        Ok(Box::new(KnownTState { corrected }))
    }
}

struct KnownTState {
    corrected: Corrected,
}

impl Method for KnownTState {
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        self.corrected.loss(batch, gradient)
    }

    fn transition(&self) -> Option<Transition> {
        self.corrected.transition().cloned()
    }
}
