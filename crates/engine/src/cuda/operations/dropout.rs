//! Dropout: in training, zeroes numbers at random and scales up the others.

use cleanest_core::random::Stream;

use super::{Flow, Links, Operation, Pass, deliver};
use crate::{
    Mode, Shape,
    cuda::{
        command::{Argument, Commands, arguments},
        kernel::{Kernel, blocks},
        layout::{Place, padded},
    },
};

/// A dropout layer with its place in the plan. It draws what the processor's does.
#[derive(Clone, Debug)]
pub(in crate::cuda) struct Dropout {
    pub(in crate::cuda) rate: f64,
    pub(in crate::cuda) seed: u64,
    /// The name of its random stream.
    pub(in crate::cuda) stream: String,
    /// The shape of an example, channels not padded.
    pub(in crate::cuda) shape: Shape,
    pub(in crate::cuda) links: Links,
    /// Where the step is read from.
    pub(in crate::cuda) step: Place,
    /// What these examples are of the batch of all workers; first, how many come before them.
    pub(in crate::cuda) part: Place,
}

impl Dropout {
    fn apply(&self, from: Place, target: Place, batch: usize, to: &mut Commands) {
        let Shape { height, width, channels } = self.shape;
        let (pixels, wide) = (batch * height * width, padded(channels));
        let ([left, right], name) = Stream::new(self.seed, &self.stream, 0).identity();
        let below = (self.rate * 2_f64.powi(32)) as u32;
        let stream = Argument::Words([left, right, name, below]);
        let kept = (1.0 / (1.0 - self.rate)) as f32;
        to.launch(
            Kernel::Dropout,
            blocks(pixels * wide / 8),
            arguments![
                from,
                target,
                self.step,
                self.part,
                self.shape.size(),
                pixels,
                channels,
                wide,
                stream,
                kept
            ],
        );
    }

    fn numbers(&self, batch: usize) -> usize {
        batch * self.shape.height * self.shape.width * padded(self.shape.channels)
    }
}

impl Operation for Dropout {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let Links { input, output, .. } = self.links;
        if pass.mode == Mode::Train {
            self.apply(input, output, pass.batch, to);
        } else {
            deliver(input, Flow { to: output, add: false }, self.numbers(pass.batch), to);
        }
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let Some(flow) = self.links.inflow else { return };
        let gradient = self.links.gradient;
        self.apply(gradient, gradient, batch, to);
        deliver(gradient, flow, self.numbers(batch), to);
    }
}
