//! `audit.json`: what an audit found, but for the list of suspects.

use serde::{Deserialize, Serialize};

/// Networks that have to be made this much less sure of what they have not seen know the classes badly.
pub(super) const OVERCONFIDENT: f64 = 1.5;
/// And so do networks that explain less than this share of what is uncertain about the labels.
pub(super) const EXPLAINED: f64 = 0.1;

/// What an audit found. `docs/reference/run-folder.md` specifies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Version of the program.
    pub version: String,
    /// What the probabilities are probabilities of.
    pub posterior: Posterior,
    /// Where the probabilities came from.
    pub probabilities: Provenance,
    /// The temperature that P(wrong) was calibrated with, where it was.
    pub temperature: Option<f64>,
    /// The share of the uncertainty about the labels that networks explain which have not seen them.
    pub explained: Option<f64>,
    /// Examples that were audited.
    pub examples: usize,
    /// Examples on the list of suspects.
    pub listed: usize,
    /// The probability with which each interval is meant to hold.
    pub level: f64,
    /// By how much the share of wrong labels is taken to be off, one deviation, because the model is.
    pub model_error: f64,
    /// How many labels are wrong.
    pub wrong: Estimate,
    /// What was found of each class, in the order of the classes.
    pub classes: Vec<ClassRecord>,
    /// The noise, from a true class (row) to a given label (column).
    pub transition: Intervals,
    /// The expected number of examples of each true class (row) that were given each label (column).
    pub joint: Vec<Vec<f64>>,
    /// How far down the list one has to go to find a share of the wrong labels.
    pub to_check: Vec<ListSize>,
    /// What confident learning counted, where the probabilities are of noisy labels.
    pub confident: Option<Confident>,
    /// How well it did, where the truth is known.
    pub score: Option<AuditScore>,
}

impl AuditRecord {
    /// What is wrong with a record that somebody else may have written.
    pub(crate) fn problem(&self) -> Option<String> {
        fn is_square<T>(rows: &[Vec<T>], classes: usize) -> bool {
            rows.len() == classes && rows.iter().all(|row| row.len() == classes)
        }
        let classes = self.classes.len();
        let [expected, low, high] = [&self.transition.expected, &self.transition.low, &self.transition.high];
        let is_whole = classes > 0
            && [expected, low, high, &self.joint].into_iter().all(|rows| is_square(rows, classes))
            && self.confident.as_ref().is_none_or(|found| is_square(&found.counts, classes));
        (!is_whole)
            .then(|| format!("its matrices do not have {classes} rows and columns, one for each class"))
    }

    /// What a person should know before trusting the numbers.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let (Some(temperature), Some(explained)) = (self.temperature, self.explained)
            && (temperature > OVERCONFIDENT || explained < EXPLAINED)
        {
            warnings.push(format!(
                "the networks know the classes badly: of examples they have not seen they explain {:.0} % of what is \
                 uncertain about the labels (at temperature {temperature:.1}). Their own mistakes look like wrong labels; \
                 more data or another model would help",
                100.0 * explained
            ));
        }
        for (at, class) in self.classes.iter().enumerate() {
            if class.given == 0 {
                warnings.push(format!(
                    "no example has the label `{}`: nothing is known of its noise",
                    class.name
                ));
            }
            let counted =
                self.confident.as_ref().map(|found| found.counts.iter().map(|row| row[at]).sum::<u64>());
            if counted == Some(0) || (counted.is_none() && class.true_examples < 0.5) {
                warnings.push(format!(
                    "no example is predicted to be `{}`: the model may not know it",
                    class.name
                ));
            }
        }
        warnings
    }
}

/// What probabilities are probabilities of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Posterior {
    /// The true class.
    Clean,
    /// The label as given: of a model that was trained on the labels as they are.
    Noisy,
}

/// Where probabilities came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "source")]
pub enum Provenance {
    /// Each example from a network that was not trained on it.
    Folds {
        /// In how many parts the data were cut.
        folds: usize,
    },
    /// The mean of what an example got while it was trained on, in the second half of the steps.
    RunningMean,
    /// The network after the last step, on the examples it was trained on.
    Final,
    /// From a file.
    File {
        /// Its path.
        path: String,
    },
}

