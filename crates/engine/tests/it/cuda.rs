//! What the tests of the GPU share. They are ignored where there is none: `bench/gpu-tests` runs them all.
//!
//! Each prints what it measured. Tolerances are shares of the largest number: 5e-6 in single precision, 4e-3 where factors
//! are rounded to TF32, and 2e-2 where activations and gradients are bf16.

use cleanest_engine::{
    Architecture, Input, Matrix, Mode, Network, Parameters,
    cuda::{self, Precision, Settings},
};

use crate::check::{apart, wide};

/// Each precision with how far it may be off.
pub(crate) const PRECISIONS: [(Precision, f64); 3] =
    [(Precision::F32, 5e-6), (Precision::Tf32, 4e-3), (Precision::Bf16, 2e-2)];

/// A network on the first GPU that also gives the gradient of its input.
pub(crate) fn planned(architecture: &Architecture, settings: &Settings) -> Box<dyn Network> {
    cuda::network(architecture, &Settings { input_gradient: true, ..settings.clone() }).unwrap()
}

/// Outputs and gradients of one training batch.
pub(crate) struct Pass {
    pub(crate) logits: Vec<f32>,
    pub(crate) input: Vec<f32>,
    pub(crate) gradients: Parameters,
    pub(crate) after: Parameters,
}

impl Pass {
    /// Takes a network through a batch and back.
    pub(crate) fn of(network: &mut dyn Network, x: &[f32], gradient: &[f32]) -> Self {
        let logits = network.forward(&Input::Rows(x), Mode::Train).unwrap().clone();
        let gradient = Matrix::from_values(logits.rows(), logits.columns(), gradient.to_vec()).unwrap();
        network.backward(&gradient).unwrap();
        Self {
            logits: logits.values().to_vec(),
            input: network.input_gradient().unwrap().values().to_vec(),
            gradients: network.gradients().unwrap(),
            after: network.parameters().unwrap(),
        }
    }

    /// How far it is from another, by part: logits, gradient of the input, gradients of parameters, statistics.
    pub(crate) fn apart(&self, other: &Self) -> [f64; 4] {
        let most = |a: &Parameters, b: &Parameters, keep: &dyn Fn(&str) -> bool| {
            let pairs = a.iter().filter(|(name, _)| keep(name));
            pairs
                .map(|(name, tensor)| apart(&tensor.values, &wide(&b.tensor(name).unwrap().values)))
                .fold(0.0, f64::max)
        };
        [
            apart(&self.logits, &wide(&other.logits)),
            apart(&self.input, &wide(&other.input)),
            most(&self.gradients, &other.gradients, &|_| true),
            most(&self.after, &other.after, &|name| name.contains("running")),
        ]
    }
}

/// Says what was measured, and fails where it is too much.
pub(crate) fn judge(what: &str, errors: &[f64], tolerance: f64, failed: &mut Vec<String>) {
    let most = errors.iter().copied().fold(0.0, f64::max);
    let parts: Vec<String> = errors.iter().map(|error| format!("{error:.1e}")).collect();
    let verdict = if most <= tolerance { "ok" } else { "FAILED" };
    println!("{verdict} {what}: off by {} (may be {tolerance:.0e})", parts.join(", "));
    if most > tolerance {
        failed.push(what.to_owned());
    }
}
