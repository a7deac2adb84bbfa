//! A sweep: the runs a file asks for, each with a name of its own.
//!
//! The file has the keys of a configuration, a table `grid` of lists whose product is the set of runs, and sections
//! `[[when]]` that hold for some of them. `docs/guides/sweeps.md` shows one.

use super::Config;
use super::sweep_file::{SweepFile, look, same};
use crate::Error;
use cleanest_core::methods::Task;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toml::{Table, Value};

/// Steps that a run is thought to take where they follow from the data.
const USUAL_STEPS: u64 = 1000;

/// Settings that do not change what a run finds, so that a folder made with others counts as made.
const IMMATERIAL: [&str; 5] = ["audit", "checkpoint_minutes", "checkpoint_steps", "device", "keep"];

/// One run of a sweep.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The name of its folder: the values that tell it from the others.
    pub name: String,
    /// What it is asked to do.
    pub config: Config,
    /// Steps of all its stages, or a guess at them.
    pub cost: u64,
    /// The settings that were given, before defaults.
    given: Table,
}

/// The runs of a file, in an order that only depends on the file.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The folder of the run folders.
    pub out: PathBuf,
    /// The runs.
    pub runs: Vec<Planned>,
}

/// One of several equal parts of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub index: usize,
    /// Of how many.
    pub of: usize,
}

impl Sweep {
    /// Reads a file; every `key=value` of `set` stands above what the file says.
    pub fn read(path: &Path, set: &[String]) -> Result<Self, Error> {
        let file = SweepFile::read(path, set)?;
        let within = |problem| Error::InConfig { path: path.to_owned(), problem: Box::new(problem) };
        let runs = planned(&file).map_err(within)?;
        let stem = path.file_stem().map_or("sweep".into(), |stem| stem.to_string_lossy().into_owned());
        let out = file.out.map_or_else(|| Path::new("runs").join(stem), PathBuf::from);
        Ok(Self { out, runs })
    }

    /// Keeps the runs in which each named key has one of the values given for it, as `key=value`.
    pub fn only(&mut self, wanted: &[String]) -> Result<(), Error> {
        let mut keys: Vec<(&str, Vec<&str>)> = Vec::new();
        for text in wanted {
            let (key, value) = text.split_once('=').ok_or_else(|| Error::Assignment(text.clone()))?;
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => keys.push((key, vec![value])),
            }
        }
        for (key, values) in keys {
            let has =
                |run: &Planned| look(&run.given, key).is_some_and(|found| values.contains(&&*text(found)));
            if !self.runs.iter().any(has) {
                let problem = format!("no run of the sweep has {}", values.join(" or "));
                return Err(Error::Value { key: key.to_owned(), problem });
            }
            self.runs.retain(has);
        }
        Ok(())
    }

    /// Keeps one of several parts: each run is in one of them, and they cost about the same.
    pub fn keep_shard(&mut self, shard: Shard) {
        let mut order: Vec<usize> = (0..self.runs.len()).collect();
        order.sort_by_key(|&run| Reverse(self.runs[run].cost));
        let mut loads = vec![0; shard.of];
        let mut mine = BTreeSet::new();
        for run in order {
            // The longest runs first, each to whoever has least to do: the first of equals, so that all agree.
            let to = (0..shard.of).min_by_key(|&part| loads[part]).unwrap_or(0);
            loads[to] += self.runs[run].cost;
            if to + 1 == shard.index {
                mine.insert(run);
            }
        }
        let mut at = 0..;
        self.runs.retain(|_| at.next().is_some_and(|run| mine.contains(&run)));
    }
}

