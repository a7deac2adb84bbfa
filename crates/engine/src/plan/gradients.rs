//! Where gradients lie: buffers take turns, as a gradient is needed only from its first reader to its producer.

use super::{
    Inflow,
    fuse::{Fused, Fusion},
};
use crate::architecture::Layer;

/// Where the gradients of one operation lie.
#[derive(Clone, Debug, Default)]
pub(crate) struct Route {
    /// The gradient of the output.
    pub(crate) gradient: usize,
    /// The gradient of the input, where anybody needs it.
    pub(crate) inflow: Option<Inflow>,
    /// The gradient of what is added.
    pub(crate) residual: Option<Inflow>,
    /// Whether the gradient of the output arrives with the ReLU's backward pass done.
    pub(crate) finished: bool,
}

/// The gradients of a whole network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    /// One for each operation; those that are not alive have none.
    pub(crate) operations: Vec<Option<Route>>,
    /// Numbers of one example that each buffer must hold.
    pub(crate) sizes: Vec<usize>,
    /// Where the gradient of the logits begins its way.
    pub(crate) logits: usize,
    /// Where the gradient of the network's input ends up.
    pub(crate) input: Option<usize>,
}

/// Buffers in use and free.
#[derive(Default)]
struct Slots {
    sizes: Vec<usize>,
    free: Vec<usize>,
    /// The slot of each value whose gradient is on its way.
    of: Vec<Option<usize>>,
}

impl Slots {
    /// A free buffer, the one closest in size, or a new one.
    fn take(&mut self, size: usize) -> usize {
        let best = (0..self.free.len()).min_by_key(|&index| self.sizes[self.free[index]].abs_diff(size));
        let slot = best.map_or(self.sizes.len(), |index| self.free.swap_remove(index));
        self.sizes.resize(self.sizes.len().max(slot + 1), 0);
        self.sizes[slot] = self.sizes[slot].max(size);
        slot
    }
}

impl Fused<'_> {
    /// Whether its backward pass can leave the gradient of the input where that of the output was.
    fn in_place(&self) -> bool {
        matches!(self.node.layer, Layer::BatchNorm | Layer::Relu | Layer::Add | Layer::Dropout { .. })
    }

    /// Whether it is a convolution or a linear layer.
    pub(crate) fn is_product(&self) -> bool {
        matches!(self.node.layer, Layer::Convolution(_) | Layer::Linear { .. })
    }
}

/// Routes all gradients; `input_gradient` asks for that of the network's input, too.
pub(crate) fn route(fusion: &Fusion<'_>, input_gradient: bool) -> Routes {
    let needed = needed(fusion, input_gradient);
    let size = |value: usize| fusion.shapes[value].size();
    let mut slots = Slots { of: vec![None; fusion.shapes.len()], ..Slots::default() };
    let logits = slots.take(size(fusion.output));
    slots.of[fusion.output] = Some(logits);
    let mut routes: Vec<Option<Route>> = vec![None; fusion.operations.len()];
    for (index, fused) in fusion.operations.iter().enumerate().rev().filter(|(_, fused)| fused.alive) {
        let Some(gradient) = slots.of[fused.output] else { continue };
        let mut kept = false;
        let mut flow = |value: usize, may_keep: bool| {
            if !needed[value] {
                return None;
            }
            if let Some(slot) = slots.of[value] {
                return Some(Inflow { slot, add: true, activated: None });
            }
            let slot = if may_keep && !kept { gradient } else { slots.take(size(value)) };
            kept |= slot == gradient;
            slots.of[value] = Some(slot);
            Some(Inflow { slot, add: false, activated: None })
        };
        // What is added gets the gradient unchanged, so it is the first to take over the buffer.
        let residual = fused.residual.and_then(|value| flow(value, true));
        let mut inflow = flow(fused.input, fused.in_place());
        if let Some(inflow) = &mut inflow {
            inflow.activated = activated(fusion, index, fused.input);
        }
        routes[index] =
            Some(Route { gradient, inflow, residual, finished: finisher(fusion, fused.output).is_some() });
        if !kept {
            slots.free.push(gradient);
        }
    }
    Routes { operations: routes, input: slots.of[0], sizes: slots.sizes, logits }
}

/// Which values have a gradient anybody needs: those that depend on a parameter.
fn needed(fusion: &Fusion<'_>, input_gradient: bool) -> Vec<bool> {
    let mut needed = vec![false; fusion.shapes.len()];
    needed[0] = input_gradient;
    for fused in &fusion.operations {
        let trained = fused.is_product() || fused.node.layer == Layer::BatchNorm;
        needed[fused.output] =
            trained || needed[fused.input] || fused.residual.is_some_and(|value| needed[value]);
    }
    needed
}

/// The operation that completes the gradient of a value, if it is one that can do the backward pass of a ReLU as it
/// writes. The last to write is the first that read.
fn finisher(fusion: &Fusion<'_>, value: usize) -> Option<usize> {
    let reads = |fused: &Fused<'_>| fused.alive && (fused.input == value || fused.residual == Some(value));
    let mut readers = fusion.operations.iter().enumerate().filter(|(_, fused)| reads(fused));
    let (index, first) = readers.next()?;
    // A pool knows only of its own part, so it must be the only part.
    let pool = matches!(first.node.layer, Layer::MaxPool(_)) && readers.next().is_none();
    (first.is_product() || pool).then_some(index)
}

/// The ReLU's value whose backward pass operation `index` does as it writes the gradient of its input.
fn activated(fusion: &Fusion<'_>, index: usize, value: usize) -> Option<usize> {
    let relu = fusion.operations.iter().any(|fused| fused.output == value && fused.relu);
    (relu && finisher(fusion, value) == Some(index)).then_some(value)
}
