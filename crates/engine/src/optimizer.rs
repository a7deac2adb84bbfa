//! How a gradient becomes a step: Adam and SGD, as PyTorch defines them.

use serde::{Deserialize, Serialize};

use crate::Error;

/// Which optimizer, with its settings; the learning rate comes with every step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam.
    Adam(Adam),
    /// Stochastic gradient descent with momentum.
    Sgd(Sgd),
}

/// Settings of Adam (Kingma and Ba, 2015); the defaults are PyTorch's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// Share β₁ of the mean gradient kept at each step.
    pub beta1: f64,
    /// Share β₂ of the mean squared gradient kept at each step.
    pub beta2: f64,
    /// What is added to the root of the mean square, ε.
    pub epsilon: f64,
    /// Weight of the L2 penalty, added to the gradient.
    pub weight_decay: f64,
}

/// Settings of SGD; the defaults are PyTorch's, which are plain gradient descent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sgd {
    /// Share of the last step's direction that is kept.
    pub momentum: f64,
    /// Weight of the L2 penalty, added to the gradient of every parameter.
    pub weight_decay: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::Adam(Adam::default())
    }
}

impl Optimizer {
    /// What is remembered for every parameter, by the names PyTorch gives it.
    #[must_use]
    pub fn memories(&self) -> &'static [&'static str] {
        match self {
            Self::Adam(_) => &["exp_avg", "exp_avg_sq"],
            Self::Sgd(_) => &["momentum_buffer"],
        }
    }

    /// Refuses settings outside their range.
    pub fn check(&self) -> Result<(), Error> {
        let share = |key, value: f64| {
            let inside = (0.0..1.0).contains(&value);
            let error = || Error::Setting { key, expected: "in [0, 1)", found: value.to_string() };
            inside.then_some(()).ok_or_else(error)
        };
        let positive = |key, value: f64| {
            let inside = value >= 0.0 && value.is_finite();
            let error = || Error::Setting { key, expected: "zero or more", found: value.to_string() };
            inside.then_some(()).ok_or_else(error)
        };
        match *self {
            Self::Adam(Adam { beta1, beta2, epsilon, weight_decay }) => {
                share("beta1", beta1)?;
                share("beta2", beta2)?;
                positive("epsilon", epsilon)?;
                positive("weight_decay", weight_decay)
            }
            Self::Sgd(Sgd { momentum, weight_decay }) => {
                share("momentum", momentum)?;
                positive("weight_decay", weight_decay)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_outside_its_range_is_named() {
        let error = Optimizer::Adam(Adam { beta2: 1.0, ..Adam::default() }).check().unwrap_err();
        assert_eq!(error.to_string(), "`beta2` must be in [0, 1): 1");
        let error = Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: -1.0 }).check().unwrap_err();
        assert_eq!(error.to_string(), "`weight_decay` must be zero or more: -1");
        assert!(Optimizer::default().check().is_ok());
    }
}
