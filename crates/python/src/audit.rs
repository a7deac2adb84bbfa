//! `Audit`: an audit that is made in parts.

use crate::arrays::{Labels, Probabilities, pieces};
use crate::errors::{guarded, raised, wrong};
use crate::issues::{name_of, prune};
use cleanest::audit::{Floats, Issue, Mergeable};
use cleanest::core::audit::Block;
use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The compiled half of `cleanest.Audit`.
#[pyclass(module = "cleanest._cleanest")]
pub(crate) struct AuditState {
    state: Mergeable,
}

/// Number, label, predicted class, self-confidence and normalized margin of the examples that were found.
type Columns<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl AuditState {
    #[new]
    fn new(classes: usize, filter_by: &str) -> PyResult<Self> {
        Ok(Self { state: Mergeable::new(classes, prune(filter_by)?).map_err(raised)? })
    }

    #[staticmethod]
    fn from_bytes(state: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self { state: Mergeable::from_bytes(state).map_err(raised)? }))
    }

    #[getter]
    fn classes(&self) -> usize {
        self.state.classes()
    }

    #[getter]
    fn filter_by(&self) -> &'static str {
        name_of(self.state.prune())
    }

    #[getter]
    fn current_pass(&self) -> usize {
        self.state.pass()
    }

    #[getter]
    fn seen(&self) -> u64 {
        self.state.seen()
    }

    #[pyo3(signature = (labels, pred_probs, rows = None))]
    fn update(
        &mut self,
        py: Python<'_>,
        labels: &Bound<'_, PyAny>,
        pred_probs: &Bound<'_, PyAny>,
        rows: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        guarded(|| {
            let (probabilities, labels) = (Probabilities::of(pred_probs)?, Labels::of(labels, "labels")?);
            if probabilities.classes != self.state.classes() {
                let (expected, found) = (self.state.classes(), probabilities.classes);
                return Err(wrong(format!("`pred_probs` has {found} columns, the audit {expected} classes")));
            }
            pieces(&probabilities, &labels)?;
            let classes = labels.classes(probabilities.classes)?;
            let rows = rows.map(|rows| Labels::of(rows, "rows")?.numbers("rows")).transpose()?;
            if let Some(found) = rows.as_ref().map(Vec::len).filter(|&found| found != classes.len()) {
                return Err(wrong(format!(
                    "there are {found} numbers in `rows` for {} labels",
                    classes.len()
                )));
            }
            let floats = probabilities.floats()?;
            let width = probabilities.classes;
            py.detach(|| self.count(&floats, (&classes, width), rows.as_deref())).map_err(raised)
        })
    }

    fn merge(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        guarded(|| self.state.merge(&other.state).map_err(raised))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Columns<'py>>> {
        guarded(|| {
            let found = py.detach(|| self.state.finish()).map_err(raised)?;
            Ok(found.map(|issues| columns(py, &issues)))
        })
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.to_bytes())
    }
}

impl AuditState {
    fn count(
        &mut self,
        pieces: &[Floats<'_>],
        (labels, width): (&[u32], usize),
        rows: Option<&[u64]>,
    ) -> Result<(), cleanest::Error> {
        // All or nothing: what is wrong is found before anything is counted.
        let mut first = 0;
        for piece in pieces.iter().filter(|_| pieces.len() > 1) {
            let end = first + piece.len() / width;
            match piece {
                Floats::F32(values) => _ = Block::checked((values, &labels[first..end]), width, first)?,
                Floats::F64(values) => _ = Block::checked((values, &labels[first..end]), width, first)?,
            }
            first = end;
        }
        first = 0;
        for piece in pieces {
            let end = first + piece.len() / width;
            let (labels, rows) = (&labels[first..end], rows.map(|rows| &rows[first..end]));
            match piece {
                Floats::F32(values) => self.state.update((values, labels), rows)?,
                Floats::F64(values) => self.state.update((values, labels), rows)?,
            }
            first = end;
        }
        Ok(())
    }
}

fn columns<'py>(py: Python<'py>, issues: &[Issue]) -> Columns<'py> {
    fn column<'py, T: numpy::Element>(
        py: Python<'py>,
        issues: &[Issue],
        of: impl Fn(&Issue) -> T,
    ) -> Bound<'py, PyArray1<T>> {
        issues.iter().map(of).collect::<Vec<T>>().into_pyarray(py)
    }
    (
        column(py, issues, |issue| issue.row as i64),
        column(py, issues, |issue| i64::from(issue.given)),
        column(py, issues, |issue| i64::from(issue.predicted)),
        column(py, issues, |issue| issue.self_confidence),
        column(py, issues, |issue| issue.normalized_margin),
    )
}
