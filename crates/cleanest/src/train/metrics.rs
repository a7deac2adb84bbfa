//! `metrics.jsonl`: a line for each evaluation, and for some steps between.
//!
//! Nothing in it depends on the clock, so that a run that was cut and resumed has the bytes of one that was not.

use crate::Error;
use crate::run::{RunFolder, names};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// One line.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    /// The stage, from 0.
    pub(super) stage: usize,
    /// Steps made in it.
    pub(super) step: u64,
    /// The loss of the last step.
    pub(super) loss: f64,
    /// The learning rate of the last step.
    pub(super) rate: f64,
    /// The share of the training labels, as they are, that the network predicted since the last line.
    pub(super) agreement: f64,
    /// Accuracy on the test set, at an evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accuracy: Option<f64>,
    /// The estimated share of wrong labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) noise_rate: Option<f64>,
    /// The distance to the injected noise, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) average_tv: Option<f64>,
}

/// The file, open at its end.
#[derive(Debug)]
pub(super) struct Metrics {
    path: PathBuf,
    /// None for a worker that does not write.
    file: Option<File>,
    length: u64,
}

impl Metrics {
    /// The file of a run, for the worker that writes it.
    pub(super) fn of(run: &RunFolder, length: u64) -> Result<Self, Error> {
        if run.peers().is_first() {
            return Self::open(&run.file(names::METRICS), length);
        }
        Ok(Self { path: PathBuf::new(), file: None, length: 0 })
    }

    /// Opens the file, cutting off what was written after the checkpoint that is resumed.
    fn open(path: &Path, length: u64) -> Result<Self, Error> {
        let failed = Error::write(path);
        let mut file =
            OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(&failed)?;
        file.set_len(length).map_err(&failed)?;
        file.seek(SeekFrom::End(0)).map_err(&failed)?;
        Ok(Self { path: path.to_owned(), file: Some(file), length })
    }

    pub(super) fn write(&mut self, line: &Line) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let malformed = |problem: serde_json::Error| Error::Malformed {
            path: self.path.clone(),
            problem: problem.to_string(),
        };
        let mut text = serde_json::to_string(line).map_err(malformed)?;
        text.push('\n');
        file.write_all(text.as_bytes()).map_err(Error::write(&self.path))?;
        self.length += text.len() as u64;
        Ok(())
    }

    /// Adds lines that were written for another run.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(lines).map_err(Error::write(&self.path))?;
        self.length += lines.len() as u64;
        Ok(())
    }

    /// All lines so far.
    pub(super) fn lines(&self) -> Result<Vec<u8>, Error> {
        std::fs::read(&self.path).map_err(Error::read(&self.path))
    }

    /// Bytes written, once they are on the disk.
    pub(super) fn synced_length(&mut self) -> Result<u64, Error> {
        if let Some(file) = &self.file {
            file.sync_all().map_err(Error::write(&self.path))?;
        }
        Ok(self.length)
    }
}
