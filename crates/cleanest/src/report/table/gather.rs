//! The runs under some folders: those that can be counted, and those that cannot, each with its reason.

use crate::Error;
use crate::run::{RunFolder, names};
use cleanest_core::methods::{Choice, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Value;

/// Settings that do not tell two rows of a table apart: they are its axes, or change nothing that is found.
const APART: [&str; 15] = [
    "audit",
    "checkpoint_minutes",
    "checkpoint_steps",
    "convolution",
    "data",
    "device",
    "evaluations",
    "folds",
    "keep",
    "method",
    "mode",
    "model",
    "noise",
    "seed",
    "test",
];

/// Settings that may follow from the training set, which a seed may have split off: they tell runs of one seed apart,
/// and not one seed from another.
const FOLLOWING: [&str; 1] = ["standardization"];

/// A run that came to its end.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its folder.
    pub path: PathBuf,
    /// The name of its set.
    pub data: String,
    /// Its model.
    pub model: String,
    /// Its method.
    pub method: String,
    /// Its row: the method, with the settings that differ between runs of it.
    pub row: String,
    /// The noise that was injected, or `none`.
    pub noise: String,
    /// Its seed.
    pub seed: u64,
    /// Accuracy on clean labels, in percent.
    pub accuracy: Option<f64>,
    /// Distance of its transition matrix from the true one, times 100.
    pub average_tv: Option<f64>,
    /// Whether the method has an estimate of the noise.
    pub models_noise: bool,
    settings: BTreeMap<String, String>,
}

/// What was found under some folders.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// Runs to be counted.
    pub trials: Vec<Trial>,
    /// Runs that are not, and why.
    pub left_out: Vec<(PathBuf, String)>,
}

/// Looks for runs in folders and the folders in them.
pub fn gather(paths: &[PathBuf]) -> Result<Gathered, Error> {
    let mut folders = BTreeSet::new();
    for path in paths {
        let before = folders.len();
        walk(path, &mut folders)?;
        if folders.len() == before && !path.join(names::CONFIG).is_file() {
            let problem = "no run folder is in it".to_owned();
            return Err(Error::Malformed { path: path.clone(), problem });
        }
    }
    let mut gathered = Gathered::default();
    for folder in folders {
        match trial(&folder)? {
            Ok(trial) => gathered.trials.push(trial),
            Err(reason) => gathered.left_out.push((folder, reason)),
        }
    }
    name_rows(&mut gathered.trials);
    leave_out_twins(&mut gathered);
    Ok(gathered)
}

fn walk(path: &Path, folders: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    if path.join(names::CONFIG).is_file() {
        folders.insert(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(Error::read(path))? {
        let inner = entry.map_err(Error::read(path))?.path();
        if inner.is_dir() {
            walk(&inner, folders)?;
        }
    }
    Ok(())
}

/// A run, or why it cannot be counted.
fn trial(folder: &Path) -> Result<Result<Trial, String>, Error> {
    let run = RunFolder::open(folder)?;
    if !run.is_complete() {
        let failure = std::fs::read_to_string(run.file(names::FAILURE)).ok();
        return Ok(Err(failure.map_or("incomplete".into(), |why| format!("failed: {}", why.trim()))));
    }
    let (config, score) = (run.config()?, run.about()?.score);
    if score.accuracy.is_none() && score.average_tv.is_none() {
        return Ok(Err("neither clean labels to test on nor injected noise to compare with".into()));
    }
    let name = config.data.file_name().unwrap_or(config.data.as_os_str()).to_string_lossy().into_owned();
    let mut settings = BTreeMap::new();
    flatten("", Value::Table(config.to_toml()?.parse().unwrap_or_default()), &mut settings);
    settings.retain(|key, _| !APART.contains(&key.split('.').next().unwrap_or_default()));
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    Ok(Ok(Trial {
        path: folder.to_owned(),
        data: name,
        model: config.model.clone(),
        method: config.method.clone(),
        row: config.method.clone(),
        noise: config.noise.as_ref().map_or("none".into(), ToString::to_string),
        seed: config.seed,
        accuracy: percent(score.accuracy),
        average_tv: percent(score.average_tv),
        models_noise: models_noise(&config.choice()?),
        settings,
    }))
}

/// Whether a method estimates T: at once, or in a second stage that is there for nothing else.
fn models_noise(choice: &Choice) -> bool {
    let task = Task { classes: 2, steps: 1, seed: 0 };
    choice.build(&task).is_ok_and(|method| method.stages() > 1 || method.transition().is_some())
}

/// Where runs of one method and one noise differ by more than their seed, what differs becomes a part of the row.
fn name_rows(trials: &mut [Trial]) {
    let of = |trial: &Trial| (trial.data.clone(), trial.model.clone(), trial.method.clone());
    let mut seen: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for trial in trials.iter() {
        for (key, value) in &trial.settings {
            let seed = FOLLOWING.contains(&key.split('.').next().unwrap_or_default()).then_some(trial.seed);
            let place = (of(trial), trial.noise.clone(), key.clone(), seed);
            seen.entry(place).or_default().insert(value.clone());
        }
    }
    let mut varied: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for ((method, _, key, _), values) in seen {
        if values.len() > 1 {
            varied.entry(method).or_default().insert(key);
        }
    }
    for trial in trials {
        for key in varied.get(&of(trial)).into_iter().flatten() {
            let value = trial.settings.get(key).map_or("-", String::as_str);
            trial.row = format!("{} {key}={value}", trial.row);
        }
    }
}

/// Of two runs with the same settings and the same seed, the second tells nothing new.
fn leave_out_twins(gathered: &mut Gathered) {
    let mut seen: BTreeMap<_, PathBuf> = BTreeMap::new();
    let left_out = &mut gathered.left_out;
    gathered.trials.retain(|trial| {
        let of = |trial: &Trial| (trial.data.clone(), trial.model.clone(), trial.row.clone());
        let key = (of(trial), trial.noise.clone(), trial.seed);
        if let Some(first) = seen.get(&key) {
            left_out.push((trial.path.clone(), format!("the same run as {}", first.display())));
            return false;
        }
        seen.insert(key, trial.path.clone());
        true
    });
}

/// Every value of a table by its whole key.
fn flatten(above: &str, value: Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => table.into_iter().for_each(|(key, value)| {
            let key = if above.is_empty() { key } else { format!("{above}.{key}") };
            flatten(&key, value, into);
        }),
        Value::String(text) => drop(into.insert(above.to_owned(), text)),
        other => drop(into.insert(above.to_owned(), other.to_string())),
    }
}
