//! Cross-fitting: each example is judged by a network that was not trained on it.

use super::passes::{Architect, Pass};
use super::trainer::train;
use super::{Observer, Progress, Stop};
use crate::Error;
use crate::experiment::{Config, Prepared};
use crate::run::{RunFolder, names};
use cleanest_core::Matrix;
use cleanest_core::noise::Transition;
use cleanest_data::{Dataset, Standardization};
use cleanest_engine::{Parameters, Tensor};

/// The name under which the finished part of a fold is kept until all are done.
const DONE: &str = "done.safetensors";
const PROBABILITIES: &str = "probabilities";
const TRANSITION: &str = "transition";

/// What networks say of the examples they were not trained on.
#[derive(Clone, Debug)]
pub struct CrossFit {
    /// p(true class | x) of every example of the training set.
    pub probabilities: Matrix,
    /// The mean of the noise that the networks found.
    pub transition: Transition,
}

/// Trains a network for each fold on the examples of the others; a cut run goes on with the fold it was cut in.
///
/// Folds have equal shares of every label, and follow from the seed.
pub fn cross_fit(
    run: &RunFolder,
    (config, folds): (&Config, usize),
    data: &Prepared,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<CrossFit, Error> {
    let (train, classes) = (&data.train, data.train.labels().classes().len());
    let of = train.folds(folds, config.seed)?;
    let mut probabilities = Matrix::zeros(train.len(), classes);
    let mut mean = Matrix::zeros(classes, classes);
    for fold in 0..folds as u32 {
        let observer = &mut Share { whole: observer, part: u64::from(fold), parts: folds as u64 };
        let rows = |inside: bool| -> Vec<u32> {
            (0..train.len() as u32).filter(|&row| (of[row as usize] == fold) == inside).collect()
        };
        let held_out = rows(true);
        let folder = run.inner(&format!("{}/{}", names::FOLDS, fold + 1))?;
        let done = if let Some(done) = folder.part(DONE)? {
            done
        } else {
            let rest = Prepared::plain(train.select(&rows(false)));
            let done = one_fold(&folder, config, (&rest, &train.select(&held_out)), stop, observer)?;
            folder.write(DONE, &done.to_safetensors()?)?;
            done
        };
        let values = |name: &str| done.tensor(name).map_or(&[][..], |tensor| &tensor.values[..]);
        for (&row, said) in held_out.iter().zip(values(PROBABILITIES).chunks_exact(classes)) {
            widen(probabilities.row_mut(row as usize), said);
        }
        let entries = mean.values_mut().iter_mut().zip(values(TRANSITION));
        entries.for_each(|(mean, &entry)| *mean += f64::from(entry) / folds as f64);
    }
    let transition = cleanest_core::estimate::frequencies(mean);
    let transition = transition.with_names(train.labels().classes().names().to_vec())?;
    Ok(CrossFit { probabilities, transition })
}

/// Trains on the rest, and judges what was held out.
fn one_fold(
    folder: &RunFolder,
    config: &Config,
    (rest, held_out): (&Prepared, &Dataset),
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Parameters, Error> {
    let outcome = train(folder, config, rest, stop, observer)?;
    let classes = outcome.transition.classes();
    let mut network = Architect::new(config, held_out.shape(), classes)?.network(config.seed)?;
    network.load(&outcome.model)?;
    let standardization = config.standardization.clone().unwrap_or_else(|| Standardization::of(&rest.train));
    let peers = folder.peers().as_ref();
    let said = Pass::plain((held_out, None), &standardization).together(peers, network.as_mut())?;
    let tensor = |matrix: &Matrix| Tensor {
        shape: vec![matrix.rows(), matrix.columns()],
        values: matrix.values().iter().map(|&value| value as f32).collect(),
    };
    let mut done = Parameters::new();
    done.insert(PROBABILITIES, tensor(&said));
    done.insert(TRANSITION, tensor(outcome.transition.matrix()));
    Ok(done)
}

/// Shows the steps of one of several parts as those of the whole.
struct Share<'a> {
    whole: &'a mut dyn Observer,
    part: u64,
    parts: u64,
}

impl Observer for Share<'_> {
    fn step(&mut self, progress: &Progress<'_>) {
        let (step, steps) = (self.part * progress.steps + progress.step, self.parts * progress.steps);
        self.whole.step(&Progress { step, steps, ..*progress });
    }

    fn note(&mut self, sentence: &str) {
        self.whole.note(sentence);
    }
}

fn widen(to: &mut [f64], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = f64::from(from));
}
