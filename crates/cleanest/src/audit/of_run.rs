//! The audit of a run: what its networks say of the labels they were trained on.

use super::examine::{Audit, KnownNoise, Question, Rank};
use super::record::{AuditRecord, Posterior, Provenance};
use super::record::{EXPLAINED, OVERCONFIDENT};
use super::score::Truth;
use super::suspects::{Sources, Suspects};
use super::table::Table;
use crate::Error;
use crate::experiment::Prepared;
use crate::run::{RunFolder, files::npy_of, names};
use crate::train::{CrossFit, Outcome};
use cleanest_core::Matrix;
use cleanest_core::audit::{Block, Calibrated, Channel, Prune, Tally, calibrated, calibrated_to};
use cleanest_core::estimate::{Posteriors, frequencies, soft_confusion};
use cleanest_core::noise::Transition;
use cleanest_core::stats::normal_quantile;
use cleanest_data::probabilities::{Probabilities, Values};
use cleanest_data::{Labels, Options};

/// The probability with which intervals are meant to hold.
const LEVEL: f64 = 0.95;

/// Where networks know the classes badly, the share of wrong labels deviates by this much of their mean doubt at least,
/// however many examples there are (`results/audit`).
const LEAST_ERROR_PER_DOUBT: f64 = 0.45;

/// The labels that are judged, and what is known of their examples.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The labels, in the order of the probabilities.
    pub labels: &'a Labels,
    /// The truth, where it is known.
    pub truth: Option<Truth<'a>>,
    /// Where the examples came from.
    pub sources: Sources<'a>,
}

impl<'a> From<&'a Prepared> for Judged<'a> {
    fn from(data: &'a Prepared) -> Self {
        let truth = data.clean.as_ref().map(|labels| Truth { labels, noise: data.truth.as_ref() });
        Self { labels: data.train.labels(), truth, sources: Sources::Set(&data.train) }
    }
}

/// Audits the labels of a run that has just been trained, and writes what was found into its folder.
///
/// Where networks judged what they were not trained on, temperature and noise are fitted to the labels; elsewhere the
/// noise is counted once more, softly, over all examples.
pub fn audit_run(
    run: &RunFolder,
    (method, folds): (&str, usize),
    data: &Prepared,
    (outcome, cross): (&Outcome, Option<&CrossFit>),
) -> Result<Audit, Error> {
    let labels = data.train.labels();
    let mut question = question(labels, posterior_of(method));
    let posteriors = match cross {
        Some(cross) if question.posterior == Posterior::Clean => {
            let (found, model_error) = fitted_to(cross, labels)?;
            question.temperature = Some(found.temperature);
            question.explained = Some(found.explained);
            question.model_error = model_error;
            question.noise = Some(KnownNoise { transition: named(found.noise, labels)?, fitted: true });
            found.probabilities
        }
        Some(cross) => cross.probabilities.clone(),
        None => outcome.running_mean.clone(),
    };
    question.provenance = if cross.is_some() { Provenance::Folds { folds } } else { Provenance::RunningMean };
    // As they are kept, so that they can be audited again with the same result.
    let posteriors = as_kept(&posteriors);
    run.write(names::POSTERIORS, &npy_of(&posteriors))?;
    finish(run, &question, data.into(), &posteriors)
}

/// Temperature and noise as the labels of unseen examples have them, and how far the share of wrong labels may be off.
///
/// Networks that are far too sure of what they have not seen, or that explain hardly anything of the labels, know the
/// classes badly, and then nobody can tell their mistakes from wrong labels: the fit takes all for wrong labels, and the
/// noise that was learnt in training none. Half way between, the bounds reach both, or farther, if the networks doubt.
fn fitted_to(cross: &CrossFit, labels: &Labels) -> Result<(Calibrated, Option<f64>), Error> {
    let (probabilities, given) = (&cross.probabilities, labels.indices());
    let start = frequencies(soft_confusion(&Posteriors::new(probabilities, given)?));
    let fit = calibrated(probabilities, given, &start);
    if fit.temperature <= OVERCONFIDENT && fit.explained >= EXPLAINED {
        return Ok((fit, None));
    }
    // Where next to nothing is explained, the labels may as well all be right.
    let identity = Transition::new(Matrix::identity(fit.noise.classes()))?;
    let least = if fit.explained < EXPLAINED { &identity } else { &cross.transition };
    let learnt = calibrated_to(probabilities, given, least);
    let both = fit.noise.matrix().values().iter().zip(learnt.noise.matrix().values());
    let between = both.map(|(fit, learnt)| f64::midpoint(*fit, *learnt)).collect();
    let between = Transition::new(Matrix::from_vec(fit.noise.classes(), between))?;
    let share = |found: &Calibrated| {
        tally(found, given).wrong(None, LEVEL, 0.0).1.expected / given.len().max(1) as f64
    };
    let reach = ((share(&fit) - share(&learnt)) / 2.0).abs() / normal_quantile(0.5 + LEVEL / 2.0);
    let found = calibrated_to(probabilities, given, &between);
    let counted = tally(&found, given);
    let model_error = reach.max(LEAST_ERROR_PER_DOUBT * counted.doubt()).max(counted.model_error());
    Ok((Calibrated { temperature: fit.temperature.max(found.temperature), ..found }, Some(model_error)))
}

