//! The audit itself: from probabilities and labels to what is wrong with them.

use super::Quality;
use super::finding::{CloserPass, Finding, FindingPass, RankPass};
use super::passes::TallyPass;
use super::record::{
    AuditRecord, ClassRecord, Confident, Estimate, Intervals, ListSize, Posterior, Provenance,
};
use super::table::Table;
use crate::Error;
use cleanest_core::Matrix;
use cleanest_core::audit::{
    Best, Census, Channel, Counted, Joint, MODEL_ERROR, Pick, Probability, Prune, Pruning, Tally, Undo,
};
use cleanest_core::estimate::frequencies;
use cleanest_core::noise::{Dirichlet, Transition};
use serde::{Deserialize, Serialize};

/// The shares of the wrong labels for which the length of the list is said.
const SHARES: [f64; 3] = [0.8, 0.9, 0.95];

/// What the probabilities are, and how they are looked at.
#[derive(Clone, Debug)]
pub struct Question {
    /// What they are probabilities of.
    pub posterior: Posterior,
    /// Where they came from.
    pub provenance: Provenance,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The noise, where it is known; under [`Posterior::Clean`] it is counted otherwise.
    pub noise: Option<KnownNoise>,
    /// The temperature the probabilities were brought to, if they were.
    pub temperature: Option<f64>,
    /// The share of the uncertainty about the labels that the probabilities explain, where it was looked at.
    pub explained: Option<f64>,
    /// By how much the share of wrong labels is usually off because the model is; if not said, that follows from how
    /// unsure it is.
    pub model_error: Option<f64>,
    /// Which examples confident learning cuts.
    pub prune: Prune,
    /// What confident learning ranks them by.
    pub rank: Rank,
    /// The probability with which intervals are meant to hold.
    pub level: f64,
    /// Examples on the list at most.
    pub list: usize,
}

/// A noise matrix that was found elsewhere.
#[derive(Clone, Debug)]
pub struct KnownNoise {
    /// The matrix.
    pub transition: Transition,
    /// Whether it was fitted to these labels, so that it is only known as well as they tell.
    pub fitted: bool,
}

/// What a list is ranked by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// The probability of the given label, least first.
    #[default]
    SelfConfidence,
    /// That less the probability of the most probable other class, least first.
    NormalizedMargin,
}

impl Rank {
    /// What an example is ranked by, least first.
    pub(super) fn of<P: Probability>(self, probabilities: &[P], label: u32) -> f64 {
        let quality = match self {
            Self::SelfConfidence => Quality::SelfConfidence,
            Self::NormalizedMargin => Quality::NormalizedMargin,
        };
        quality.of(probabilities, label)
    }
}

impl std::str::FromStr for Rank {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        const NAMES: [(&str, Rank); 2] =
            [("self-confidence", Rank::SelfConfidence), ("normalized-margin", Rank::NormalizedMargin)];
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|found| found.1);
        let known = NAMES.iter().map(|found| found.0);
        found.ok_or_else(|| cleanest_core::Error::unknown("way to rank", text, known).into())
    }
}

/// What an audit found.
#[derive(Clone, Debug)]
pub struct Audit {
    /// In numbers.
    pub record: AuditRecord,
    /// The suspicious examples, most suspicious first.
    pub findings: Vec<Finding>,
    /// The noise that was assumed.
    pub noise: Transition,
}

impl Question {
    /// Looks at every example.
    pub fn ask(&self, table: &Table<'_>) -> Result<Audit, Error> {
        match self.posterior {
            Posterior::Clean => self.by_bayes(table),
            Posterior::Noisy => self.by_confident_learning(table),
        }
    }

