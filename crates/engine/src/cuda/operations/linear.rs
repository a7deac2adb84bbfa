//! A linear layer, with its bias and the ReLU after it: three products.

use super::{Links, Operation, Pass, Sums, Trained, least};
use crate::cuda::{
    command::{Commands, Multiply, Operand, arguments},
    kernel::{Kernel, Walk, blocks},
    layout::Place,
};

/// A linear layer with its place in the plan.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Linear {
    /// Numbers of an example, padding included.
    pub(in crate::cuda) inputs: usize,
    pub(in crate::cuda) outputs: usize,
    pub(in crate::cuda) links: Links,
    pub(in crate::cuda) filter: Trained,
    pub(in crate::cuda) bias: Trained,
    pub(in crate::cuda) relu: bool,
    pub(in crate::cuda) sums: Sums,
    /// Where the logits go, without padding and in single precision, and how many there are, if these are the logits.
    pub(in crate::cuda) logits: Option<(Place, usize)>,
}

fn operand(at: Place, leading: usize, transposed: bool) -> Operand {
    Operand { at, leading, transposed }
}

impl Operation for Linear {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let (batch, inputs, outputs) = (pass.batch, self.inputs, self.outputs);
        to.multiply(Multiply {
            size: [outputs, batch, inputs],
            a: operand(self.filter.value, inputs, true),
            b: operand(self.links.input, inputs, false),
            c: self.links.output,
            single: self.logits.is_some(),
            add: false,
        });
        let output = self.links.output;
        if let Some((logits, classes)) = self.logits {
            let arguments = arguments![output, self.bias.value, logits, batch, classes, outputs];
            to.launch(Kernel::LogitsFinish, blocks(batch * classes), arguments);
        } else {
            let walk = Walk::new(batch, outputs);
            let arguments = arguments![output, self.bias.value, batch, outputs, walk.lanes, least(self.relu)];
            to.launch(Kernel::BiasAdd, walk.passing(), arguments);
        }
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let Links { input, output, gradient, inflow } = self.links;
        let walk = Walk::new(batch, outputs);
        let known = self.relu.then_some(output);
        let Sums { partials, arrived, .. } = self.sums;
        to.launch(
            Kernel::BiasReduce,
            walk.summing(),
            arguments![gradient, known, partials, arrived, self.bias.slope, batch, outputs, walk.lanes],
        );
        to.multiply(Multiply {
            size: [inputs, outputs, batch],
            a: operand(input, inputs, false),
            b: operand(gradient, outputs, true),
            c: self.filter.slope,
            single: false,
            add: false,
        });
        if let Some(flow) = inflow {
            to.multiply(Multiply {
                size: [inputs, batch, outputs],
                a: operand(self.filter.value, inputs, false),
                b: operand(gradient, outputs, false),
                c: flow.to,
                single: false,
                add: flow.add,
            });
        }
    }
}
