//! Transition matrices: how labels come to be wrong.

use crate::arrays::Labels;
use crate::errors::{guarded, raised};
use cleanest::core::Matrix;
use cleanest::core::noise::{self, Noise, corrupt};
use numpy::{
    IntoPyArray as _, PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray2, PyUntypedArrayMethods as _,
};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The compiled half of `cleanest.noise.Transition`.
#[pyclass(module = "cleanest._cleanest", subclass, frozen)]
pub(crate) struct Transition {
    pub(crate) inner: noise::Transition,
}

#[pymethods]
impl Transition {
    #[new]
    fn new(matrix: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        guarded(|| {
            if matrix.shape()[1] == 0 {
                let empty = cleanest::core::Error::NotSquare(matrix.shape().to_vec());
                return Err(raised(empty));
            }
            let matrix = Matrix::from_vec(matrix.shape()[1], matrix.as_slice()?.to_vec());
            Ok(Self { inner: noise::Transition::new(matrix).map_err(raised)? })
        })
    }

    #[getter]
    fn classes(&self) -> usize {
        self.inner.classes()
    }

    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_array(py, self.inner.matrix())
    }

    #[getter]
    fn noise_rate(&self) -> f64 {
        self.inner.noise_rate()
    }

    #[getter]
    fn condition_number(&self) -> f64 {
        self.inner.condition_number()
    }

    fn average_tv(&self, other: &Self) -> PyResult<f64> {
        self.inner.average_tv(&other.inner).map_err(raised)
    }

    fn _then<'py>(&self, py: Python<'py>, next: &Self) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_array(py, self.inner.then(&next.inner).map_err(raised)?.matrix())
    }

    fn _corrupt<'py>(
        &self,
        py: Python<'py>,
        labels: &Bound<'py, PyAny>,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        guarded(|| {
            let clean = Labels::of(labels, "labels")?.classes(self.inner.classes())?;
            let drawn = py.detach(|| corrupt(&clean, &self.inner, seed)).map_err(raised)?;
            Ok(drawn.noisy.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py))
        })
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        guarded(|| self.inner.write(&path).map_err(raised))
    }

    #[staticmethod]
    fn _load(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyArray2<f64>>> {
        guarded(|| to_array(py, noise::Transition::read(&path).map_err(raised)?.matrix()))
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }
}

/// Name, form and meaning of every kind of noise.
#[pyfunction]
#[pyo3(name = "noise_kinds")]
pub(crate) fn kinds() -> Vec<(&'static str, &'static str, &'static str)> {
    Noise::KINDS.iter().map(|kind| (kind.name, kind.form, kind.about)).collect()
}

/// The matrix of a noise that is written like `pair:0.4`.
#[pyfunction]
#[pyo3(name = "parse_noise")]
pub(crate) fn parse<'py>(
    py: Python<'py>,
    text: &str,
    classes: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    guarded(|| {
        let noise: Noise = text.parse().map_err(|error: cleanest::core::Error| raised(error))?;
        to_array(py, noise.transition(classes, seed).map_err(raised)?.matrix())
    })
}

/// A matrix as an array of Python's.
pub(crate) fn to_array<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let shape = [matrix.rows(), matrix.columns()];
    matrix.values().to_vec().into_pyarray(py).reshape(shape)
}
