//! `find_label_issues` of arrays.

use crate::arrays::{Labels, Probabilities, pieces};
use crate::errors::{guarded, raised, wrong};
use cleanest::audit::{Cut, Filter, Quality, Table, ranked};
use cleanest::core::audit::Prune;
use cleanest::core::{Error, Matrix};
use numpy::{IntoPyArray as _, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

/// The names by which others know the filters.
const FILTERS: [(&str, Filter); 7] = [
    ("prune_by_noise_rate", Filter::Prune(Prune::NoiseRate)),
    ("prune_by_class", Filter::Prune(Prune::Class)),
    ("both", Filter::Prune(Prune::Both)),
    ("confident_learning", Filter::Confident),
    ("predicted_neq_given", Filter::Predicted),
    ("low_normalized_margin", Filter::Lowest(Quality::NormalizedMargin)),
    ("low_self_confidence", Filter::Lowest(Quality::SelfConfidence)),
];

/// And what a list may be ranked by.
const QUALITIES: [(&str, Quality); 3] = [
    ("self_confidence", Quality::SelfConfidence),
    ("normalized_margin", Quality::NormalizedMargin),
    ("confidence_weighted_entropy", Quality::ConfidenceWeightedEntropy),
];

/// One of a list by its name; another name is refused with the nearest one.
pub(crate) fn named<T: Copy>(list: &[(&str, T)], kind: &'static str, name: &str) -> PyResult<T> {
    let found = list.iter().find(|(known, _)| *known == name).map(|found| found.1);
    found.ok_or_else(|| raised(Error::unknown(kind, name, list.iter().map(|found| found.0))))
}

/// How an audit cuts, by the name of its filter.
pub(crate) fn prune(name: &str) -> PyResult<Prune> {
    match named(&FILTERS, "filter", name)? {
        Filter::Prune(prune) => Ok(prune),
        _ => Err(wrong(format!(
            "an audit in parts filters by `prune_by_noise_rate`, `prune_by_class` or `both`, not by `{name}`"
        ))),
    }
}

/// The name of the filter that cuts so.
pub(crate) fn name_of(prune: Prune) -> &'static str {
    FILTERS.iter().find(|(_, filter)| *filter == Filter::Prune(prune)).map_or("", |found| found.0)
}

/// What is asked beside labels and probabilities.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked<'py> {
    filter_by: String,
    return_indices_ranked_by: Option<String>,
    frac_noise: f64,
    min_examples_per_class: u64,
    num_to_remove_per_class: Option<Vec<u64>>,
    confident_joint: Option<PyReadonlyArray2<'py, f64>>,
    n_jobs: Option<usize>,
}

/// A mask over the examples, or their rows by quality where that is asked for.
#[pyfunction]
pub(crate) fn find_label_issues<'py>(
    py: Python<'py>,
    labels: &Bound<'py, PyAny>,
    pred_probs: &Bound<'py, PyAny>,
    asked: Asked<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let filter = named(&FILTERS, "filter", &asked.filter_by)?;
        let quality = asked.return_indices_ranked_by.as_deref();
        let quality = quality.map(|name| named(&QUALITIES, "way to rank", name)).transpose()?;
        let (probabilities, labels) = (Probabilities::of(pred_probs)?, Labels::of(labels, "labels")?);
        let pieces = pieces(&probabilities, &labels)?;
        let (cut, jobs) = (asked.cut(probabilities.classes)?, asked.n_jobs);
        let table = Table::Pieces(&pieces);
        let find = || {
            let rows = filter.rows(&table, &cut)?;
            quality.map_or(Ok(rows.clone()), |quality| ranked(&table, &rows, quality))
        };
        let found = py.detach(|| with_threads(jobs, find)).map_err(raised)?;
        if quality.is_some() {
            let rows: Vec<i64> = found.into_iter().map(|row| row as i64).collect();
            return Ok(rows.into_pyarray(py).into_any());
        }
        let mut mask = vec![false; table.rows()];
        found.into_iter().for_each(|row| mask[row] = true);
        Ok(mask.into_pyarray(py).into_any())
    })
}

impl Asked<'_> {
    fn cut(&self, classes: usize) -> PyResult<Cut> {
        if !(0.0..=1.0).contains(&self.frac_noise) {
            return Err(wrong(format!("`frac_noise` must be in [0, 1]: {}", self.frac_noise)));
        }
        if let Some(found) =
            self.num_to_remove_per_class.as_ref().map(Vec::len).filter(|&found| found != classes)
        {
            return Err(wrong(format!(
                "`num_to_remove_per_class` has {found} numbers for {classes} classes"
            )));
        }
        let joint = self.confident_joint.as_ref().map(|joint| square(joint, classes)).transpose()?;
        Ok(Cut {
            share: self.frac_noise,
            keep: self.min_examples_per_class,
            of_label: self.num_to_remove_per_class.clone(),
            joint,
        })
    }
}

fn square(joint: &PyReadonlyArray2<'_, f64>, classes: usize) -> PyResult<Matrix> {
    if joint.shape() != [classes, classes] {
        let shape = joint.shape();
        return Err(wrong(format!("`confident_joint` has shape {shape:?}, there are {classes} classes")));
    }
    let values = joint.as_slice()?.to_vec();
    if let Some(found) = values.iter().find(|count| !(count.is_finite() && **count >= 0.0)) {
        return Err(wrong(format!("`confident_joint` must hold counts: {found}")));
    }
    Ok(Matrix::from_vec(classes, values))
}

/// Does some work with so many threads; with all there are where nothing is said.
fn with_threads<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let Some(jobs) = jobs.filter(|jobs| *jobs > 0) else { return work() };
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
