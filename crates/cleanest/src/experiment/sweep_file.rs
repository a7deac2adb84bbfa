//! What a file of a sweep says: a configuration, lists of values, and what holds for some of the runs only.

use super::config::{assign, table_of};
use crate::Error;
use cleanest_core::nearest;
use std::path::Path;
use toml::{Table, Value};

/// Keys of a sweep's file that are no settings of a run.
pub(super) const OUT: &str = "out";
const GRID: &str = "grid";
const WHEN: &str = "when";
/// Keys of a section that holds for some runs.
const IF: &str = "if";
const SKIP: &str = "skip";

/// A list of values of one key: runs differ by which one they take.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The key, with dots where it is inside a table.
    pub(super) key: String,
    pub(super) values: Vec<Value>,
}

/// A section that holds for the runs its conditions are true of.
#[derive(Clone, Debug)]
struct Section {
    conditions: Vec<(String, Vec<Value>)>,
    settings: Table,
    skips: bool,
}

/// The file, taken apart.
#[derive(Clone, Debug)]
pub(super) struct SweepFile {
    pub(super) out: Option<String>,
    /// In the order in which a name shows them; the last one changes fastest.
    pub(super) axes: Vec<Axis>,
    sections: Vec<Section>,
    base: Table,
    /// What `--set` says of each run.
    set: Vec<String>,
}

impl SweepFile {
    /// Reads a file; what is set on the command line stands above all that it says.
    pub(super) fn read(path: &Path, set: &[String]) -> Result<Self, Error> {
        let table = table_of(path)?;
        Self::of(table, set).map_err(|problem| match problem {
            Error::Assignment(_) => problem,
            _ => Error::InConfig { path: path.to_owned(), problem: Box::new(problem) },
        })
    }

    fn of(mut table: Table, set: &[String]) -> Result<Self, Error> {
        for assignment in set {
            assign(&mut table, assignment)?;
        }
        let out = match table.remove(OUT) {
            None => None,
            Some(Value::String(out)) => Some(out),
            Some(other) => return Err(wrong(OUT, &format!("expected the name of a folder: {other}"))),
        };
        let mut axes = Vec::new();
        flatten(GRID, "", table.remove(GRID).unwrap_or(Value::Table(Table::new())), &mut axes)?;
        axes.sort_by_key(|axis| (rank(&axis.key), axis.key.clone()));
        let sections = match table.remove(WHEN) {
            None => Vec::new(),
            Some(Value::Array(sections)) => sections.into_iter().map(section).collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong(WHEN, "expected sections that begin with `[[when]]`")),
        };
        let own = |assignment: &&String| {
            let first = assignment.split(['.', '=']).next().unwrap_or_default().trim();
            ![OUT, GRID, WHEN].contains(&first)
        };
        let set: Vec<String> = set.iter().filter(own).cloned().collect();
        let file = Self { out, axes, sections, base: table, set };
        file.refuse_twice()?;
        file.refuse_strange_conditions()?;
        Ok(file)
    }

    /// The settings of the run with these values of the axes; none if a section skips it.
    pub(super) fn settings(&self, values: &[&Value]) -> Result<Option<Table>, Error> {
        let mut table = self.base.clone();
        for (axis, &value) in self.axes.iter().zip(values) {
            put(&mut table, &axis.key, value.clone())?;
        }
        let holds = |section: &&Section| {
            let met = |(key, any): &(String, Vec<Value>)| {
                look(&table, key).is_some_and(|found| any.iter().any(|value| same(value, found)))
            };
            section.conditions.iter().all(met)
        };
        let sections: Vec<&Section> = self.sections.iter().filter(holds).collect();
        if sections.iter().any(|section| section.skips) {
            return Ok(None);
        }
        for section in sections {
            merge(&mut table, &section.settings);
        }
        for assignment in &self.set {
            assign(&mut table, assignment)?;
        }
        Ok(Some(table))
    }

    /// A key is either the same for all runs or an axis.
    fn refuse_twice(&self) -> Result<(), Error> {
        match self.axes.iter().find(|axis| look(&self.base, &axis.key).is_some()) {
            None => Ok(()),
            Some(Axis { key, .. }) => Err(wrong(
                key,
                &format!(
                    "is a list of `grid` as well; choose with --only {key}=VALUE or --set grid.{key}=[VALUE]"
                ),
            )),
        }
    }

    /// A condition on a key that no run has would never hold, and nobody would notice.
    fn refuse_strange_conditions(&self) -> Result<(), Error> {
        let axes = || self.axes.iter().map(|axis| axis.key.as_str());
        for (key, _) in self.sections.iter().flat_map(|section| &section.conditions) {
            if look(&self.base, key).is_none() && axes().all(|axis| axis != key) {
                let nearest = nearest(key, axes().chain(self.base.keys().map(String::as_str)));
                return Err(Error::UnknownKey { name: key.clone(), nearest: nearest.map(str::to_owned) });
            }
        }
        Ok(())
    }
}

/// Where a key stands in the name of a run; the seed, which changes fastest, comes last.
fn rank(key: &str) -> usize {
    let first = ["data", "model", "method", "noise"];
    first.iter().position(|&known| known == key).unwrap_or(if key == "seed" { 9 } else { 5 })
}

/// The lists of a table, those inside its tables by their whole key.
fn flatten(whole: &str, above: &str, value: Value, axes: &mut Vec<Axis>) -> Result<(), Error> {
    match value {
        Value::Table(inner) => inner.into_iter().try_for_each(|(key, value)| {
            let key = if above.is_empty() { key } else { format!("{above}.{key}") };
            flatten(&format!("{GRID}.{key}"), &key, value, axes)
        }),
        Value::Array(values) if !values.is_empty() && !above.is_empty() => {
            axes.push(Axis { key: above.to_owned(), values });
            Ok(())
        }
        other => Err(wrong(whole, &format!("expected a list of values: {other}"))),
    }
}

fn section(value: Value) -> Result<Section, Error> {
    let Value::Table(mut settings) = value else { return Err(wrong(WHEN, "expected a table")) };
    let Some(Value::Table(conditions)) = settings.remove(IF) else {
        return Err(wrong(WHEN, "expected `if = { KEY = VALUE }` in each section"));
    };
    let skips = match settings.remove(SKIP) {
        None => false,
        Some(Value::Boolean(skips)) => skips,
        Some(other) => return Err(wrong("when.skip", &format!("expected true or false: {other}"))),
    };
    let any = |value: Value| if let Value::Array(values) = value { values } else { vec![value] };
    let conditions = conditions.into_iter().map(|(key, value)| (key, any(value))).collect();
    Ok(Section { conditions, settings, skips })
}

/// The value of a key such as `tvd.gamma`.
pub(super) fn look<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => look(table.get(first)?.as_table()?, rest),
    }
}

fn put(table: &mut Table, key: &str, value: Value) -> Result<(), Error> {
    let Some((first, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return Ok(());
    };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    put(inner.as_table_mut().ok_or_else(|| wrong(first, "is no table"))?, rest, value)
}

/// What a section says goes above what was there, key by key.
fn merge(table: &mut Table, above: &Table) {
    for (key, value) in above {
        match (table.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            _ => drop(table.insert(key.clone(), value.clone())),
        }
    }
}

/// Whether two values are the same; 10 is 10.0.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => a == b || number(a).is_some_and(|a| number(b) == Some(a)),
    }
}

fn wrong(key: &str, problem: &str) -> Error {
    Error::Value { key: key.to_owned(), problem: problem.to_owned() }
}
