//! The settings of a run: a TOML file, the command line, or both.

use crate::Error;
use cleanest_core::methods::Choice;
use cleanest_core::nearest;
use cleanest_core::noise::Noise;
use cleanest_data::{Augment, Options, Standardization};
use cleanest_engine::cuda::{Precision, Selection};
use cleanest_engine::{Device, Optimizer, Schedule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What a run is asked to do. Where a key is not given, it follows from the data.
///
/// Every option of `cleanest fit` is a key here and the other way round; beside these keys, the settings of a method are
/// a table of its name, such as `[tvd]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A file or folder of examples, or `digits`.
    pub data: PathBuf,
    /// Examples with clean labels to test on.
    pub test: Option<PathBuf>,
    /// The share of the data kept for testing, where noise is injected and no test set is given.
    pub test_share: Option<f64>,
    /// Noise to inject into the labels; what they were is kept to compare with.
    pub noise: Option<Noise>,
    /// The method.
    pub method: String,
    /// The model, or `auto`.
    pub model: String,
    /// Sizes of the hidden layers of an `mlp`.
    pub hidden: Option<Vec<usize>>,
    /// Training steps of each stage.
    pub steps: Option<u64>,
    /// Examples of a batch.
    pub batch: Option<usize>,
    /// Parts in which the data are cut so that each is judged by a network that was not trained on it; 0 for none.
    pub folds: Option<usize>,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Where to train: `auto`, `cpu` or `cuda:N`.
    pub device: String,
    /// In what precision a GPU computes: `bf16`, `tf32` or `f32`.
    pub precision: String,
    /// How a GPU's plans are selected: `reproducible` or `tuned`.
    pub mode: String,
    /// How convolutions are computed on the CPU: `auto` or `direct`.
    pub convolution: String,
    /// Whether batch norms see the batch of all workers, or each that of its own.
    pub sync_batch_norm: bool,
    /// How many times a stage is evaluated, its end included.
    pub evaluations: u64,
    /// Steps after which a checkpoint is written at the latest.
    pub checkpoint_steps: u64,
    /// Minutes after which one is.
    pub checkpoint_minutes: f64,
    /// The optimizer, or some of its settings.
    pub optimizer: Table,
    /// How the learning rate moves, or some of its settings.
    pub schedule: Table,
    /// Mean and deviation that the inputs are brought to 0 and 1 with.
    pub standardization: Option<Standardization>,
    /// How images are varied.
    pub augment: Option<Augment>,
    /// Whether the pass over the training set between two stages sees images varied as in training.
    pub augment_anchors: bool,
    /// How the data are read.
    pub read: Options,
    /// A safetensors file the network begins with; its last layer is drawn anew where it has other classes.
    pub weights: Option<PathBuf>,
    /// Whether the labels are audited in the end; without it there are no folds, no suspects and no page.
    pub audit: bool,
    /// What the folder keeps: `all`, or `small` for neither weights nor anything that grows with the examples.
    pub keep: Keep,
    /// The settings of methods, by the name of their table.
    #[serde(skip)]
    pub methods: BTreeMap<String, serde_json::Value>,
}