/// A number that is not known, and between which bounds it probably lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What is expected.
    pub expected: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Estimate {
    /// Half of what lies between the bounds, where they are about as far below as above: then it is told as `412 ± 30`,
    /// and otherwise with both bounds.
    #[must_use]
    pub fn give_or_take(&self) -> Option<f64> {
        let (below, above) = (self.expected - self.low, self.high - self.expected);
        let half = (self.high - self.low) / 2.0;
        ((below - above).abs() <= 0.25 * half.max(2.0)).then_some(half)
    }
}

/// What was found of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassRecord {
    /// Its name.
    pub name: String,
    /// Examples that have its label.
    pub given: usize,
    /// Examples that are expected to be of it.
    #[serde(rename = "true")]
    pub true_examples: f64,
    /// Of those that have its label, how many are of another class: noise in.
    pub wrong: Estimate,
    /// Of those that are of it, how many have another label: noise out.
    pub missed: Estimate,
}

/// A matrix with bounds for each entry, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// What is expected.
    pub expected: Vec<Vec<f64>>,
    /// The lower bounds.
    pub low: Vec<Vec<f64>>,
    /// The upper bounds.
    pub high: Vec<Vec<f64>>,
}

/// How many examples, most suspicious first, hold a share of the wrong labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListSize {
    /// The share of the wrong labels.
    pub share: f64,
    /// Examples to check.
    pub examples: usize,
}

/// What confident learning counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confident {
    /// The mean probability that examples of a label have for it: what an example must reach to count.
    pub thresholds: Vec<Option<f64>>,
    /// Examples counted for each given label (row) and confident class (column).
    pub counts: Vec<Vec<u64>>,
    /// P(true class | given label), a row for each given label.
    pub inverse_noise: Vec<Vec<f64>>,
}

/// How an audit did against the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditScore {
    /// Labels that are in fact wrong.
    pub wrong: usize,
    /// Whether that lies in the interval that was given for it.
    pub wrong_covered: bool,
    /// Average precision of the ranking.
    pub average_precision: f64,
    /// The share of wrong labels among so many of the most suspicious.
    pub precision_at: Vec<PrecisionAt>,
    /// The share of right suggestions among the examples whose labels are wrong.
    pub suggestions_right: f64,
    /// The share of right labels as they were given.
    pub right_before: f64,
    /// The share of right labels after each is replaced by the suggestion.
    pub right_after: f64,
    /// The expected calibration error of P(wrong), over fifteen bins.
    pub calibration_error: f64,
    /// The bins.
    pub calibration: Vec<CalibrationRecord>,
    /// The share of the entries of the true transition matrix that lie in their intervals.
    pub transition_covered: Option<f64>,
}

/// The precision of the top of the list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionAt {
    /// Examples from the top.
    pub examples: usize,
    /// The share of them whose labels are wrong.
    pub precision: f64,
}

/// The examples whose P(wrong) falls into one part of the unit interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRecord {
    /// How many there are.
    pub examples: usize,
    /// Their mean P(wrong).
    pub expected: f64,
    /// The share of them that are wrong.
    pub wrong: f64,
}

/// An example whose label is suspicious.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// Its place in the data, from 0.
    pub row: usize,
    /// Where it came from: a file, or a row of one.
    pub source: String,
    /// The label it was given.
    pub given: u32,
    /// The label it should have.
    pub suggested: u32,
    /// P(label is wrong).
    pub p_wrong: f64,
    /// P(suggested label is right).
    pub p_suggested: f64,
    /// How far the most probable class is ahead of the second.
    pub margin: f64,
    /// Whether two classes are too close to decide between.
    pub abstains: bool,
    /// The probability of the given label, as the probabilities have it.
    pub self_confidence: f64,
    /// That less the probability of the most probable other class.
    pub normalized_margin: f64,
}
