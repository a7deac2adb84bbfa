//! Residual networks: blocks that add what they compute to what they were given.
//!
//! He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016. Parameters have the names of
//! torchvision, so its files load: `layer1.0.conv1.weight`, `layer2.0.downsample.0.weight`, `fc.bias`.

use super::ModelOptions;
use crate::{
    Error,
    architecture::{Architecture, Convolution, Layer, Value, Window},
};

/// How many times wider than its middle a bottleneck block ends.
const EXPANSION: usize = 4;

/// ResNet-18 for images of 32 pixels: the stem is a 3x3 convolution and no pool follows it.
pub(super) fn resnet18(options: &ModelOptions) -> Result<Architecture, Error> {
    let mut net = Architecture::new("resnet18", options.input);
    let mut x = net.then("conv1", Layer::Convolution(Convolution::same(64, 3, 1)), net.input())?;
    x = normalize(&mut net, "bn1", x)?;
    x = net.then("relu", Layer::Relu, x)?;
    for (stage, channels) in [64, 128, 256, 512].into_iter().enumerate() {
        for block in 0..2 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            x = basic(&mut net, &format!("layer{}.{block}", stage + 1), (channels, stride), x)?;
        }
    }
    classify(net, x, options.classes)
}

/// ResNet-50 as published for ImageNet: a 7x7 stem, a pool, and bottleneck blocks.
pub(super) fn resnet50(options: &ModelOptions) -> Result<Architecture, Error> {
    let mut net = Architecture::new("resnet50", options.input);
    let mut x = net.then("conv1", Layer::Convolution(Convolution::same(64, 7, 2)), net.input())?;
    x = normalize(&mut net, "bn1", x)?;
    x = net.then("relu", Layer::Relu, x)?;
    x = net.then("maxpool", Layer::MaxPool(Window { kernel: 3, stride: 2, padding: 1 }), x)?;
    for (stage, (channels, blocks)) in [(64, 3), (128, 4), (256, 6), (512, 3)].into_iter().enumerate() {
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            x = bottleneck(&mut net, &format!("layer{}.{block}", stage + 1), (channels, stride), x)?;
        }
    }
    classify(net, x, options.classes)
}

/// Two 3x3 convolutions beside a shortcut; `size` is channels and stride.
fn basic(net: &mut Architecture, name: &str, size: (usize, usize), input: Value) -> Result<Value, Error> {
    let (channels, stride) = size;
    let mut x = convolve(net, &format!("{name}.conv1"), Convolution::same(channels, 3, stride), input)?;
    x = normalize(net, &format!("{name}.bn1"), x)?;
    x = net.then(&format!("{name}.relu1"), Layer::Relu, x)?;
    x = convolve(net, &format!("{name}.conv2"), Convolution::same(channels, 3, 1), x)?;
    x = normalize(net, &format!("{name}.bn2"), x)?;
    join(net, name, (channels, stride), (x, input))
}

/// A 3x3 convolution between two of 1x1 that narrow and widen; the stride is the 3x3's, as in torchvision.
fn bottleneck(
    net: &mut Architecture,
    name: &str,
    size: (usize, usize),
    input: Value,
) -> Result<Value, Error> {
    let (channels, stride) = size;
    let mut x = convolve(net, &format!("{name}.conv1"), Convolution::same(channels, 1, 1), input)?;
    x = normalize(net, &format!("{name}.bn1"), x)?;
    x = net.then(&format!("{name}.relu1"), Layer::Relu, x)?;
    x = convolve(net, &format!("{name}.conv2"), Convolution::same(channels, 3, stride), x)?;
    x = normalize(net, &format!("{name}.bn2"), x)?;
    x = net.then(&format!("{name}.relu2"), Layer::Relu, x)?;
    x = convolve(net, &format!("{name}.conv3"), Convolution::same(EXPANSION * channels, 1, 1), x)?;
    x = normalize(net, &format!("{name}.bn3"), x)?;
    join(net, name, (EXPANSION * channels, stride), (x, input))
}

/// Adds the shortcut, which is a 1x1 convolution where the shape changes, and takes the positive part.
fn join(
    net: &mut Architecture,
    name: &str,
    size: (usize, usize),
    (x, input): (Value, Value),
) -> Result<Value, Error> {
    let (channels, stride) = size;
    let mut shortcut = input;
    if stride > 1 || net.shape(input).channels != channels {
        let convolution = Convolution::same(channels, 1, stride);
        shortcut = convolve(net, &format!("{name}.downsample.0"), convolution, input)?;
        shortcut = normalize(net, &format!("{name}.downsample.1"), shortcut)?;
    }
    let sum = net.sum(&format!("{name}.add"), x, shortcut)?;
    net.then(&format!("{name}.relu"), Layer::Relu, sum)
}

/// The mean of each channel, and the linear layer `fc`.
fn classify(mut net: Architecture, x: Value, classes: usize) -> Result<Architecture, Error> {
    let pooled = net.then("avgpool", Layer::GlobalAveragePool, x)?;
    net.then("fc", Layer::Linear { outputs: classes }, pooled)?;
    Ok(net)
}

fn convolve(net: &mut Architecture, name: &str, settings: Convolution, from: Value) -> Result<Value, Error> {
    net.then(name, Layer::Convolution(settings), from)
}

fn normalize(net: &mut Architecture, name: &str, from: Value) -> Result<Value, Error> {
    net.then(name, Layer::BatchNorm, from)
}
