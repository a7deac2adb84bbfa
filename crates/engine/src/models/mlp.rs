//! The multilayer perceptron: linear layers with ReLU between them.

use super::ModelOptions;
use crate::{
    Error,
    architecture::{Architecture, Layer},
};

/// Linear layers `linear1`, `linear2`, ... of the sizes asked for, and one for the classes.
pub(super) fn mlp(options: &ModelOptions) -> Result<Architecture, Error> {
    let mut net = Architecture::new("mlp", options.input);
    let mut x = net.then("flatten", Layer::Flatten, net.input())?;
    for (index, &outputs) in options.hidden.iter().enumerate() {
        x = net.then(&format!("linear{}", index + 1), Layer::Linear { outputs }, x)?;
        x = net.then(&format!("relu{}", index + 1), Layer::Relu, x)?;
    }
    let last = format!("linear{}", options.hidden.len() + 1);
    net.then(&last, Layer::Linear { outputs: options.classes }, x)?;
    Ok(net)
}
