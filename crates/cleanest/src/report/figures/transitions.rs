//! True and estimated matrices of many runs, side by side.

use crate::Error;
use crate::report::draw::{Drawing, HeatMap, Sheet};
use crate::report::table::{Trial, gather};
use crate::run::{RunFolder, names};
use cleanest_core::noise::Transition;
use std::path::Path;

/// How wide a matrix is drawn at least, and each of its classes.
const WIDTH: f64 = 130.0;
const CLASS_WIDTH: f64 = 3.0;

/// A row for each noise and a column for each method, the true matrix first; all methods that estimate one where none are named.
pub fn transitions(title: &str, runs: &Path, seed: u64, methods: Option<&[String]>) -> Result<Sheet, Error> {
    let trials = gather(&[runs.to_owned()])?.trials;
    let wanted = |trial: &&Trial| {
        trial.seed == seed
            && trial.models_noise
            && methods.is_none_or(|methods| methods.contains(&trial.method))
    };
    let trials: Vec<&Trial> = trials.iter().filter(wanted).collect();
    if trials.is_empty() {
        let problem = format!("no complete run of these methods has the seed {seed}");
        return Err(Error::Malformed { path: runs.to_owned(), problem });
    }
    let mut noises: Vec<&Trial> = Vec::new();
    let mut columns: Vec<String> = methods.unwrap_or_default().to_vec();
    for trial in &trials {
        if noises.iter().all(|known| known.noise != trial.noise) {
            noises.push(trial);
        }
        if !columns.contains(&trial.row) && methods.is_none() {
            columns.push(trial.row.clone());
        }
    }
    // A method that was not run yet leaves no gap.
    columns.retain(|column| trials.iter().any(|trial| &trial.row == column));
    noises.sort_by_key(|trial| crate::report::table::noise_place(&trial.noise));
    let (mut rows, mut width) = (Vec::new(), WIDTH);
    for first in noises {
        let estimate = |method: &String| {
            let trial = trials.iter().find(|trial| trial.noise == first.noise && &trial.row == method);
            trial.map(|trial| map(&trial.path, names::TRANSITION)).transpose().map(Option::flatten)
        };
        let mut cells = vec![map(&first.path, names::TRUTH)?];
        cells.extend(columns.iter().map(estimate).collect::<Result<Vec<_>, _>>()?);
        let classes = Transition::read(&RunFolder::open(&first.path)?.file(names::TRANSITION))?.classes();
        width = width.max(CLASS_WIDTH * classes as f64);
        rows.push((first.noise.clone(), cells));
    }
    let columns = std::iter::once("true".to_owned()).chain(columns).collect();
    Ok(Sheet { title: title.to_owned(), columns, rows, width })
}

/// The heat map of one matrix of a run, if the run has it.
fn map(run: &Path, name: &str) -> Result<Option<Drawing>, Error> {
    let path = RunFolder::open(run)?.file(name);
    if !path.is_file() {
        return Ok(None);
    }
    let transition = Transition::read(&path)?;
    let names: Vec<String> = (0..transition.classes()).map(|class| transition.name(class)).collect();
    Ok(Some(HeatMap { title: "", names: &names, values: transition.matrix(), bounds: None }.bare()))
}