    fn by_bayes(&self, table: &Table<'_>) -> Result<Audit, Error> {
        let classes = table.classes();
        let census = table.census(self.noise.is_none())?;
        let noise = match &self.noise {
            Some(known) if known.transition.classes() != classes => {
                let (expected, found) = (classes, known.transition.classes());
                let what = "the transition matrix";
                return Err(cleanest_core::Error::Classes { what, expected, found }.into());
            }
            Some(known) => known.transition.clone(),
            None => frequencies(census.soft()),
        };
        let channel = Channel::new(&noise);
        let fresh = || TallyPass { tally: Tally::new(classes), channel: &channel };
        let tally = table.pass(fresh)?.tally;
        let counts = match &self.noise {
            Some(known) if known.fitted => Some(tally.joint()),
            Some(_) => None,
            None => Some(census.soft()),
        };
        let counts = counts.map(smoothed).transpose()?;
        let model_error = self.model_error.unwrap_or_else(|| tally.model_error());
        let (each, all) = tally.wrong(counts.as_ref(), self.level, model_error);
        let cutoff = tally.cutoff(SHARES[SHARES.len() - 1]);
        let mut findings = table.pass(|| FindingPass { channel: &channel, cutoff, found: Vec::new() })?.found;
        findings.sort_by(|a, b| b.wrong.total_cmp(&a.wrong).then(a.row.cmp(&b.row)));
        findings.truncate(self.list);
        let to_check = SHARES.map(|share| ListSize { share, examples: tally.list_size(share) });
        let record = AuditRecord {
            wrong: all.into(),
            listed: findings.len(),
            to_check: to_check.to_vec(),
            model_error,
            ..self.record(&census, &tally.joint(), &noise, (counts.as_ref(), &each))?
        };
        Ok(Audit { record, findings, noise })
    }

    fn by_confident_learning(&self, table: &Table<'_>) -> Result<Audit, Error> {
        let census = table.census(false)?;
        let thresholds = census.thresholds();
        let calibrated = |counted: &Joint| counted.calibrated(census.given());
        let (counted, cut) = table.cut(self.prune, &thresholds, calibrated)?;
        let joint = calibrated(&counted);
        let (mut noise, inverse) = counted.noise(census.given());
        if let Some(known) = &self.noise {
            noise = known.transition.clone();
        }
        let findings = self.look_closer(table, cut, &noise)?;
        let expected = joint.transposed();
        let model_error = self.model_error.unwrap_or(MODEL_ERROR);
        let (each, all) = confident_counts(&counted, &joint, (self.level, model_error));
        let counts = smoothed(expected.clone())?;
        let confident = Confident {
            thresholds: thresholds.values(),
            counts: counted.counts(),
            inverse_noise: rows_of(inverse.matrix()),
        };
        let record = AuditRecord {
            wrong: all.into(),
            listed: findings.len(),
            to_check: lengths(&findings, all.expected),
            confident: Some(confident),
            model_error,
            ..self.record(&census, &expected, &noise, (Some(&counts), &each))?
        };
        Ok(Audit { record, findings, noise })
    }

    /// What is known of the examples that were cut: the true class by undoing the noise, then Bayes. Only those that
    /// come on the list are looked at so closely.
    fn look_closer(
        &self,
        table: &Table<'_>,
        cut: Pruning,
        noise: &Transition,
    ) -> Result<Vec<Finding>, Error> {
        let rank = |finding: &Finding| match self.rank {
            Rank::SelfConfidence => finding.self_confidence,
            Rank::NormalizedMargin => finding.normalized_margin,
        };
        let order = |a: &Finding, b: &Finding| rank(a).total_cmp(&rank(b)).then(a.row.cmp(&b.row));
        let in_order = |mut rows: Vec<usize>| {
            rows.sort_unstable();
            rows
        };
        let listed = if self.list < usize::MAX && self.rank == Rank::SelfConfidence {
            // It was noted when the example was cut.
            let mut worst = Best::new(self.list);
            cut.each_cut(|pick| _ = worst.offer(Pick::new(-f64::from(pick.note()), pick.row(), false)));
            in_order(worst.picks().iter().map(Pick::row).collect())
        } else {
            let rows = cut.rows();
            if rows.len() <= self.list {
                rows
            } else {
                let fresh = || RankPass { rows: &rows, rank: self.rank, worst: Best::new(self.list) };
                in_order(table.pass_over(&rows, fresh)?.worst.picks().iter().map(Pick::row).collect())
            }
        };
        let (undo, channel) = (Undo::new(noise), Channel::new(noise));
        let fresh = || CloserPass { rows: &listed, undo: &undo, channel: &channel, found: Vec::new() };
        let mut findings = table.pass_over(&listed, fresh)?.found;
        findings.sort_by(order);
        Ok(findings)
    }

