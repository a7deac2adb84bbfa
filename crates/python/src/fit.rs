//! Training from arrays: a run like any other, in a folder, that Ctrl-C stops.

use crate::errors::{guarded, raised, wrong};
use cleanest::audit::{Suspect, read_suspects};
use cleanest::data::{Classes, Dataset, Labels, Parts};
use cleanest::experiment::{Config, Prepared};
use cleanest::run::{Finished, RunFolder};
use cleanest::train::{Observer, Progress, Stop};
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the interpreter is asked whether somebody pressed Ctrl-C, and told how far the run is.
const OFTEN: Duration = Duration::from_millis(100);
/// What Ctrl-C sends.
const INTERRUPT: i32 = 2;

/// Trains on arrays; everything that was found is in the folder. Gives back the estimated share of wrong labels.
#[pyfunction]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    config: &str,
    examples: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    folder: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<f64>> {
    guarded(|| {
        let table: toml::Table =
            serde_json::from_str(config).map_err(|problem| wrong(problem.to_string()))?;
        let config = Config::from_table(&table).map_err(raised)?;
        let classes = Classes::new(classes).map_err(raised)?;
        let labels = Labels::new(labels.as_slice()?.to_vec(), classes);
        let train = dataset(examples, Some(labels))?;
        let stop = Stop::default();
        let mut watcher = Watcher { progress, stop: stop.clone(), last: Instant::now(), raised: None };
        let trained = py.detach(|| -> Result<Finished, cleanest::Error> {
            let run = RunFolder::create(&folder)?;
            let data = Prepared::of(Parts { train, test: None }, &config)?;
            run.fit_on(data, &config, &stop, &mut watcher)
        });
        match (watcher.raised.take(), trained) {
            (Some(raised), _) => Err(raised),
            (None, Err(error)) => Err(raised(error)),
            (None, Ok(finished)) => Ok(finished.outcome.score.noise_rate),
        }
    })
}

/// Rows of numbers (N, D) of float32, or images (N, H, W) or (N, H, W, C) of bytes.
pub(crate) fn dataset(examples: &Bound<'_, PyAny>, labels: Option<Labels>) -> PyResult<Dataset> {
    if let Ok(rows) = examples.extract::<PyReadonlyArrayDyn<'_, f32>>()
        && let [_, width] = rows.shape()[..]
    {
        return Dataset::from_rows(width, rows.as_slice()?.to_vec(), labels).map_err(raised);
    }
    let images = examples.extract::<PyReadonlyArrayDyn<'_, u8>>()?;
    let shape = match images.shape()[..] {
        [_, height, width] => [height, width, 1],
        [_, height, width, channels] => [height, width, channels],
        ref shape => return Err(wrong(format!("examples of shape {shape:?} are neither rows nor images"))),
    };
    Dataset::from_images(shape, images.as_slice()?.to_vec(), labels).map_err(raised)
}

/// Lets Python have a say now and then.
struct Watcher {
    progress: Option<Py<PyAny>>,
    stop: Stop,
    last: Instant,
    raised: Option<PyErr>,
}

impl Watcher {
    /// Asks Python; what it raises stops the run after the step it is in.
    fn ask(&mut self, question: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if let Err(raised) = Python::attach(question) {
            self.raised.get_or_insert(raised);
            self.stop.ask(INTERRUPT);
        }
    }
}

impl Observer for Watcher {
    fn step(&mut self, at: &Progress<'_>) {
        if self.last.elapsed() < OFTEN && at.step < at.steps {
            return;
        }
        self.last = Instant::now();
        let progress = self.progress.as_ref().map(|progress| Python::attach(|py| progress.clone_ref(py)));
        self.ask(|py| {
            py.check_signals()?;
            progress.map_or(Ok(()), |progress| progress.call1(py, (at.step, at.steps, at.loss)).map(|_| ()))
        });
    }

    fn note(&mut self, sentence: &str) {
        let text =
            CString::new(sentence.trim_start_matches("warning: ").replace('\0', " ")).unwrap_or_default();
        self.ask(|py| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2));
    }
}

/// Row, given and suggested class, P(wrong), P(suggested), margin, self-confidence, normalized margin, and whether two
/// classes are too close to decide between.
type Suspects<'py> =
    (Vec<Bound<'py, PyArray1<i64>>>, Vec<Bound<'py, PyArray1<f64>>>, Bound<'py, PyArray1<bool>>);

/// The list of suspects of a run, most suspicious first.
#[pyfunction]
pub(crate) fn suspects(py: Python<'_>, path: PathBuf) -> PyResult<Suspects<'_>> {
    guarded(|| {
        let found = read_suspects(&path, usize::MAX).map_err(raised)?;
        let whole = |of: fn(&Suspect) -> i64| found.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
        let floats = |of: fn(&Suspect) -> f64| found.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
        Ok((
            vec![
                whole(|suspect| suspect.row as i64),
                whole(|suspect| i64::from(suspect.given)),
                whole(|suspect| i64::from(suspect.suggested)),
            ],
            vec![
                floats(|suspect| suspect.p_wrong),
                floats(|suspect| suspect.p_suggested),
                floats(|suspect| suspect.margin),
                floats(|suspect| suspect.self_confidence),
                floats(|suspect| suspect.normalized_margin),
            ],
            found.iter().map(|suspect| suspect.abstains).collect::<Vec<_>>().into_pyarray(py),
        ))
    })
}
