//! A network as data: layers, what flows between them, and the parameters they need.
//!
//! Shapes are checked as layers are added, so an [`Architecture`] that exists can be planned. Parameters are named
//! and shaped as PyTorch names and shapes them: `conv1.weight` is [out, in, height, width].

mod layer;
mod parameter;

use std::fmt;

pub use layer::{Convolution, Layer, Window};
pub use parameter::{ParameterSpec, Role};

use crate::Error;

/// Height, width and channels of one example; a row of numbers is 1 by 1 by its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// Numbers in a pixel.
    pub channels: usize,
}

/// What a layer puts out, or the input of the network: something that flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(pub(crate) usize);

impl Value {
    /// Zero for the input of the network, and one more than the place of its layer for everything else.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// A layer with its name, its inputs, and the shape of what it puts out.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name its parameters begin with.
    pub name: String,
    /// What it computes.
    pub layer: Layer,
    /// What flows in: one value, or two for [`Layer::Add`].
    pub inputs: Vec<Value>,
    /// The shape of what flows out.
    pub output: Shape,
}

/// Layers in the order they run; the last one puts out the logits.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    name: String,
    input: Shape,
    nodes: Vec<Node>,
}

impl Architecture {
    /// An architecture without layers yet, for inputs of this shape.
    #[must_use]
    pub fn new(name: &str, input: Shape) -> Self {
        Self { name: name.into(), input, nodes: Vec::new() }
    }

    /// The name errors call it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shape of an example.
    #[must_use]
    pub fn input_shape(&self) -> Shape {
        self.input
    }

    /// The shape of what the last layer puts out.
    #[must_use]
    pub fn output_shape(&self) -> Shape {
        self.nodes.last().map_or(self.input, |node| node.output)
    }

    /// The layers in the order they run.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The input of the network, to begin with.
    #[must_use]
    pub fn input(&self) -> Value {
        Value(0)
    }

    /// The shape of a value.
    #[must_use]
    pub fn shape(&self, value: Value) -> Shape {
        value.0.checked_sub(1).map_or(self.input, |node| self.nodes[node].output)
    }

    /// Adds a layer that reads `from`, and says what it puts out.
    pub fn then(&mut self, name: &str, layer: Layer, from: Value) -> Result<Value, Error> {
        let output = layer.output(name, self.shape(from))?;
        self.push(name, layer, vec![from], output)
    }

    /// Adds the sum of two values.
    pub fn sum(&mut self, name: &str, a: Value, b: Value) -> Result<Value, Error> {
        let (left, right) = (self.shape(a), self.shape(b));
        if left != right {
            return Err(Error::layer(name, format!("two values of shape {left}"), right));
        }
        self.push(name, Layer::Add, vec![a, b], left)
    }

    fn push(&mut self, name: &str, layer: Layer, inputs: Vec<Value>, output: Shape) -> Result<Value, Error> {
        if self.nodes.iter().any(|node| node.name == name) {
            return Err(Error::LayerTwice { layer: name.into() });
        }
        self.nodes.push(Node { name: name.into(), layer, inputs, output });
        Ok(Value(self.nodes.len()))
    }

    /// Every parameter and running statistic, in the order of the layers.
    #[must_use]
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let of = |node: &Node| node.layer.parameters(&node.name, self.shape(node.inputs[0]));
        self.nodes.iter().flat_map(of).collect()
    }

    /// How many numbers are trained, those included that no gradient reaches.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        let size = |spec: &ParameterSpec| spec.shape.iter().product::<usize>();
        self.parameters().iter().filter(|spec| spec.role.is_trained()).map(size).sum()
    }
}

impl Shape {
    /// An image.
    #[must_use]
    pub fn image(height: usize, width: usize, channels: usize) -> Self {
        Self { height, width, channels }
    }

    /// A row of numbers.
    #[must_use]
    pub fn row(length: usize) -> Self {
        Self::image(1, 1, length)
    }

    /// How many numbers there are.
    #[must_use]
    pub fn size(self) -> usize {
        self.height * self.width * self.channels
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} pixels of {} channels", self.height, self.width, self.channels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn then(layer: Layer, shape: Shape) -> Result<Shape, Error> {
        let mut net = Architecture::new("test", shape);
        net.then("it", layer, net.input()).map(|value| net.shape(value))
    }

    #[test]
    fn shapes_follow_from_the_layers() {
        let image = Shape::image(7, 9, 3);
        let window = Window { kernel: 3, stride: 2, padding: 1 };
        assert_eq!(then(Layer::Convolution(Convolution::new(5, 3)), image).unwrap(), Shape::image(5, 7, 5));
        assert_eq!(
            then(Layer::Convolution(Convolution::same(5, 3, 2)), image).unwrap(),
            Shape::image(4, 5, 5)
        );
        assert_eq!(then(Layer::MaxPool(window), image).unwrap(), Shape::image(4, 5, 3));
        assert_eq!(then(Layer::GlobalAveragePool, image).unwrap(), Shape::row(3));
        assert_eq!(then(Layer::Flatten, image).unwrap(), Shape::row(189));
        assert_eq!(then(Layer::BatchNorm, image).unwrap(), image);
    }

    #[test]
    fn a_layer_that_does_not_fit_is_named() {
        let error = then(Layer::Convolution(Convolution::new(5, 4)), Shape::image(3, 9, 1)).unwrap_err();
        let expected = "layer `it`: expected an image of at least 4x4 pixels, found 3x9 pixels of 1 channels";
        assert_eq!(error.to_string(), expected);
        let error = then(Layer::Linear { outputs: 5 }, Shape::image(3, 9, 1)).unwrap_err();
        assert!(error.to_string().contains("`it`: expected a row of numbers"), "{error}");
        let error = then(Layer::Dropout { rate: 1.0 }, Shape::row(3)).unwrap_err();
        assert!(error.to_string().contains("dropout rate in [0, 1), found 1"), "{error}");
    }

    #[test]
    fn a_sum_of_two_shapes_is_refused() {
        let mut net = Architecture::new("test", Shape::row(4));
        let narrow = net.then("narrow", Layer::Linear { outputs: 3 }, net.input()).unwrap();
        let error = net.sum("sum", net.input(), narrow).unwrap_err();
        assert!(error.to_string().contains("`sum`"), "{error}");
    }

    #[test]
    fn a_name_is_taken_once() {
        let mut net = Architecture::new("test", Shape::row(4));
        let first = net.then("same", Layer::Relu, net.input()).unwrap();
        let error = net.then("same", Layer::Relu, first).unwrap_err();
        assert_eq!(error.to_string(), "layer `same` is there twice: expected a name of its own");
    }
}
