//! The paper's network for MNIST: four 3x3 convolutions, a pool, two linear layers; 885,610 parameters.
//!
//! Zhang, Niu and Sugiyama, ICML 2021, appendix; the order of dropout and ReLU is that of the authors' code.

use super::ModelOptions;
use crate::{
    Error,
    architecture::{Architecture, Convolution, Layer, Window},
};

/// `conv1` to `conv4` without padding, a 2x2 pool, `fc1`, dropout one half, `fc2`.
pub(super) fn mnist_cnn(options: &ModelOptions) -> Result<Architecture, Error> {
    let mut net = Architecture::new("mnist-cnn", options.input);
    let mut x = net.input();
    for (index, channels) in [32, 32, 64, 64].into_iter().enumerate() {
        let convolution = Layer::Convolution(Convolution::new(channels, 3));
        x = net.then(&format!("conv{}", index + 1), convolution, x)?;
        x = net.then(&format!("relu{}", index + 1), Layer::Relu, x)?;
    }
    x = net.then("pool", Layer::MaxPool(Window { kernel: 2, stride: 2, padding: 0 }), x)?;
    x = net.then("flatten", Layer::Flatten, x)?;
    x = net.then("fc1", Layer::Linear { outputs: 128 }, x)?;
    x = net.then("dropout", Layer::Dropout { rate: 0.5 }, x)?;
    x = net.then("relu5", Layer::Relu, x)?;
    net.then("fc2", Layer::Linear { outputs: options.classes }, x)?;
    Ok(net)
}
