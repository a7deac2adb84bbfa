//! Batch norm, with the residual sum and the ReLU after it in the same pass.

use super::{Flow, Links, Operation, Pass, Sums, Trained, least};
use crate::{
    Mode,
    cuda::{
        command::{Commands, arguments},
        kernel::{Kernel, Walk, blocks},
        layout::Place,
    },
};

/// How the backward pass knows what its ReLU let through, as the kernels number it.
const PLAIN: u32 = 0;
const RECOMPUTED: u32 = 1;
const STORED: u32 = 2;

/// A batch norm with its place in the plan.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Norm {
    /// Pixels of an example, and their channels.
    pub(in crate::cuda) pixels: usize,
    pub(in crate::cuda) channels: usize,
    pub(in crate::cuda) links: Links,
    /// What is added after the norm, and where its gradient goes.
    pub(in crate::cuda) residual: Option<Place>,
    pub(in crate::cuda) residual_inflow: Option<Flow>,
    pub(in crate::cuda) relu: bool,
    /// Whether the logits depend on it; else only its statistics move.
    pub(in crate::cuda) alive: bool,
    /// A bit for each number that passed the ReLU, where it cannot be computed from the input alone.
    pub(in crate::cuda) positive: Option<Place>,
    /// Seven numbers a channel of the last training batch.
    pub(in crate::cuda) terms: Place,
    /// The same of evaluation.
    pub(in crate::cuda) recalled: Place,
    pub(in crate::cuda) scale: Trained,
    pub(in crate::cuda) shift: Trained,
    /// Running mean, running variance and count of batches.
    pub(in crate::cuda) running: [Place; 3],
    pub(in crate::cuda) sums: Sums,
    /// What these examples are of the batch of all workers.
    pub(in crate::cuda) part: Place,
}

impl Norm {
    /// Where sums over all workers are left, where they are asked for.
    fn whole(&self, to: &Commands) -> Option<Place> {
        to.whole_norms.then_some(self.sums.whole)
    }

    fn relu_known(&self) -> u32 {
        match (self.relu, self.positive) {
            (false, _) => PLAIN,
            (true, None) => RECOMPUTED,
            (true, Some(_)) => STORED,
        }
    }
}

impl Operation for Norm {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let (rows, channels) = (pass.batch * self.pixels, self.channels);
        let walk = Walk::new(rows, channels);
        let [mean, variance, tracked] = self.running;
        let (input, scale, shift, lanes) = (self.links.input, self.scale.value, self.shift.value, walk.lanes);
        let terms = if pass.mode == Mode::Train { self.terms } else { self.recalled };
        if pass.mode == Mode::Train {
            let (Sums { partials, arrived, .. }, whole, part) = (self.sums, self.whole(to), self.part);
            to.launch(
                Kernel::NormalizeObserve,
                walk.observing(),
                arguments![
                    input, partials, arrived, scale, shift, mean, variance, tracked, terms, whole, part,
                    rows, channels, lanes
                ],
            );
            if let Some(whole) = whole {
                to.exchange(whole, 2 * channels);
                let pixels = self.pixels;
                to.launch(
                    Kernel::NormalizeAgree,
                    blocks(channels),
                    arguments![whole, part, scale, shift, mean, variance, tracked, terms, pixels, channels],
                );
            }
        } else {
            let arguments = arguments![scale, shift, mean, variance, terms, channels];
            to.launch(Kernel::NormalizeRecall, blocks(channels), arguments);
        }
        if self.alive {
            let positive = self.positive.filter(|_| pass.mode == Mode::Train);
            let (residual, output, least) = (self.residual, self.links.output, least(self.relu));
            to.launch(
                Kernel::NormalizeApply,
                walk.passing(),
                arguments![input, terms, residual, output, positive, rows, channels, lanes, least],
            );
        }
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let (rows, channels) = (batch * self.pixels, self.channels);
        let walk = Walk::new(rows, channels);
        let Links { input, gradient, inflow, .. } = self.links;
        let (relu, positive, terms, lanes) = (self.relu_known(), self.positive, self.terms, walk.lanes);
        let (residual, add) =
            (self.residual_inflow.map(|flow| flow.to), self.residual_inflow.is_some_and(|flow| flow.add));
        let (Sums { partials, arrived, .. }, whole, part) = (self.sums, self.whole(to), self.part);
        let (scale, slopes) = (self.scale.value, (self.scale.slope, self.shift.slope));
        to.launch(
            Kernel::NormalizeReduce,
            walk.summing(),
            arguments![
                gradient, input, positive, residual, partials, arrived, scale, terms, slopes.0, slopes.1,
                whole, rows, channels, lanes, relu, add
            ],
        );
        if let Some(whole) = whole {
            to.exchange(whole, 2 * channels);
            let arguments = arguments![whole, part, scale, terms, self.pixels, channels];
            to.launch(Kernel::NormalizeAgreeBackward, blocks(channels), arguments);
        }
        if let Some(Flow { to: target, add }) = inflow {
            to.launch(
                Kernel::NormalizeSpread,
                walk.passing(),
                arguments![gradient, input, positive, terms, target, rows, channels, lanes, relu, add],
            );
        }
    }
}