/// What a run folder keeps once the run is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Everything that was found.
    #[default]
    All,
    /// Settings, metrics and matrices: small enough to be committed.
    Small,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: PathBuf::new(),
            test: None,
            test_share: None,
            noise: None,
            method: "tvd".into(),
            model: "auto".into(),
            hidden: None,
            steps: None,
            batch: None,
            folds: None,
            seed: 0,
            device: "auto".into(),
            precision: Precision::default().to_string(),
            mode: Selection::default().to_string(),
            convolution: "auto".into(),
            sync_batch_norm: false,
            evaluations: 10,
            checkpoint_steps: 500,
            checkpoint_minutes: 5.0,
            optimizer: Table::new(),
            schedule: Table::new(),
            standardization: None,
            augment: None,
            augment_anchors: false,
            read: Options::default(),
            weights: None,
            audit: true,
            keep: Keep::All,
            methods: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads a TOML file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::read(path))?;
        Self::parse(path, &text)
    }

    /// The same for the text of a file.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        Self::from_table(&parsed(path, text)?)
            .map_err(|problem| Error::InConfig { path: path.to_owned(), problem: Box::new(problem) })
    }

    /// Takes the keys of a table, refusing those nobody knows with the nearest that somebody does.
    pub fn from_table(given: &Table) -> Result<Self, Error> {
        let mut keys = given.clone();
        let mut methods = BTreeMap::new();
        for name in Choice::NAMES {
            let key = name.replace('-', "_");
            if let Some(settings) = keys.remove(&key) {
                let settings = serde_json::to_value(settings).map_err(|problem| value(&key, &problem))?;
                Choice::with_settings(name, &settings)?;
                methods.insert(key, settings);
            }
        }
        refuse_strangers(&keys)?;
        let config: Self = Value::Table(keys).try_into().map_err(|problem: toml::de::Error| {
            Error::Value { key: "config".into(), problem: problem.message().to_owned() }
        })?;
        config.check()?;
        Ok(Self { methods, ..config })
    }

    /// The chosen method with the settings given for it.
    pub fn choice(&self) -> Result<Choice, Error> {
        let key = self.method.replace('-', "_");
        let none = serde_json::Value::Object(serde_json::Map::new());
        Ok(Choice::with_settings(&self.method, self.methods.get(&key).unwrap_or(&none))?)
    }

    /// The optimizer of a resolved configuration.
    pub fn optimizer(&self) -> Result<Optimizer, Error> {
        typed("optimizer", &self.optimizer)
    }

    /// The schedule of a resolved configuration.
    pub fn schedule(&self) -> Result<Schedule, Error> {
        typed("schedule", &self.schedule)
    }

    /// The text of a file that asks for just this run.
    pub fn to_toml(&self) -> Result<String, Error> {
        let wrong =
            |problem: toml::ser::Error| Error::Value { key: "config".into(), problem: problem.to_string() };
        let mut table = Table::try_from(self).map_err(wrong)?;
        let choice = self.choice()?;
        table.insert(choice.key(), Value::try_from(&choice).map_err(wrong)?);
        toml::to_string(&table).map_err(wrong)
    }

    fn check(&self) -> Result<(), Error> {
        let at_least_one = |key, found: Option<u64>| match found {
            Some(0) => Err(Error::Range { key, expected: "one or more", found: "0".into() }),
            _ => Ok(()),
        };
        at_least_one("steps", self.steps)?;
        at_least_one("batch", self.batch.map(|batch| batch as u64))?;
        if !self.audit && self.folds.is_some_and(|folds| folds > 0) {
            let found = self.folds.unwrap_or(0).to_string();
            return Err(Error::Range { key: "folds", expected: "0 where `audit` is false", found });
        }
        if self.folds == Some(1) {
            return Err(Error::Range { key: "folds", expected: "0, or two or more", found: "1".into() });
        }
        at_least_one("evaluations", Some(self.evaluations))?;
        at_least_one("checkpoint_steps", Some(self.checkpoint_steps))?;
        self.device.parse::<Device>()?;
        self.precision.parse::<Precision>()?;
        self.mode.parse::<Selection>()?;
        if !matches!(self.convolution.as_str(), "auto" | "direct") {
            let found = self.convolution.clone();
            return Err(Error::Range { key: "convolution", expected: "`auto` or `direct`", found });
        }
        self.choice().map(|_| ())
    }
}

/// The table of a TOML file.
pub fn table_of(path: &Path) -> Result<Table, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::read(path))?;
    parsed(path, &text)
}

fn parsed(path: &Path, text: &str) -> Result<Table, Error> {
    text.parse().map_err(|problem: toml::de::Error| {
        let line =
            problem.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        Error::Malformed { path: path.to_owned(), problem: format!("line {line}: {}", problem.message()) }
    })
}

/// Sets a key such as `tvd.gamma` in a table; the value is TOML, or else a text.
pub fn assign(table: &mut Table, assignment: &str) -> Result<(), Error> {
    let (key, text) = assignment.split_once('=').ok_or_else(|| Error::Assignment(assignment.to_owned()))?;
    let parsed = format!("x = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("x"));
    let mut at = table;
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let last = parts
        .pop()
        .filter(|last| !last.is_empty())
        .ok_or_else(|| Error::Assignment(assignment.to_owned()))?;
    for part in parts {
        let inner = at.entry(part).or_insert_with(|| Value::Table(Table::new()));
        at = inner
            .as_table_mut()
            .ok_or_else(|| Error::Value { key: part.into(), problem: "is no table".into() })?;
    }
    at.insert(last.to_owned(), parsed.unwrap_or_else(|| Value::String(text.to_owned())));
    Ok(())
}

/// A default, with what was asked for in its place; another kind than the default's has to be asked for whole.
pub(super) fn merged(given: &Table, default: &impl Serialize) -> Result<Table, Error> {
    let default = Table::try_from(default)
        .map_err(|problem| Error::Value { key: "config".into(), problem: problem.to_string() })?;
    let same_kind = given.get("name").is_none_or(|name| default.get("name") == Some(name));
    let mut merged = if same_kind { default } else { Table::new() };
    merged.extend(given.clone());
    Ok(merged)
}

fn typed<T: serde::de::DeserializeOwned>(key: &str, table: &Table) -> Result<T, Error> {
    let wrong =
        |problem: toml::de::Error| Error::Value { key: key.into(), problem: problem.message().to_owned() };
    Value::Table(table.clone()).try_into().map_err(wrong)
}

fn refuse_strangers(keys: &Table) -> Result<(), Error> {
    let known = serde_json::to_value(Config::default()).map_err(|problem| value("config", &problem))?;
    let known: Vec<&str> =
        known.as_object().into_iter().flat_map(|keys| keys.keys()).map(String::as_str).collect();
    let methods: Vec<String> = Choice::NAMES.iter().map(|name| name.replace('-', "_")).collect();
    let all = || known.iter().copied().chain(methods.iter().map(String::as_str));
    match keys.keys().find(|key| all().all(|known| known != key.as_str())) {
        None => Ok(()),
        Some(stranger) => {
            let nearest = nearest(stranger, all()).map(str::to_owned);
            Err(Error::UnknownKey { name: stranger.clone(), nearest })
        }
    }
}

fn value(key: &str, problem: &serde_json::Error) -> Error {
    Error::Value { key: key.to_owned(), problem: problem.to_string() }
}
