//! Logistic regression: every class a weighted sum of the inputs.

use super::ModelOptions;
use crate::{
    Error,
    architecture::{Architecture, Layer},
};

/// One linear layer, `linear`, on the flattened input.
pub(super) fn linear(options: &ModelOptions) -> Result<Architecture, Error> {
    let mut net = Architecture::new("linear", options.input);
    let row = net.then("flatten", Layer::Flatten, net.input())?;
    net.then("linear", Layer::Linear { outputs: options.classes }, row)?;
    Ok(net)
}
