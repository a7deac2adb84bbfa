//! A sum or a ReLU that joined no other operation.

use super::{Flow, Links, Operation, Pass, deliver, least};
use crate::cuda::{
    command::{Commands, arguments},
    kernel::{Kernel, blocks},
    layout::Place,
};

/// A sum of one or two values with its place in the plan, and the ReLU after it.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Sum {
    /// Numbers of an example, padding included.
    pub(in crate::cuda) size: usize,
    pub(in crate::cuda) links: Links,
    pub(in crate::cuda) other: Option<Place>,
    pub(in crate::cuda) other_inflow: Option<Flow>,
    pub(in crate::cuda) relu: bool,
}

impl Operation for Sum {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let eights = pass.batch * self.size / 8;
        let Links { input, output, .. } = self.links;
        to.launch(
            Kernel::Sum,
            blocks(eights),
            arguments![input, self.other, output, eights, least(self.relu)],
        );
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let (numbers, Links { output, gradient, inflow, .. }) = (batch * self.size, self.links);
        if self.relu {
            to.launch(Kernel::Mask, blocks(numbers / 8), arguments![gradient, output, numbers / 8]);
        }
        for flow in [self.other_inflow, inflow].into_iter().flatten() {
            deliver(gradient, flow, numbers, to);
        }
    }
}