impl Planned {
    /// Where settings of a folder that bears this run's name are not those that are asked for.
    pub fn refuse_other(&self, folder: &Path, made: &Config) -> Result<(), Error> {
        let moved = [
            ("data", Some(&self.config.data), Some(&made.data)),
            ("test", self.config.test.as_ref(), made.test.as_ref()),
        ];
        let made: Table = made.to_toml()?.parse().unwrap_or_default();
        let asked: Table = self.config.to_toml()?.parse().unwrap_or_default();
        let mut given = self.given.clone();
        // A set may lie elsewhere than it did; that it is the same set is seen by its sha256 when a run goes on.
        for (key, asked, made) in moved {
            if asked.and_then(|path| path.file_name()) == made.and_then(|path| path.file_name()) {
                given.remove(key);
            }
        }
        let methods =
            |key: &str| cleanest_core::methods::Choice::NAMES.contains(&key.replace('_', "-").as_str());
        given.retain(|key, _| {
            let of_other_method = methods(key) && key.replace('_', "-") != self.config.method;
            !IMMATERIAL.contains(&key) && !of_other_method
        });
        match difference("", &given, &asked, &made) {
            None => Ok(()),
            Some((key, made, asked)) => {
                Err(Error::OtherSettings { path: folder.to_owned(), key, made, asked })
            }
        }
    }
}

/// The first setting that was given and is not what a folder was made with: key, made, asked. What is asked for is compared
/// as a folder has it written, where noise has its full name and a constant the precision it is used with.
fn difference(above: &str, given: &Table, asked: &Table, made: &Table) -> Option<(String, String, String)> {
    given.iter().find_map(|(key, given)| {
        let whole = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match (given, asked.get(key).unwrap_or(given), made.get(key)) {
            (Value::Table(given), Value::Table(asked), Some(Value::Table(made))) => {
                difference(&whole, given, asked, made)
            }
            (_, asked, Some(made)) if same(asked, made) => None,
            (_, asked, made) => {
                let made = made.map_or("left out".to_owned(), |made| format!("= {}", text(made)));
                Some((whole, made, format!("`{}`", text(asked))))
            }
        }
    })
}

/// Every run of the file.
fn planned(file: &SweepFile) -> Result<Vec<Planned>, Error> {
    let mut runs: Vec<Planned> = Vec::new();
    let mut names = BTreeSet::new();
    let count: usize = file.axes.iter().map(|axis| axis.values.len()).product();
    for at in 0..count {
        let mut rest = at;
        let mut values: Vec<&Value> = Vec::new();
        for axis in file.axes.iter().rev() {
            values.push(&axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        values.reverse();
        let Some(given) = file.settings(&values)? else { continue };
        let keys = file.axes.iter().map(|axis| axis.key.as_str());
        let name = name(keys.zip(values));
        let config = Config::from_table(&given)?;
        if config.data.as_os_str().is_empty() {
            let problem = "no data is given: name a file or a folder".to_owned();
            return Err(Error::Value { key: "data".into(), problem });
        }
        if !names.insert(name.clone()) {
            let problem = format!("two runs would be called `{name}`");
            return Err(Error::Value { key: "grid".into(), problem });
        }
        let cost = cost(&config);
        runs.push(Planned { name, config, cost, given });
    }
    Ok(runs)
}

/// Steps of all stages of a run.
fn cost(config: &Config) -> u64 {
    let steps = config.steps.unwrap_or(USUAL_STEPS);
    let task = Task { classes: 2, steps, seed: 0 };
    let method = config.choice().and_then(|choice| Ok(choice.build(&task)?));
    steps * method.map_or(1, |method| method.stages() as u64)
}

/// A name such as `tvd_pair-0.4_seed-3`: what a value cannot tell of itself is told by its key.
fn name<'a>(chosen: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let letter = |letter: char| if letter.is_alphanumeric() || ".-+".contains(letter) { letter } else { '-' };
    let part = |(key, value): (&str, &Value)| {
        let value: String = text(value).chars().map(letter).collect();
        let telling = ["data", "model", "method", "noise"].contains(&key);
        let part = if telling { value } else { format!("{key}-{value}") };
        part.trim_matches(['-', '.']).to_owned()
    };
    let parts: Vec<String> = chosen.map(part).collect();
    if parts.is_empty() { "run".to_owned() } else { parts.join("_") }
}

/// A value as it stands in a name.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join("-"),
        other => other.to_string(),
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err("expected a part such as 1/8, from 1/8 to 8/8".to_owned()),
        }
    }
}
