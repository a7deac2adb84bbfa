//! Methods for any model: a loss and its gradient from logits and labels.

use crate::arrays::Labels;
use crate::errors::{guarded, raised, wrong};
use crate::noise::to_array;
use cleanest::core::Matrix;
use cleanest::core::estimate::Posteriors;
use cleanest::core::methods::{self as core, Alone, Batch, Choice, Peers, State, Task};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A loss and its gradient with respect to the logits.
type Loss<'py> = (f64, Bound<'py, PyArray2<f64>>);

/// The compiled half of the classes of `cleanest.methods`.
#[pyclass(module = "cleanest._cleanest", subclass)]
pub(crate) struct Method {
    choice: Choice,
    task: Task,
    running: Mutex<Box<dyn core::Method>>,
    stage: usize,
    step: u64,
    gradient: Matrix,
}

/// Name, name of the class, meaning, and the settings of every method: name, meaning, default as JSON.
type Described = (&'static str, &'static str, &'static str, Vec<(&'static str, String, String)>);

/// The one list of methods.
#[pyfunction]
pub(crate) fn methods() -> PyResult<Vec<Described>> {
    let described = |name: &&str| {
        let choice = Choice::named(name).map_err(raised)?;
        let fields = choice.fields().into_iter();
        let fields = fields.map(|field| (field.name, field.about, field.default.to_string())).collect();
        Ok((choice.name(), choice.type_name(), choice.about(), fields))
    };
    Choice::NAMES.iter().map(described).collect()
}

#[pymethods]
impl Method {
    #[new]
    fn new(name: &str, classes: usize, steps: u64, seed: u64, settings: &str) -> PyResult<Self> {
        guarded(|| {
            let settings = serde_json::from_str(settings).map_err(|problem| wrong(problem.to_string()))?;
            let choice = Choice::with_settings(name, &settings).map_err(raised)?;
            let task = Task { classes, steps, seed };
            let mut method = choice.build(&task).map_err(raised)?;
            method.begin(0, None).map_err(raised)?;
            Ok(Self {
                choice,
                task,
                running: Mutex::new(method),
                stage: 0,
                step: 0,
                gradient: Matrix::default(),
            })
        })
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.choice.name()
    }

    #[getter]
    fn classes(&self) -> usize {
        self.task.classes
    }

    #[getter]
    fn step(&self) -> u64 {
        self.step
    }

    #[getter]
    fn stage(&self) -> usize {
        self.stage
    }

    #[getter]
    fn stages(&self) -> usize {
        self.running().stages()
    }

