//! Our errors as Python's own kinds of exception.

use cleanest::core::Error as Core;
use cleanest::data::Error as Data;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyFloatingPointError, PyKeyboardInterrupt, PyOSError,
    PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::any::Any;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The exception that stands for an error, with its sentence and its cure.
pub(crate) fn raised(error: impl Into<cleanest::Error>) -> PyErr {
    let error = error.into();
    let text = match (sentence(&error), hint(&error)) {
        (sentence, Some(hint)) => format!("{sentence}\nhint: {hint}"),
        (sentence, None) => sentence,
    };
    match &error {
        cleanest::Error::Core(Core::Read { source, .. } | Core::Write { source, .. })
        | cleanest::Error::Data(Data::Read { source, .. } | Data::Write { source, .. })
        | cleanest::Error::Read { source, .. }
        | cleanest::Error::Write { source, .. } => of_kind(source.kind(), text),
        cleanest::Error::Data(Data::NotFound { .. })
        | cleanest::Error::NotARun { .. }
        | cleanest::Error::NoRun(_) => PyFileNotFoundError::new_err(text),
        cleanest::Error::Occupied(_) | cleanest::Error::IsAFile(_) => PyFileExistsError::new_err(text),
        cleanest::Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(text),
        cleanest::Error::NotFinite { .. } | cleanest::Error::NotFiniteParameter { .. } => {
            PyFloatingPointError::new_err(text)
        }
        other if other.is_wrong_use() => PyValueError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// Rows of arrays count from 0, those of files from 1.
fn sentence(error: &cleanest::Error) -> String {
    match error {
        cleanest::Error::Core(Core::Probability { row, column, value }) => {
            format!("row {row}, class {column} (both from 0): not a probability: {value}")
        }
        cleanest::Error::Core(Core::ProbabilitySum { row, sum }) => {
            format!("row {row} (from 0): the probabilities sum to {sum:.6}, not to 1")
        }
        other => other.to_string(),
    }
}

/// The cure, in words of Python.
fn hint(error: &cleanest::Error) -> Option<String> {
    match error {
        cleanest::Error::Core(Core::ProbabilitySum { .. }) => {
            Some("divide each row by its sum: `p / p.sum(axis=1, keepdims=True)`".into())
        }
        cleanest::Error::Numbering => Some("give their numbers to each `update` as `rows`".into()),
        cleanest::Error::NotFinite { .. } | cleanest::Error::NotFiniteParameter { .. } => {
            Some("lower the learning rate: `settings={\"schedule\": {\"rate\": ...}}`".into())
        }
        cleanest::Error::Occupied(_) | cleanest::Error::IsAFile(_) => Some("name another folder".into()),
        other => other.hint().filter(|hint| !hint.contains("--")),
    }
}

fn of_kind(kind: ErrorKind, text: String) -> PyErr {
    match kind {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// A mistake in what was handed over.
pub(crate) fn wrong(sentence: impl Into<String>) -> PyErr {
    PyValueError::new_err(sentence.into())
}

/// Does some work; a panic, which would be a bug of ours, becomes an exception like any other.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(bug(panic.as_ref())))
}

fn bug(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("a bug in cleanest, please report it: {text}"))
}

/// Panics as a bug would.
#[pyfunction]
#[pyo3(name = "_panic_for_a_test")]
pub(crate) fn panic_for_a_test() -> PyResult<()> {
    guarded(|| panic!("as asked"))
}
