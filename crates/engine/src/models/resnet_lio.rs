//! ResNet-18 as the paper's authors ran it on CIFAR, with the slip in its blocks.
//!
//! The block means to be a pre-activation block, and computes ReLU(BN(x)) first; but its main branch reads the raw x.
//! Only a shortcut convolution sees the activated input, so in blocks with an identity shortcut the first batch norm
//! is dead: no gradient reaches it, only its running statistics move. There is no batch norm after the stem nor
//! before the pool. The numbers of the paper come from this network; `resnet18` is the one to use otherwise.
//!
//! Zhang, Niu and Sugiyama, ICML 2021.

use super::ModelOptions;
use crate::{
    Error,
    architecture::{Architecture, Convolution, Layer, Value, Window},
};

/// The authors' network: 11,171,146 parameters for ten classes, those of the dead batch norms included.
pub(super) fn resnet18_lio(options: &ModelOptions) -> Result<Architecture, Error> {
    let mut net = Architecture::new("resnet18-lio", options.input);
    let mut x = net.then("conv1", Layer::Convolution(Convolution::same(64, 3, 1)), net.input())?;
    for (stage, channels) in [64, 128, 256, 512].into_iter().enumerate() {
        for block in 0..2 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            x = slipped(
                &mut net,
                &format!("layer{}.{block}", stage + 1),
                Convolution::same(channels, 3, stride),
                x,
            )?;
        }
    }
    x = net.then("avgpool", Layer::AveragePool(Window { kernel: 4, stride: 4, padding: 0 }), x)?;
    x = net.then("flatten", Layer::Flatten, x)?;
    net.then("fc", Layer::Linear { outputs: options.classes }, x)?;
    Ok(net)
}

/// conv - BN - ReLU - conv of the raw input, plus the input or a 1x1 convolution of its activation.
fn slipped(net: &mut Architecture, name: &str, first: Convolution, input: Value) -> Result<Value, Error> {
    let activated = net.then(&format!("{name}.bn1"), Layer::BatchNorm, input)?;
    let mut shortcut = input;
    if first.stride > 1 || net.shape(input).channels != first.channels {
        shortcut = net.then(&format!("{name}.relu1"), Layer::Relu, activated)?;
        let narrow = Convolution::same(first.channels, 1, first.stride);
        shortcut = net.then(&format!("{name}.shortcut"), Layer::Convolution(narrow), shortcut)?;
    }
    let mut x = net.then(&format!("{name}.conv1"), Layer::Convolution(first), input)?;
    x = net.then(&format!("{name}.bn2"), Layer::BatchNorm, x)?;
    x = net.then(&format!("{name}.relu2"), Layer::Relu, x)?;
    x = net.then(&format!("{name}.conv2"), Layer::Convolution(Convolution { stride: 1, ..first }), x)?;
    net.sum(&format!("{name}.add"), x, shortcut)
}
