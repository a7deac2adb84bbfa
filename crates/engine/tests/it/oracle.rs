//! A network in double precision, layer by layer and number by number: slow, and easy to believe.
//!
//! It knows the forward pass in training mode only; gradients are finite differences of it. Images lie channels first,
//! as in PyTorch, so that it shares no layout with the engine.

use std::collections::BTreeMap;

use cleanest_engine::{
    Architecture, Shape,
    architecture::{Convolution, Layer, Node, Window},
};

/// Parameters by name, in double precision.
pub(crate) type Numbers = BTreeMap<String, Vec<f64>>;

/// What the last layer puts out for a batch, channels first.
pub(crate) fn forward(architecture: &Architecture, parameters: &Numbers, input: &[f64]) -> Vec<f64> {
    let batch = input.len() / architecture.input_shape().size();
    let mut values = vec![input.to_vec()];
    let mut shapes = vec![architecture.input_shape()];
    for node in architecture.nodes() {
        let inputs: Vec<&[f64]> = node.inputs.iter().map(|value| values[value.index()].as_slice()).collect();
        let shape = shapes[node.inputs[0].index()];
        let output = layer(node, &inputs, (shape, batch), parameters);
        values.push(output);
        shapes.push(node.output);
    }
    values.pop().unwrap()
}

fn layer(node: &Node, inputs: &[&[f64]], (shape, batch): (Shape, usize), parameters: &Numbers) -> Vec<f64> {
    let of = |what: &str| parameters.get(&format!("{}.{what}", node.name)).map_or(&[][..], Vec::as_slice);
    let x = inputs[0];
    match node.layer {
        Layer::Convolution(settings) => {
            convolution(settings, x, (shape, node.output, batch), (of("weight"), of("bias")))
        }
        Layer::Linear { outputs } => {
            let settings = Convolution { channels: outputs, kernel: 1, stride: 1, padding: 0, bias: true };
            convolution(settings, x, (shape, node.output, batch), (of("weight"), of("bias")))
        }
        Layer::BatchNorm => batch_norm(x, shape, (of("weight"), of("bias"))),
        Layer::Relu => x.iter().map(|x| x.max(0.0)).collect(),
        Layer::Add => x.iter().zip(inputs[1]).map(|(a, b)| a + b).collect(),
        Layer::MaxPool(window) => pool(window, x, (shape, node.output, batch), |numbers| {
            numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        }),
        Layer::AveragePool(window) => pool(window, x, (shape, node.output, batch), |numbers| {
            numbers.iter().sum::<f64>() / (window.kernel * window.kernel) as f64
        }),
        Layer::GlobalAveragePool => {
            let pixels = shape.height * shape.width;
            x.chunks(pixels).map(|image| image.iter().sum::<f64>() / pixels as f64).collect()
        }
        Layer::Flatten => x.to_vec(),
        Layer::Dropout { rate } => {
            assert!(rate == 0.0, "an oracle does not gamble");
            x.to_vec()
        }
    }
}

fn convolution(
    settings: Convolution,
    x: &[f64],
    (input, output, batch): (Shape, Shape, usize),
    (weight, bias): (&[f64], &[f64]),
) -> Vec<f64> {
    let Convolution { kernel, stride, padding, .. } = settings;
    let mut y = Vec::with_capacity(batch * output.size());
    for (n, o) in (0..batch).flat_map(|n| (0..output.channels).map(move |o| (n, o))) {
        for (row, column) in
            (0..output.height).flat_map(|row| (0..output.width).map(move |column| (row, column)))
        {
            let mut sum = bias.get(o).copied().unwrap_or(0.0);
            for (c, tap) in (0..input.channels).flat_map(|c| (0..kernel * kernel).map(move |tap| (c, tap))) {
                let (y, x_) = (row * stride + tap / kernel, column * stride + tap % kernel);
                if (padding..input.height + padding).contains(&y)
                    && (padding..input.width + padding).contains(&x_)
                {
                    let pixel =
                        ((n * input.channels + c) * input.height + y - padding) * input.width + x_ - padding;
                    sum += x[pixel] * weight[(o * input.channels + c) * kernel * kernel + tap];
                }
            }
            y.push(sum);
        }
    }
    y
}

fn batch_norm(x: &[f64], shape: Shape, (scale, shift): (&[f64], &[f64])) -> Vec<f64> {
    let pixels = shape.height * shape.width;
    let channel = |index: usize| index / pixels % shape.channels;
    let mut y = x.to_vec();
    for c in 0..shape.channels {
        let mine: Vec<f64> =
            x.iter().enumerate().filter(|(i, _)| channel(*i) == c).map(|(_, x)| *x).collect();
        let mean = mine.iter().sum::<f64>() / mine.len() as f64;
        let variance = mine.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / mine.len() as f64;
        for (index, y) in y.iter_mut().enumerate().filter(|(index, _)| channel(*index) == c) {
            *y = (x[index] - mean) / (variance + 1e-5).sqrt() * scale[c] + shift[c];
        }
    }
    y
}

fn pool(
    window: Window,
    x: &[f64],
    (input, output, batch): (Shape, Shape, usize),
    of: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let Window { kernel, stride, padding } = window;
    let mut y = Vec::with_capacity(batch * output.size());
    for image in x.chunks(input.height * input.width) {
        for (row, column) in
            (0..output.height).flat_map(|row| (0..output.width).map(move |column| (row, column)))
        {
            let under = (0..kernel * kernel).filter_map(|tap| {
                let (y, x) = (row * stride + tap / kernel, column * stride + tap % kernel);
                let (y, x) = (y.checked_sub(padding)?, x.checked_sub(padding)?);
                (y < input.height && x < input.width).then(|| image[y * input.width + x])
            });
            y.push(of(&under.collect::<Vec<_>>()));
        }
    }
    y
}
