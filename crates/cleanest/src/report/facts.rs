//! What a page is made from: the files of a run folder, and the examples where they are at hand.

use crate::Error;
use crate::audit::{AuditRecord, Suspect};
use crate::experiment::Config;
use crate::run::{About, RunFolder, names};
use cleanest_core::Matrix;
use cleanest_core::noise::Transition;
use cleanest_data::Dataset;
use serde::Deserialize;
use std::path::Path;

/// All there is to tell. Only the audit has to be there.
pub(super) struct Facts<'a> {
    pub(super) audit: AuditRecord,
    /// Those that are shown.
    pub(super) suspects: Vec<Suspect>,
    pub(super) names: Vec<String>,
    pub(super) config: Option<Config>,
    pub(super) settings: Option<String>,
    pub(super) about: Option<About>,
    pub(super) metrics: Vec<Metric>,
    pub(super) truth: Option<Transition>,
    pub(super) data: Option<&'a Dataset>,
}

/// A line of `metrics.jsonl`, as far as it is shown.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Metric {
    pub(super) stage: usize,
    pub(super) step: u64,
    pub(super) loss: f64,
    pub(super) accuracy: Option<f64>,
    pub(super) agreement: Option<f64>,
    pub(super) noise_rate: Option<f64>,
}

impl<'a> Facts<'a> {
    /// Reads what the folder holds.
    pub(super) fn read(
        run: &RunFolder,
        suspects: Vec<Suspect>,
        data: Option<&'a Dataset>,
    ) -> Result<Self, Error> {
        let there = |name: &str| run.file(name).is_file();
        let audit = run.audit()?;
        Ok(Self {
            names: audit.classes.iter().map(|class| class.name.clone()).collect(),
            audit,
            suspects,
            config: there(names::CONFIG).then(|| run.config()).transpose()?,
            settings: there(names::CONFIG).then(|| text(&run.file(names::CONFIG))).transpose()?,
            about: there(names::ABOUT).then(|| run.about()).transpose()?,
            metrics: metrics(run)?,
            truth: there(names::TRUTH).then(|| Transition::read(&run.file(names::TRUTH))).transpose()?,
            data,
        })
    }

    /// The name of a class.
    pub(super) fn name(&self, class: u32) -> &str {
        self.names.get(class as usize).map_or("?", String::as_str)
    }

    /// What the examples are called: their file or folder.
    pub(super) fn title(&self) -> String {
        let path = match (&self.config, &self.audit.probabilities) {
            (Some(config), _) => config.data.clone(),
            (None, crate::audit::Provenance::File { path }) => path.into(),
            _ => return "the data".to_owned(),
        };
        path.file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
    }
}

/// The lines of `metrics.jsonl`; none where there is no such file.
pub(super) fn metrics(run: &RunFolder) -> Result<Vec<Metric>, Error> {
    let path = run.file(names::METRICS);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let line = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|problem| Error::Malformed {
            path: path.clone(),
            problem: format!("line {}: {problem}", at + 1),
        })
    };
    text(&path)?.lines().enumerate().map(line).collect()
}

fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::read(path))
}

/// Rows of an audit as a matrix.
pub(super) fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_vec(rows.len(), rows.concat())
}
