//! Pools: the largest number under a window, or the mean.

use super::{Links, Operation, Pass};
use crate::{
    Mode, Shape,
    cuda::{
        command::{Argument, Commands, arguments},
        kernel::{Kernel, blocks},
        layout::Place,
    },
};

/// Windows over an image, channels padded.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Windows {
    pub(in crate::cuda) input: Shape,
    pub(in crate::cuda) output: Shape,
    pub(in crate::cuda) kernel: (usize, usize),
    pub(in crate::cuda) stride: usize,
    pub(in crate::cuda) padding: usize,
}

impl Windows {
    fn argument(self) -> Argument {
        let (input, output) = (self.input, self.output);
        let (height, width) = self.kernel;
        let numbers = [
            input.height,
            input.width,
            output.height,
            output.width,
            output.channels,
            height,
            width,
            self.stride,
            self.padding,
        ];
        Argument::Window(numbers.map(|number| number as u32))
    }
}

/// A maximum pool with its place in the plan.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct MaxPool {
    pub(in crate::cuda) windows: Windows,
    pub(in crate::cuda) links: Links,
    /// At which tap of its window each output was found.
    pub(in crate::cuda) taps: Place,
}

/// An average pool with its place in the plan.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct AveragePool {
    pub(in crate::cuda) windows: Windows,
    pub(in crate::cuda) links: Links,
}

impl Operation for MaxPool {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let eights = pass.batch * self.windows.output.size() / 8;
        let taps = (pass.mode == Mode::Train).then_some(self.taps);
        let Links { input, output, .. } = self.links;
        to.launch(
            Kernel::MaxPool,
            blocks(eights),
            arguments![input, output, taps, eights, self.windows.argument()],
        );
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let Some(flow) = self.links.inflow else { return };
        let eights = batch * self.windows.input.size() / 8;
        to.launch(
            Kernel::MaxPoolBackward,
            blocks(eights),
            arguments![self.links.gradient, self.taps, flow.to, eights, self.windows.argument(), flow.add],
        );
    }
}

impl Operation for AveragePool {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let eights = pass.batch * self.windows.output.size() / 8;
        let Links { input, output, .. } = self.links;
        to.launch(
            Kernel::AveragePool,
            blocks(eights),
            arguments![input, output, eights, self.windows.argument()],
        );
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let Some(flow) = self.links.inflow else { return };
        let eights = batch * self.windows.input.size() / 8;
        to.launch(
            Kernel::AveragePoolBackward,
            blocks(eights),
            arguments![self.links.gradient, flow.to, eights, self.windows.argument(), flow.add],
        );
    }
}