    fn _loss<'py>(
        &mut self,
        py: Python<'py>,
        logits: PyReadonlyArray2<'py, f64>,
        labels: &Bound<'py, PyAny>,
        learn: bool,
        total: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Loss<'py>> {
        guarded(|| {
            let logits = self.rows(&logits, "logits")?;
            let labels = Labels::of(labels, "labels")?.classes(self.task.classes)?;
            if labels.len() != logits.rows() {
                return Err(wrong(format!(
                    "there are {} labels for {} rows of logits",
                    labels.len(),
                    logits.rows()
                )));
            }
            let batch = Batch { logits: &logits, labels: &labels, seed: self.task.seed, step: self.step };
            let method = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
            let loss = py.detach(|| method.loss(&batch, &mut self.gradient));
            if learn {
                match total {
                    None => py.detach(|| method.update(&batch, &Alone)),
                    Some(total) => {
                        let peers = Others { total: total.unbind(), problem: Mutex::default() };
                        method.update(&batch, &peers);
                        peers.problem.into_inner().ok().flatten().map_or(Ok(()), Err)?;
                    }
                }
                self.step += 1;
            }
            Ok((loss, to_array(py, &self.gradient)?))
        })
    }

    fn _begin(
        &mut self,
        stage: usize,
        probabilities: Option<PyReadonlyArray2<'_, f64>>,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        guarded(|| {
            if stage >= self.running().stages() {
                let (name, stages) = (self.choice.name(), self.running().stages());
                return Err(wrong(format!(
                    "`{name}` has {stages} stages, counted from 0: there is no stage {stage}"
                )));
            }
            match (probabilities, labels) {
                (Some(probabilities), Some(labels)) => {
                    let seen = self.rows(&probabilities, "probabilities")?;
                    let labels = Labels::of(labels, "labels")?.classes(self.task.classes)?;
                    let seen = Posteriors::new(&seen, &labels).map_err(raised)?;
                    self.running().begin(stage, Some(&seen)).map_err(raised)?;
                }
                _ => self.running().begin(stage, None).map_err(raised)?,
            }
            self.stage = stage;
            Ok(())
        })
    }

    #[getter]
    fn transition_matrix<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.running().transition().map(|found| to_array(py, found.matrix())).transpose()
    }

    /// What was learnt, by name.
    fn state<'py>(&self, py: Python<'py>) -> HashMap<String, Bound<'py, PyArray1<f64>>> {
        let values = self.running().state().values.into_iter();
        values.map(|(name, numbers)| (name, numbers.into_pyarray(py))).collect()
    }

    /// Everything that changes as it learns, as the bytes of a safetensors file.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            let state = self.running().state();
            let encoded: Vec<(String, Vec<u8>, usize)> = state
                .values
                .iter()
                .map(|(name, numbers)| {
                    (
                        name.clone(),
                        numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
                        numbers.len(),
                    )
                })
                .collect();
            let about = HashMap::from([
                ("format".to_owned(), "cleanest method 1".to_owned()),
                ("method".to_owned(), self.choice.name().to_owned()),
                ("classes".to_owned(), self.task.classes.to_string()),
                ("stage".to_owned(), self.stage.to_string()),
                ("step".to_owned(), self.step.to_string()),
            ]);
            let views = encoded
                .iter()
                .map(|(name, bytes, length)| Ok((name, TensorView::new(Dtype::F64, vec![*length], bytes)?)))
                .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
            let bytes = views.and_then(|views| safetensors::serialize(views, Some(about)));
            Ok(PyBytes::new(py, &bytes.map_err(|problem| wrong(problem.to_string()))?))
        })
    }

    /// Goes on from such bytes as if nothing had happened in between.
    fn restore(&mut self, state: &[u8]) -> PyResult<()> {
        guarded(|| {
            let broken = |problem: safetensors::SafeTensorError| {
                wrong(format!("not the saved state of a method: {problem}"))
            };
            let (_, header) = SafeTensors::read_metadata(state).map_err(broken)?;
            let about = header.metadata().clone().unwrap_or_default();
            let said = |key: &str| about.get(key).cloned().unwrap_or_default();
            let number =
                |key: &str| said(key).parse::<u64>().map_err(|_| wrong("not the saved state of a method"));
            if said("format") != "cleanest method 1" {
                return Err(wrong("not the saved state of a method"));
            }
            let (name, classes) = (self.choice.name(), self.task.classes.to_string());
            if said("method") != name || said("classes") != classes {
                return Err(wrong(format!(
                    "the saved state is of `{}` with {} classes, this is `{name}` with {classes}",
                    said("method"),
                    said("classes")
                )));
            }
            let mut found = State::default();
            for (name, view) in SafeTensors::deserialize(state).map_err(broken)?.tensors() {
                if view.dtype() != Dtype::F64 {
                    return Err(wrong(format!("`{name}` of the saved state is not of F64")));
                }
                let numbers = view.data().as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                found.values.insert(name, numbers.collect());
            }
            let (stage, step) = (number("stage")? as usize, number("step")?);
            self.running().restore(&found).map_err(raised)?;
            (self.stage, self.step) = (stage, step);
            Ok(())
        })
    }
}

impl Method {
    fn running(&self) -> MutexGuard<'_, Box<dyn core::Method>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rows(&self, array: &PyReadonlyArray2<'_, f64>, name: &str) -> PyResult<Matrix> {
        let (classes, shape) = (self.task.classes, array.shape());
        if shape[1] != classes || shape[0] == 0 {
            return Err(wrong(format!("`{name}` must be of shape (N, {classes}), these are of {shape:?}")));
        }
        Ok(Matrix::from_vec(classes, array.as_slice()?.to_vec()))
    }
}

/// Other processes that train the same model, reached by a function of Python's that sums up over all of them.
struct Others {
    total: Py<PyAny>,
    problem: Mutex<Option<PyErr>>,
}

impl Peers for Others {
    fn sum(&self, numbers: &mut [f64]) {
        let summed = Python::attach(|py| {
            let mine = numbers.to_vec().into_pyarray(py);
            let all: Vec<f64> = self.total.bind(py).call1((mine,))?.extract()?;
            if all.len() != numbers.len() {
                return Err(wrong(format!("a sum of {} numbers has {}", numbers.len(), all.len())));
            }
            Ok(all)
        });
        match summed {
            Ok(all) => numbers.copy_from_slice(&all),
            Err(problem) => {
                if let Ok(mut place) = self.problem.lock() {
                    place.get_or_insert(problem);
                }
            }
        }
    }
}