/// What the labels come to under a fit.
fn tally(found: &Calibrated, given: &[u32]) -> Tally {
    let mut tally = Tally::new(found.noise.classes());
    let block = Block::trusted((found.probabilities.values(), given), found.noise.classes(), 0);
    tally.count(&block, &Channel::new(&found.noise));
    tally
}

/// Audits a finished run once more, with other questions or another truth.
pub fn re_audit(
    run: &RunFolder,
    judged: Judged<'_>,
    change: impl FnOnce(&mut Question) -> Result<(), Error>,
) -> Result<Audit, Error> {
    let labels = judged.labels;
    let before = run.audit().ok();
    let mut question = question(labels, posterior_of(&run.config()?.method));
    if let Some(before) = &before {
        question.posterior = before.posterior;
        question.provenance = before.probabilities.clone();
        question.temperature = before.temperature;
        question.explained = before.explained;
        question.model_error = Some(before.model_error);
        question.noise = before.temperature.map(|_| fitted(before, labels)).transpose()?;
    }
    change(&mut question)?;
    let kept = if before.is_some() { names::POSTERIORS } else { names::PROBABILITIES };
    let posteriors = read_matrix(run, kept)?;
    Posteriors::new(&posteriors, labels.indices())?;
    finish(run, &question, judged, &posteriors)
}

/// What the probabilities of a method are of: plain cross-entropy learns the labels as they are.
fn posterior_of(method: &str) -> Posterior {
    if method == "cce" { Posterior::Noisy } else { Posterior::Clean }
}

fn question(labels: &Labels, posterior: Posterior) -> Question {
    Question {
        posterior,
        provenance: Provenance::Final,
        classes: labels.classes().names().to_vec(),
        noise: None,
        temperature: None,
        explained: None,
        model_error: None,
        prune: Prune::default(),
        rank: Rank::default(),
        level: LEVEL,
        list: usize::MAX,
    }
}

/// Asks, compares with the truth where it is known, and writes everything but the page.
fn finish(
    run: &RunFolder,
    question: &Question,
    Judged { labels, truth, sources }: Judged<'_>,
    posteriors: &Matrix,
) -> Result<Audit, Error> {
    let table = Table::Memory(posteriors, labels.indices());
    let mut audit = question.ask(&table)?;
    audit.noise = named(audit.noise, labels)?;
    if let Some(truth) = truth {
        audit.record.score = Some(truth.score(&audit, &table, labels.indices())?);
    }
    let suspects = Suspects { findings: &audit.findings, classes: labels.classes().names(), sources };
    audit.write(run, &suspects)?;
    Ok(audit)
}

impl Audit {
    /// Writes `audit.json` and the list of suspects.
    pub fn write(&self, run: &RunFolder, suspects: &Suspects<'_>) -> Result<(), Error> {
        suspects.write_csv(&run.file(names::SUSPECTS))?;
        suspects.write_parquet(&run.file(names::SUSPECTS_PARQUET))?;
        run.write_json(names::AUDIT, &self.record)
    }
}

fn named(noise: Transition, labels: &Labels) -> Result<Transition, Error> {
    Ok(noise.with_names(labels.classes().names().to_vec())?)
}

fn fitted(before: &AuditRecord, labels: &Labels) -> Result<KnownNoise, Error> {
    let classes = before.transition.expected.len();
    let matrix = Matrix::from_vec(classes, before.transition.expected.concat());
    Ok(KnownNoise { transition: named(Transition::new(matrix)?, labels)?, fitted: true })
}

/// Probabilities with the precision of a file.
fn as_kept(probabilities: &Matrix) -> Matrix {
    let kept = probabilities.values().iter().map(|&p| f64::from(p as f32)).collect();
    Matrix::from_vec(probabilities.columns(), kept)
}

fn read_matrix(run: &RunFolder, name: &str) -> Result<Matrix, Error> {
    let table = Probabilities::open(&run.file(name), &Options::default())?;
    let classes = table.classes().len();
    let mut values = Vec::with_capacity(table.rows() * classes);
    for part in table.parts() {
        match table.part(&part)? {
            Values::F32(found) => values.extend(found.iter().map(|&p| f64::from(p))),
            Values::F64(found) => values.extend_from_slice(&found),
        }
    }
    Ok(Matrix::from_vec(classes, values))
}
