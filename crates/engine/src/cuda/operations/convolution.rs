//! A convolution, with its bias and the ReLU after it.

use super::{Links, Operation, Pass, Sums, Trained, least};
use crate::cuda::{
    command::{Commands, Convolve, Direction, Geometry, arguments},
    kernel::{Kernel, Walk, blocks},
    layout::Place,
};

/// A convolution with its place in the plan.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Convolution {
    /// Its shape for one example.
    pub(in crate::cuda) geometry: Geometry,
    pub(in crate::cuda) links: Links,
    /// The filter as convolutions take it, and its gradient.
    pub(in crate::cuda) filter: Trained,
    pub(in crate::cuda) bias: Option<Trained>,
    pub(in crate::cuda) relu: bool,
    pub(in crate::cuda) sums: Sums,
}

impl Convolution {
    fn pass(&self, batch: usize, direction: Direction, places: [Place; 3]) -> Convolve {
        let [input, filter, output] = places;
        let bias = matches!(direction, Direction::Biased { .. }).then_some(self.bias).flatten();
        let geometry = Geometry { batch, ..self.geometry };
        Convolve { geometry, direction, input, filter, output, bias: bias.map(|bias| bias.value) }
    }

    /// Rows of the output's channels.
    fn rows(&self, batch: usize) -> usize {
        let (height, width) = self.geometry.output();
        batch * height * width
    }
}

impl Operation for Convolution {
    fn forward(&self, pass: Pass, to: &mut Commands) {
        let places = [self.links.input, self.filter.value, self.links.output];
        let (relu, biased) = (self.relu, self.bias.is_some());
        let direction = if biased { Direction::Biased { relu } } else { Direction::Forward };
        to.convolve(self.pass(pass.batch, direction, places));
        if relu && !biased {
            let eights = self.rows(pass.batch) * self.geometry.outputs / 8;
            let output = self.links.output;
            to.launch(Kernel::Sum, blocks(eights), arguments![output, None, output, eights, least(true)]);
        }
    }

    fn backward(&self, batch: usize, to: &mut Commands) {
        let (rows, channels) = (self.rows(batch), self.geometry.outputs);
        let Links { input, output, gradient, inflow } = self.links;
        if let Some(bias) = self.bias {
            let walk = Walk::new(rows, channels);
            let known = self.relu.then_some(output);
            let Sums { partials, arrived, .. } = self.sums;
            to.launch(
                Kernel::BiasReduce,
                walk.summing(),
                arguments![gradient, known, partials, arrived, bias.slope, rows, channels, walk.lanes],
            );
        } else if self.relu {
            let eights = rows * channels / 8;
            to.launch(Kernel::Mask, blocks(eights), arguments![gradient, output, eights]);
        }
        if let Some(flow) = inflow {
            let direction = Direction::Data { add: flow.add };
            to.convolve(self.pass(batch, direction, [flow.to, self.filter.value, gradient]));
        }
        // What comes next moves memory and this one multiplies, so that they run well beside each other.
        to.convolve(self.pass(batch, Direction::Filter, [input, self.filter.slope, gradient]));
    }
}
