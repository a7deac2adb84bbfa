//! A run folder: where its files are, and how they are read and written.

use super::{About, names, write_atomically};
use crate::Error;
use crate::audit::AuditRecord;
use crate::experiment::{Config, InputSpec};
use cleanest_core::noise::Transition;
use cleanest_engine::Parameters;
use cleanest_engine::peers::{Alone, Group};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that holds a run. Of several workers that train it, the first writes it; for the others it need not be there.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    peers: Arc<dyn Group>,
}

impl RunFolder {
    /// A new folder for a run; one that holds something is refused.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::create_with(path, Arc::new(Alone))
    }

    /// The same for a run that several workers train.
    pub fn create_with(path: &Path, peers: Arc<dyn Group>) -> Result<Self, Error> {
        if !peers.is_first() {
            return Ok(Self { path: path.to_owned(), peers });
        }
        if path.is_file() {
            return Err(Error::IsAFile(path.to_owned()));
        }
        std::fs::create_dir_all(path).map_err(Error::write(path))?;
        let mut inside = std::fs::read_dir(path).map_err(Error::read(path))?;
        if inside.next().is_some() {
            return Err(Error::Occupied(path.to_owned()));
        }
        Ok(Self { path: path.to_owned(), peers })
    }

    /// A folder inside this one, for a part of the run; what it holds is kept.
    pub(crate) fn inner(&self, name: &str) -> Result<Self, Error> {
        let path = self.file(name);
        if self.peers.is_first() {
            std::fs::create_dir_all(&path).map_err(Error::write(&path))?;
        }
        Ok(Self { path, peers: Arc::clone(&self.peers) })
    }

    /// A folder that was made before.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, Arc::new(Alone))
    }

    /// The same for a run that several workers train.
    pub fn open_with(path: &Path, peers: Arc<dyn Group>) -> Result<Self, Error> {
        if peers.is_first() && !path.join(names::CONFIG).is_file() {
            return Err(not_a_run(path, names::CONFIG));
        }
        Ok(Self { path: path.to_owned(), peers })
    }

    /// A folder that a run or an audit of probabilities left.
    pub fn open_audited(path: &Path) -> Result<Self, Error> {
        let holds = |name: &str| path.join(name).is_file();
        match (holds(names::AUDIT), holds(names::CONFIG)) {
            (true, _) => Ok(Self { path: path.to_owned(), peers: Arc::new(Alone) }),
            (false, true) => Err(Error::NotAudited(path.to_owned())),
            (false, false) => Err(not_a_run(path, names::AUDIT)),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where one of its files is.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Those who train it, of whom this process is one.
    #[must_use]
    pub fn peers(&self) -> &Arc<dyn Group> {
        &self.peers
    }

    /// Whether the run ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.file(names::ABOUT).is_file()
    }

    /// The same as the first worker sees it; all of them ask.
    #[must_use]
    pub fn is_complete_for_all(&self) -> bool {
        let complete = self.peers.is_first() && self.is_complete();
        self.peers.of_first(vec![u8::from(complete)]) == [1]
    }

    /// The settings of the run.
    pub fn config(&self) -> Result<Config, Error> {
        Config::read(&self.file(names::CONFIG))
    }

    /// The same as the first worker reads them; all of them ask.
    pub(super) fn config_of_first(&self) -> Result<Config, Error> {
        let path = self.file(names::CONFIG);
        let mine = if self.peers.is_first() {
            std::fs::read(&path).map_err(Error::read(&path))?
        } else {
            Vec::new()
        };
        Config::parse(&path, &String::from_utf8_lossy(&self.peers.of_first(mine)))
    }

    /// How an example becomes an input of its network.
    pub fn input(&self) -> Result<InputSpec, Error> {
        self.read_json(names::INPUT)
    }

    /// sha256 of the data it is trained on.
    pub(super) fn fingerprint(&self) -> Result<String, Error> {
        self.read_json(names::DATA)
    }

    /// The same as the first worker reads it; all of them ask.
    pub(super) fn fingerprint_of_first(&self) -> Result<String, Error> {
        let mine: String = if self.peers.is_first() { self.fingerprint()? } else { String::new() };
        Ok(String::from_utf8_lossy(&self.peers.of_first(mine.into_bytes())).into_owned())
    }

    /// The record of a finished run.
    pub fn about(&self) -> Result<About, Error> {
        self.read_json(names::ABOUT)
    }

    /// What the audit found.
    pub fn audit(&self) -> Result<AuditRecord, Error> {
        let path = self.file(names::AUDIT);
        if !path.is_file() {
            return Err(Error::NotAudited(self.path.clone()));
        }
        let audit: AuditRecord = self.read_json(names::AUDIT)?;
        audit.problem().map_or(Ok(audit), |problem| Err(Error::Malformed { path, problem }))
    }

    /// The parameters of the trained network.
    pub fn model(&self) -> Result<Parameters, Error> {
        let path = self.whole(names::MODEL)?;
        let bytes = std::fs::read(&path).map_err(Error::read(&path))?;
        Parameters::from_safetensors(&bytes)
            .map_err(|problem| Error::Malformed { path, problem: problem.to_string() })
    }

    /// Tensors that a part of the run left, if it came so far, as the first worker reads them; all of them ask.
    pub(crate) fn part(&self, name: &str) -> Result<Option<Parameters>, Error> {
        let path = self.file(name);
        let mine = if self.peers.is_first() && path.is_file() {
            std::fs::read(&path).map_err(Error::read(&path))?
        } else {
            Vec::new()
        };
        let bytes = self.peers.of_first(mine);
        if bytes.is_empty() {
            return Ok(None);
        }
        let malformed =
            |problem: cleanest_engine::Error| Error::Malformed { path, problem: problem.to_string() };
        Parameters::from_safetensors(&bytes).map(Some).map_err(malformed)
    }

    /// The estimated noise.
    pub fn transition(&self) -> Result<Transition, Error> {
        Ok(Transition::read(&self.whole(names::TRANSITION)?)?)
    }

    /// Writes a file of text or bytes.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        if !self.peers.is_first() {
            return Ok(());
        }
        write_atomically(&self.file(name), bytes)
    }

    /// Writes a value as JSON.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let path = self.file(name);
        let text = serde_json::to_string_pretty(value)
            .map_err(|problem| Error::Malformed { path, problem: problem.to_string() })?;
        self.write(name, (text + "\n").as_bytes())
    }

    fn read_json<T: DeserializeOwned>(&self, name: &'static str) -> Result<T, Error> {
        let path = self.whole(name)?;
        let bytes = std::fs::read(&path).map_err(Error::read(&path))?;
        serde_json::from_slice(&bytes)
            .map_err(|problem| Error::Malformed { path, problem: problem.to_string() })
    }

    /// The path of a file that only a finished run has.
    fn whole(&self, name: &'static str) -> Result<PathBuf, Error> {
        let path = self.file(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(Error::Incomplete { path: self.path.clone(), missing: name })
        }
    }
}

/// What is wrong with a folder that lacks what every run has.
fn not_a_run(path: &Path, missing: &'static str) -> Error {
    let path = path.to_owned();
    if path.exists() { Error::NotARun { path, missing } } else { Error::NoRun(path) }
}