    /// What both ways have in common.
    fn record(
        &self,
        census: &Census,
        joint: &Matrix,
        noise: &Transition,
        (counts, wrong): (Option<&Dirichlet>, &[Counted]),
    ) -> Result<AuditRecord, Error> {
        let transition = intervals(noise, counts, self.level)?;
        let class = |(at, name): (usize, &String)| {
            let examples: f64 = joint.row(at).iter().sum();
            let missed = |kept: f64| examples * (1.0 - kept);
            ClassRecord {
                name: name.clone(),
                given: census.given()[at] as usize,
                true_examples: examples,
                wrong: wrong[at].into(),
                missed: Estimate {
                    expected: examples - joint[(at, at)],
                    low: missed(transition.high[at][at]),
                    high: missed(transition.low[at][at]),
                },
            }
        };
        Ok(AuditRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            posterior: self.posterior,
            probabilities: self.provenance.clone(),
            temperature: self.temperature,
            explained: self.explained,
            examples: census.given().iter().sum::<u64>() as usize,
            listed: 0,
            level: self.level,
            model_error: 0.0,
            wrong: Estimate { expected: 0.0, low: 0.0, high: 0.0 },
            classes: self.classes.iter().enumerate().map(class).collect(),
            transition,
            joint: rows_of(joint),
            to_check: Vec::new(),
            confident: None,
            score: None,
        })
    }
}

impl From<Counted> for Estimate {
    fn from(counted: Counted) -> Self {
        Self { expected: counted.expected, low: counted.low, high: counted.high }
    }
}

/// Counts with one more example for each class, spread over all labels: what was never seen is not impossible.
fn smoothed(mut counts: Matrix) -> Result<Dirichlet, Error> {
    let share = 1.0 / counts.columns() as f64;
    counts.values_mut().iter_mut().for_each(|count| *count += share);
    Ok(Dirichlet::new(counts)?)
}

/// The matrix with bounds; those of a matrix that is known are the matrix itself.
fn intervals(noise: &Transition, counts: Option<&Dirichlet>, level: f64) -> Result<Intervals, Error> {
    let expected = rows_of(noise.matrix());
    let Some(counts) = counts else {
        return Ok(Intervals { low: expected.clone(), high: expected.clone(), expected });
    };
    let (low, high) = counts.interval(level)?;
    Ok(Intervals { expected, low: rows_of(&low), high: rows_of(&high) })
}

/// How many labels are wrong by the confident joint: a share of each label's examples, known as well as a share of its
/// confident examples can be.
fn confident_counts(
    counted: &Joint,
    joint: &Matrix,
    (level, model_error): (f64, f64),
) -> (Vec<Counted>, Counted) {
    let width = cleanest_core::stats::normal_quantile(0.5 + level / 2.0);
    let bounded = |expected: f64, variance: f64, most: f64| {
        let reach = width * variance.sqrt();
        Counted { expected, low: (expected - reach).max(0.0), high: (expected + reach).min(most) }
    };
    let examples: f64 = joint.values().iter().sum();
    let model = (model_error * examples).powi(2);
    let (mut each, mut expected, mut variance) = (Vec::new(), 0.0, model);
    for (label, (row, counts)) in joint.iter_rows().zip(counted.counts()).enumerate() {
        let given: f64 = row.iter().sum();
        let wrong = given - row[label];
        let share = if given > 0.0 { wrong / given } else { 0.0 };
        let own = given * given * share * (1.0 - share) / (counts.iter().sum::<u64>() as f64 + 1.0);
        each.push(bounded(wrong, own + model / joint.rows() as f64, given));
        (expected, variance) = (expected + wrong, variance + own);
    }
    (each, bounded(expected, variance, examples))
}

/// How far down a list one has to go; as far as the list goes.
fn lengths(findings: &[Finding], expected: f64) -> Vec<ListSize> {
    let mut sizes = Vec::new();
    let mut found = 0.0;
    for (at, finding) in findings.iter().enumerate() {
        found += f64::from(finding.wrong);
        while sizes.len() < SHARES.len() && found >= SHARES[sizes.len()] * expected {
            sizes.push(ListSize { share: SHARES[sizes.len()], examples: at + 1 });
        }
    }
    sizes
}

/// A matrix row by row.
fn rows_of(matrix: &Matrix) -> Vec<Vec<f64>> {
    matrix.iter_rows().map(<[f64]>::to_vec).collect()
}
