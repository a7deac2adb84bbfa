//! Which layers run as one operation.
//!
//! A ReLU joins the convolution, batch norm or sum before it, and a sum joins the batch norm before it, where nobody
//! else reads what lies between. A flatten is nothing at all: its output is its input.

use crate::{
    Error,
    architecture::{Architecture, Layer, Node, Shape, Value},
};

/// Layers that run as one operation.
#[derive(Clone, Debug)]
pub(crate) struct Fused<'a> {
    /// The layer that gives the operation its parameters.
    pub(crate) node: &'a Node,
    /// The value it reads.
    pub(crate) input: usize,
    /// The value a sum adds.
    pub(crate) residual: Option<usize>,
    pub(crate) relu: bool,
    /// The value it writes.
    pub(crate) output: usize,
    /// Whether the logits depend on it. What is not alive runs forward only, for its running statistics.
    pub(crate) alive: bool,
    /// Which batch norm it is, counted in the order they run.
    pub(crate) norm: Option<usize>,
}

/// The operations of an architecture, and the shape of every value they use.
#[derive(Clone, Debug)]
pub(crate) struct Fusion<'a> {
    pub(crate) operations: Vec<Fused<'a>>,
    /// The shape of each value before it was flattened, which is how it lies in memory.
    pub(crate) shapes: Vec<Shape>,
    /// The value the logits are.
    pub(crate) output: usize,
}

/// Fuses the layers of an architecture.
pub(crate) fn fuse(architecture: &Architecture) -> Result<Fusion<'_>, Error> {
    let nodes = architecture.nodes();
    let places = places(nodes);
    let mut shapes: Vec<Shape> = (0..=nodes.len()).map(|value| architecture.shape(Value(value))).collect();
    let mut joined = vec![false; nodes.len()];
    let mut operations = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let inputs = node.inputs.iter().map(|value| (architecture.shape(*value), shapes[places[value.0]]));
        check_order(node, inputs)?;
        if joined[index] || node.layer == Layer::Flatten {
            continue;
        }
        let input = places[node.inputs[0].0];
        let mut residual = node.inputs.get(1).map(|value| places[value.0]);
        let (mut relu, mut last) = (node.layer == Layer::Relu, index);
        if let Some((sum, other)) = following_sum(nodes, index, &joined) {
            (residual, last, joined[sum]) = (Some(places[other.0]), sum, true);
        }
        if let Some(next) = following_relu(nodes, node.layer, last) {
            (relu, last, joined[next]) = (true, next, true);
        }
        if matches!(node.layer, Layer::Relu | Layer::Dropout { .. }) {
            shapes[last + 1] = shapes[input];
        }
        operations.push(Fused { node, input, residual, relu, output: last + 1, alive: false, norm: None });
    }
    // An operation runs when its last layer would, and that layer's value is its output.
    operations.sort_by_key(|fused| fused.output);
    let norms = operations.iter_mut().filter(|fused| fused.node.layer == Layer::BatchNorm);
    norms.enumerate().for_each(|(index, fused)| fused.norm = Some(index));
    let output = places[nodes.len()];
    mark_alive(&mut operations, output);
    Ok(Fusion { operations, shapes, output })
}

/// Where each value lies: where its flattened input lies, or at a place of its own.
fn places(nodes: &[Node]) -> Vec<usize> {
    let mut places = vec![0];
    for (index, node) in nodes.iter().enumerate() {
        let flat = node.layer == Layer::Flatten;
        places.push(if flat { places[node.inputs[0].0] } else { index + 1 });
    }
    places
}

/// Flattened images lie channel last, other rows of numbers in their own order: only some layers may read the former.
fn check_order(node: &Node, inputs: impl Iterator<Item = (Shape, Shape)>) -> Result<(), Error> {
    let free =
        matches!(node.layer, Layer::Linear { .. } | Layer::Relu | Layer::Dropout { .. } | Layer::Flatten);
    for (seen, stored) in inputs {
        if seen != stored && !free {
            return Err(Error::layer(&node.name, "a linear layer between it and the flattened image", seen));
        }
    }
    Ok(())
}

/// The layer that reads what layer `index` puts out, where there is exactly one.
fn only_reader(nodes: &[Node], index: usize) -> Option<usize> {
    let reads = |node: &Node| node.inputs.iter().filter(|value| value.0 == index + 1).count();
    let mut readers = nodes.iter().enumerate().filter(|(_, node)| reads(node) > 0);
    let (reader, node) = readers.next()?;
    (readers.next().is_none() && reads(node) == 1).then_some(reader)
}

/// The sum a batch norm can join, and the other value it adds.
fn following_sum(nodes: &[Node], index: usize, joined: &[bool]) -> Option<(usize, Value)> {
    let sum = only_reader(nodes, index).filter(|_| nodes[index].layer == Layer::BatchNorm)?;
    let other = nodes[sum].inputs.iter().find(|value| value.0 != index + 1)?;
    (nodes[sum].layer == Layer::Add && !joined[sum]).then_some((sum, *other))
}

/// The ReLU that can join an operation which began with `layer` and now ends with layer `last`.
fn following_relu(nodes: &[Node], layer: Layer, last: usize) -> Option<usize> {
    use Layer::{Add, BatchNorm, Convolution, Linear};
    let takes = matches!(layer, Convolution(_) | Linear { .. } | BatchNorm | Add);
    only_reader(nodes, last).filter(|&next| takes && nodes[next].layer == Layer::Relu)
}

/// Marks what the logits depend on, from the last operation to the first.
fn mark_alive(operations: &mut [Fused<'_>], output: usize) {
    let mut needed = vec![output];
    for fused in operations.iter_mut().rev() {
        fused.alive = needed.contains(&fused.output);
        if fused.alive {
            needed.push(fused.input);
            needed.extend(fused.residual);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, ModelOptions};

    fn operations(model: Model, input: Shape) -> Vec<(String, bool, bool, bool)> {
        let architecture = model.build(&ModelOptions::new(input, 10)).unwrap();
        let fusion = fuse(&architecture).unwrap();
        let tell = |f: &Fused<'_>| (f.node.name.clone(), f.residual.is_some(), f.relu, f.alive);
        fusion.operations.iter().map(tell).collect()
    }

    #[test]
    fn a_residual_block_is_four_operations_or_six() {
        let operations = operations(Model::Resnet18, Shape::image(32, 32, 3));
        assert_eq!(operations.len(), 2 + 5 * 4 + 3 * 6 + 2);
        assert!(operations.contains(&("layer1.0.bn2".into(), true, true, true)));
        assert!(operations.contains(&("layer2.0.bn2".into(), true, true, true)));
        assert!(operations.contains(&("layer2.0.downsample.1".into(), false, false, true)));
    }

    #[test]
    fn the_dead_norms_of_the_authors_network_are_known() {
        let operations = operations(Model::Resnet18Lio, Shape::image(32, 32, 3));
        let dead: Vec<_> = operations.iter().filter(|o| !o.3).map(|o| o.0.as_str()).collect();
        assert_eq!(dead, ["layer1.0.bn1", "layer1.1.bn1", "layer2.1.bn1", "layer3.1.bn1", "layer4.1.bn1"]);
    }

    #[test]
    fn a_norm_of_a_flattened_image_is_refused_by_name() {
        let mut net = Architecture::new("test", Shape::image(2, 2, 3));
        let row = net.then("flatten", Layer::Flatten, net.input()).unwrap();
        net.then("norm", Layer::BatchNorm, row).unwrap();
        let error = fuse(&net).unwrap_err();
        assert!(error.to_string().starts_with("layer `norm`: expected a linear layer between"), "{error}");
    }
}
