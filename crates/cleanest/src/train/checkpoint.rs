//! Checkpoints: all that is needed to go on as if nothing had happened.
//!
//! A checkpoint is a folder, written aside, with the sha256 of each file in it, and moved to its place when it is on the
//! disk. The last two are kept: if the newest is broken it is named, and the one before it used.

use super::memory::Memory;
use crate::Error;
use crate::run::{RunFolder, files::sync_folder, files::write_synced, names};
use cleanest_core::methods::State;
use cleanest_engine::peers::Group;
use cleanest_engine::{Network, Parameters};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const NETWORK: &str = "network.safetensors";
const OPTIMIZER: &str = "optimizer.safetensors";
const MEMORY: &str = "memory.safetensors";
const METHOD: &str = "method.json";
const POSITION: &str = "position.json";
const MANIFEST: &str = "manifest.json";
/// How many checkpoints are kept.
const KEPT: usize = 2;

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) stage: usize,
    /// Steps made in the stage.
    pub(super) step: u64,
    /// Bytes of `metrics.jsonl`.
    pub(super) metrics: u64,
    /// The last accuracy on the test set.
    pub(super) accuracy: Option<f64>,
    /// The best accuracy of the stage, and its step.
    pub(super) best: Option<(f64, u64)>,
    /// Training labels that were predicted, and labels in all, since the last line of the metrics.
    pub(super) agreed: (u64, u64),
}

/// What a checkpoint holds.
pub(super) struct Checkpoint {
    pub(super) position: Position,
    pub(super) method: State,
    pub(super) network: Parameters,
    pub(super) optimizer: Parameters,
    pub(super) memory: Parameters,
}

impl Checkpoint {
    /// Takes the state of a run.
    pub(super) fn of(
        position: Position,
        method: State,
        network: &dyn Network,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let (optimizer, memory) = (network.optimizer_state()?, memory.state());
        Ok(Self { position, method, network: network.parameters()?, optimizer, memory })
    }

    /// Writes it into the run folder; older ones but for the one before it are removed.
    pub(super) fn write(&self, run: &RunFolder, total: u64) -> Result<(), Error> {
        let folder = run.file(names::CHECKPOINTS);
        let place = folder.join(format!("step-{total:08}"));
        let aside = folder.join(format!(".step-{total:08}.tmp"));
        let failed = Error::write(&place);
        std::fs::create_dir_all(&aside).map_err(&failed)?;
        let written = self.files().and_then(|files| {
            let mut manifest = BTreeMap::new();
            for (name, bytes) in files {
                write_synced(&aside.join(name), &bytes).map_err(&failed)?;
                manifest.insert(name, digest(&bytes));
            }
            write_synced(&aside.join(MANIFEST), &json(&manifest)?).map_err(&failed)?;
            sync_folder(&aside).map_err(&failed)?;
            if place.exists() {
                std::fs::remove_dir_all(&place).map_err(&failed)?;
            }
            std::fs::rename(&aside, &place).and_then(|()| sync_folder(&folder)).map_err(&failed)
        });
        if written.is_err() {
            let _ = std::fs::remove_dir_all(&aside);
        }
        written?;
        for old in list(&folder)?.into_iter().skip(KEPT) {
            std::fs::remove_dir_all(&old).map_err(Error::write(&old))?;
        }
        Ok(())
    }

    fn files(&self) -> Result<[(&'static str, Vec<u8>); 5], Error> {
        Ok([
            (NETWORK, self.network.to_safetensors()?),
            (OPTIMIZER, self.optimizer.to_safetensors()?),
            (MEMORY, self.memory.to_safetensors()?),
            (METHOD, json(&self.method.values)?),
            (POSITION, json(&self.position)?),
        ])
    }

    /// The newest checkpoint of the first worker, for all of them.
    pub(super) fn of_first(run: &RunFolder, note: impl FnMut(&str)) -> Result<Option<Self>, Error> {
        let found = if run.peers().is_first() { Self::newest(run, note)? } else { None };
        Self::shared(found, run.peers().as_ref())
    }

    /// What the first worker has found, for all of them. What each example was said to be stays with the first, who
    /// alone needs it.
    fn shared(found: Option<Self>, group: &dyn Group) -> Result<Option<Self>, Error> {
        if group.size() == 1 {
            return Ok(found);
        }
        let files = found.as_ref().map(Self::files).transpose()?;
        let mut parts = Vec::new();
        for part in 0..5 {
            let wanted = files.as_ref().filter(|_| part != 2).map(|files| files[part].1.clone());
            parts.push(group.of_first(wanted.unwrap_or_default()));
        }
        if group.is_first() || parts[4].is_empty() {
            return Ok(found);
        }
        let here = Path::new("the checkpoint of the first worker");
        let parameters = |bytes: &[u8]| Ok::<_, Error>(Parameters::from_safetensors(bytes)?);
        Ok(Some(Self {
            position: parsed(here, &parts[4])?,
            method: State { values: parsed(here, &parts[3])? },
            network: parameters(&parts[0])?,
            optimizer: parameters(&parts[1])?,
            memory: Parameters::new(),
        }))
    }

    /// The newest checkpoint that is whole; the broken ones are told to `note`.
    fn newest(run: &RunFolder, mut note: impl FnMut(&str)) -> Result<Option<Self>, Error> {
        for folder in list(&run.file(names::CHECKPOINTS))? {
            match Self::read(&folder) {
                Ok(checkpoint) => return Ok(Some(checkpoint)),
                Err(problem) => note(&format!("broken checkpoint passed over: {problem}")),
            }
        }
        Ok(None)
    }

    fn read(folder: &Path) -> Result<Self, Error> {
        let bytes = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(Error::read(&path))
        };
        let manifest: BTreeMap<String, String> = parsed(&folder.join(MANIFEST), &bytes(MANIFEST)?)?;
        let checked = |name: &str| {
            let found = bytes(name)?;
            let path = folder.join(name);
            match manifest.get(name) {
                Some(expected) if *expected == digest(&found) => Ok((path, found)),
                _ => Err(Error::Malformed {
                    path,
                    problem: "its sha256 is not the one it was written with".into(),
                }),
            }
        };
        let parameters = |name: &str| {
            let (path, bytes) = checked(name)?;
            let malformed =
                |problem: cleanest_engine::Error| Error::Malformed { path, problem: problem.to_string() };
            Parameters::from_safetensors(&bytes).map_err(malformed)
        };
        let (method, position) = (checked(METHOD)?, checked(POSITION)?);
        Ok(Self {
            position: parsed(&position.0, &position.1)?,
            method: State { values: parsed(&method.0, &method.1)? },
            network: parameters(NETWORK)?,
            optimizer: parameters(OPTIMIZER)?,
            memory: parameters(MEMORY)?,
        })
    }
}

/// The checkpoints of a folder, newest first.
fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::Read { path: folder.to_owned(), source }),
    };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.filter(|name| name.starts_with("step-")).collect();
    names.sort_by(|a, b| b.cmp(a));
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let wrong =
        |problem: serde_json::Error| Error::Value { key: "checkpoint".into(), problem: problem.to_string() };
    serde_json::to_vec(value).map_err(wrong)
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, Error> {
    let wrong =
        |problem: serde_json::Error| Error::Malformed { path: path.to_owned(), problem: problem.to_string() };
    serde_json::from_slice(bytes).map_err(wrong)
}
