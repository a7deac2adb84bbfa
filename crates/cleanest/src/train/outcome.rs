//! What a run found, once it is trained.

use super::checkpoint::Position;
use super::memory::Memory;
use crate::Error;
use crate::experiment::Prepared;
use crate::run::Score;
use cleanest_core::Matrix;
use cleanest_core::estimate::{Posteriors, frequencies, soft_confusion};
use cleanest_core::noise::Transition;
use cleanest_engine::Parameters;

/// What a finished run found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The network.
    pub model: Parameters,
    /// p(true class | x) of the training set, by the network after the last step.
    pub probabilities: Matrix,
    /// The mean of what each training example got while it was trained on, in the second half of the steps.
    pub running_mean: Matrix,
    /// The noise: as the method models it, or as its classifier implies it.
    pub transition: Transition,
    /// How well it did.
    pub score: Score,
    /// Whether the first stage was trained by another run.
    pub first_stage_taken: bool,
}

impl Outcome {
    /// From the network and what it says of the training set, the noise that was learnt if the method has a last word on
    /// it, and what was kept on the way.
    pub(super) fn new(
        data: &Prepared,
        (model, probabilities): (Parameters, Matrix),
        learnt: Option<Transition>,
        (memory, position): (&Memory, &Position),
    ) -> Result<Self, Error> {
        let train = &data.train;
        let seen = Posteriors::new(&probabilities, train.labels().indices())?;
        let transition = learnt.unwrap_or_else(|| frequencies(soft_confusion(&seen)));
        let transition = transition.with_names(train.labels().classes().names().to_vec())?;
        let true_classes: Vec<f64> = (0..transition.classes())
            .map(|class| probabilities.iter_rows().map(|row| row[class]).sum())
            .collect();
        let wrong = |clean: &Vec<u32>| {
            let wrong =
                clean.iter().zip(train.labels().indices()).filter(|(clean, given)| clean != given).count();
            wrong as f64 / clean.len().max(1) as f64
        };
        let score = Score {
            accuracy: position.accuracy,
            best_accuracy: position.best.map(|best| best.0),
            best_step: position.best.map(|best| best.1),
            noise_rate: Some(transition.noise_rate_for(&true_classes)?),
            true_noise_rate: data.clean.as_ref().map(wrong),
            average_tv: data.truth.as_ref().map(|truth| transition.average_tv(truth)).transpose()?,
        };
        let running_mean = memory.mean(&probabilities);
        Ok(Self { model, probabilities, running_mean, transition, score, first_stage_taken: false })
    }
}

/// Weights that are no numbers are never kept.
pub(super) fn refuse_not_finite(parameters: &Parameters, step: u64) -> Result<(), Error> {
    let broken = parameters.iter().find(|(_, tensor)| tensor.values.iter().any(|value| !value.is_finite()));
    broken.map_or(Ok(()), |(name, _)| Err(Error::NotFiniteParameter { name: name.to_owned(), step }))
}

/// The first rows of a batch, for a message.
pub(super) fn shortened(rows: &[u32]) -> String {
    let first: Vec<String> = rows.iter().take(8).map(u32::to_string).collect();
    let more = if rows.len() > 8 { format!(", ... ({} in all)", rows.len()) } else { String::new() };
    first.join(", ") + &more
}
