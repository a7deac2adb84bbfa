//! TVD: total variation regularization with a Dirichlet posterior over the noise.
//!
//! Each row of the transition matrix keeps Dirichlet counts. A step draws a matrix from them, trains the classifier
//! through it, then counts the confusion the classifier has just shown. The regularizer pushes predictions apart, so
//! that of all matrices that explain the labels the cleanest one wins.
//!
//! Zhang, Niu and Sugiyama, ICML 2021.

use super::prelude::*;
use crate::noise::Dirichlet;

settings! {
    /// total variation regularization, T by Dirichlet counts: the paper's best
    Tvd {
        /// Weight γ of the total variation regularizer.
        gamma: f64 = 0.1 => AT_LEAST_ZERO,
        /// Pairs of examples in the regularizer, drawn with replacement from each batch.
        pairs: usize = 512 => ABOVE_ZERO,
        /// Counts on the diagonal at the start: 10 for MNIST, 100 for CIFAR, 1 for Clothing1M in the paper.
        prior: f64 = 10.0 => ABOVE_ZERO,
        /// Share β₁ of the old counts kept at each step.
        keep: f64 = 0.999 => UP_TO_ONE,
        /// Weight β₂ of the counts of a batch.
        weight: f64 = 0.01 => ABOVE_ZERO,
        /// Whether T is counted once more in the end, by the probabilities of the trained network on all examples.
        /// Off in the paper; where nothing is said, on for data unlike the paper's.
        final_pass: Option<bool> = None,
    }
}

impl Build for Tvd {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let counts = Dirichlet::diagonal(task.classes, self.prior)?;
        let seen = Matrix::zeros(task.classes, task.classes);
        let (noise, clean, spread) = Default::default();
        Ok(Box::new(TvdState { settings: self.clone(), counts, noise, clean, spread, seen }))
    }
}

struct TvdState {
    settings: Tvd,
    counts: Dirichlet,
    noise: Channel,
    clean: Softmax,
    spread: TotalVariation,
    seen: Matrix,
}

impl Method for TvdState {
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        let Self { settings, counts, noise, clean, spread, .. } = self;
        noise.draw(counts, &mut batch.stream("transition"));
        clean.of(batch.logits);
        spread.draw_pairs(settings.pairs, batch.labels.len(), &mut batch.stream("pairs"));
        let nll = noisy_nll(batch, clean, noise, gradient, |_, _| {});
        nll - settings.gamma * spread.add(-settings.gamma, clean, gradient)
    }

    fn update(&mut self, batch: &Batch<'_>, peers: &dyn Peers) {
        let mut stream = batch.stream("confusion");
        self.seen.values_mut().fill(0.0);
        for (p, &label) in self.clean.probabilities().iter_rows().zip(batch.labels) {
            self.seen[(stream.categorical(p), label as usize)] += 1.0;
        }
        peers.sum(self.seen.values_mut());
        self.counts.observe(&self.seen, self.settings.keep, self.settings.weight);
    }

    fn transition(&self) -> Option<Transition> {
        Some(self.counts.mean())
    }

    fn state(&self) -> State {
        State::default().with("counts", self.counts.counts().values())
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.counts = Dirichlet::new(state.square("counts", self.seen.rows())?)?;
        Ok(())
    }
}
