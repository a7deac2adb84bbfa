//! The compiled half of the Python package `cleanest`; the other half is `python/cleanest`.
//!
//! What comes from Python is checked where it comes in, and what can go wrong is raised as one of Python's own kinds of
//! exception with our sentence. Long work is done without the interpreter's lock.
// The signatures are Python's: an argument is taken as it comes.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments, missing_docs)]

mod arrays;
mod arrow;
mod audit;
mod errors;
mod fit;
mod issues;
mod methods;
mod noise;
mod predict;

use pyo3::prelude::*;

/// The compiled half of `cleanest`.
#[pymodule]
mod _cleanest {
    #[pymodule_export]
    use super::audit::AuditState;
    #[pymodule_export]
    use super::errors::panic_for_a_test;
    #[pymodule_export]
    use super::fit::{fit, suspects};
    #[pymodule_export]
    use super::issues::find_label_issues;
    #[pymodule_export]
    use super::methods::{Method, methods};
    #[pymodule_export]
    use super::noise::{Transition, kinds, parse};
    #[pymodule_export]
    use super::predict::Predictor;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
