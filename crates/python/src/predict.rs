//! What a trained network says of new examples.

use crate::errors::{guarded, raised, wrong};
use crate::fit::dataset;
use crate::noise::to_array;
use cleanest::data::{Shape, Standardization};
use cleanest::engine::{Network, Parameters};
use cleanest::experiment::{Config, InputSpec};
use cleanest::train::{Architect, predict};
use numpy::PyArray2;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The network of a run, ready to be asked.
#[pyclass(module = "cleanest._cleanest", frozen)]
pub(crate) struct Predictor {
    network: Mutex<Box<dyn Network>>,
    shape: Shape,
    standardization: Standardization,
}

#[pymethods]
impl Predictor {
    /// From the texts of `config.toml` and `input.json` and the bytes of `model.safetensors`.
    #[new]
    fn new(py: Python<'_>, config: &str, input: &str, model: &[u8], device: &str) -> PyResult<Self> {
        guarded(|| {
            let table: toml::Table =
                config.parse().map_err(|problem: toml::de::Error| wrong(problem.message().to_owned()))?;
            let mut config = Config::from_table(&table).map_err(raised)?;
            device.clone_into(&mut config.device);
            let input: InputSpec =
                serde_json::from_str(input).map_err(|problem| wrong(format!("`input.json`: {problem}")))?;
            let shape = match input.shape[..] {
                [height, width, channels] => Shape::Image { height, width, channels },
                _ => Shape::Row(input.shape.iter().product()),
            };
            let model = Parameters::from_safetensors(model).map_err(raised)?;
            let network = py.detach(|| -> Result<_, cleanest::Error> {
                let mut network =
                    Architect::new(&config, shape, input.classes.len())?.network(config.seed)?;
                network.load(&model)?;
                Ok(network)
            });
            let network = Mutex::new(network.map_err(raised)?);
            Ok(Self { network, shape, standardization: input.standardization })
        })
    }

    /// The probabilities of the true classes.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        examples: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        guarded(|| {
            let set = dataset(examples, None)?;
            if set.shape() != self.shape {
                return Err(wrong(format!(
                    "examples of {}, the training set has {}",
                    set.shape(),
                    self.shape
                )));
            }
            let said = py.detach(|| {
                let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
                predict(network.as_mut(), &set, &self.standardization)
            });
            to_array(py, &said.map_err(raised)?)
        })
    }
}
