//! Which examples are taken for wrongly labeled, and nothing else: for programs that want a mask or a list of rows.

use super::passes::Pass;
use super::table::Table;
use crate::Error;
use cleanest_core::audit::{Best, Block, Joint, Pick, Probability, Prune, Thresholds};
use cleanest_core::{Error as Problem, Matrix};

/// Which examples are taken for wrongly labeled, from probabilities of the labels as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// As many as the confident joint says.
    Prune(Prune),
    /// Those that the confident joint counts for another class than their label.
    Confident,
    /// Those whose most probable class is not their label.
    Predicted,
    /// Those of the lowest quality, as many as [`Filter::Confident`] finds.
    Lowest(Quality),
}

/// How good a label looks, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// The probability of the label.
    SelfConfidence,
    /// That less the probability of the most probable other class.
    NormalizedMargin,
    /// The entropy of the probabilities over that of the label, with its sign turned.
    ConfidenceWeightedEntropy,
}

/// How many are cut where the joint decides about it.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The share of what the joint says is wrong.
    pub share: f64,
    /// Examples of each label that are never cut.
    pub keep: u64,
    /// How many of each label, in place of what the joint says.
    pub of_label: Option<Vec<u64>>,
    /// The joint, a row for each label, where another one than that of these examples is meant.
    pub joint: Option<Matrix>,
}

impl Default for Cut {
    fn default() -> Self {
        Self { share: 1.0, keep: 1, of_label: None, joint: None }
    }
}

impl Quality {
    /// The quality of one label.
    pub fn of<P: Probability>(self, probabilities: &[P], label: u32) -> f64 {
        let own = probabilities[label as usize].wide();
        match self {
            Self::SelfConfidence => own,
            Self::NormalizedMargin => {
                let others = probabilities.iter().enumerate().filter(|(class, _)| *class != label as usize);
                own - others.map(|(_, p)| p.wide()).fold(0.0, f64::max)
            }
            Self::ConfidenceWeightedEntropy => {
                let positive = probabilities.iter().map(|p| p.wide()).filter(|p| *p > 0.0);
                let entropy: f64 = positive.map(|p| -p * p.ln()).sum();
                -entropy / (probabilities.len() as f64).ln() / own.max(f64::MIN_POSITIVE)
            }
        }
    }
}

impl Filter {
    /// The rows of the examples that are taken for wrongly labeled, in order.
    pub fn rows(self, table: &Table<'_>, cut: &Cut) -> Result<Vec<usize>, Error> {
        let census = table.census(false)?;
        let thresholds = census.thresholds();
        let confused = || table.pass(|| Confused { thresholds: &thresholds, rows: Vec::new() });
        match self {
            Self::Predicted => Ok(table.pass(Predicted::default)?.rows),
            Self::Confident => Ok(confused()?.rows),
            Self::Lowest(quality) => {
                let most = confused()?.rows.len();
                let fresh = || Lowest { quality, worst: Best::new(most) };
                let mut rows: Vec<usize> = table.pass(fresh)?.worst.picks().iter().map(Pick::row).collect();
                rows.sort_unstable();
                Ok(rows)
            }
            Self::Prune(prune) => {
                let given = census.given();
                let wrong = |counted: &Joint| {
                    let joint = cut.joint.clone().unwrap_or_else(|| counted.calibrated(given));
                    cut.apply(joint, given)
                };
                Ok(table.cut(prune, &thresholds, wrong)?.1.rows())
            }
        }
    }
}

/// Some rows, in order, by the quality of their labels, lowest first; of equal ones the earlier row.
pub fn ranked(table: &Table<'_>, rows: &[usize], quality: Quality) -> Result<Vec<usize>, Error> {
    let mut scored = table.pass_over(rows, || Scored { rows, quality, found: Vec::new() })?.found;
    scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(scored.into_iter().map(|(_, row)| row).collect())
}

impl Cut {
    /// The joint with as many wrong examples as are to be cut.
    #[must_use]
    pub fn apply(&self, mut joint: Matrix, given: &[u64]) -> Matrix {
        for (label, &given) in given.iter().enumerate() {
            let row = joint.row_mut(label);
            if given <= self.keep {
                keep_all(row, label);
                continue;
            }
            // So that those that are kept are left over, and in the proportions of the joint.
            let (total, wrong): (f64, f64) = (row.iter().sum(), total_but(row, label));
            let most = (total - self.keep as f64).max(0.0);
            if wrong > 0.0 {
                only(row, label, wrong.min(most) * self.share);
            }
            if let Some(of_label) = &self.of_label {
                only(row, label, (of_label[label] as f64).min((given - self.keep) as f64));
            }
        }
        joint
    }
}

fn total_but(row: &[f64], label: usize) -> f64 {
    row.iter().sum::<f64>() - row[label]
}

fn keep_all(row: &mut [f64], label: usize) {
    let total = row.iter().sum();
    row.fill(0.0);
    row[label] = total;
}

/// As many wrong ones as are asked for, in the proportions of the joint; where it knows of none, for any class.
fn only(row: &mut [f64], label: usize, wanted: f64) {
    let (total, wrong): (f64, f64) = (row.iter().sum(), total_but(row, label));
    if wrong > 0.0 {
        (0..row.len()).filter(|&class| class != label).for_each(|class| row[class] *= wanted / wrong);
    } else {
        let next = (label + 1) % row.len();
        row[next] = wanted;
    }
    row[label] = (total - wanted).max(0.0);
}

/// Whether no class is more probable than the label.
fn is_predicted<P: Probability>(probabilities: &[P], label: u32) -> bool {
    let own = probabilities[label as usize];
    probabilities.iter().all(|p| *p <= own)
}

struct Confused<'a> {
    thresholds: &'a Thresholds,
    rows: Vec<usize>,
}

impl Pass for Confused<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        Joint::each_confused(block, self.thresholds, |row, probabilities, label| {
            if !is_predicted(probabilities, label) {
                self.rows.push(row);
            }
        });
        Ok(())
    }

    fn merge(&mut self, mut next: Self) {
        self.rows.append(&mut next.rows);
    }
}

#[derive(Default)]
struct Predicted {
    rows: Vec<usize>,
}

impl Pass for Predicted {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        let others = block.rows().filter(|(_, probabilities, label)| !is_predicted(probabilities, *label));
        self.rows.extend(others.map(|(row, _, _)| row));
        Ok(())
    }

    fn merge(&mut self, mut next: Self) {
        self.rows.append(&mut next.rows);
    }
}

struct Lowest {
    quality: Quality,
    worst: Best,
}

impl Pass for Lowest {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        for (row, probabilities, label) in block.rows() {
            self.worst.offer(Pick::new(-self.quality.of(probabilities, label), row, false));
        }
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.worst.merge(next.worst);
    }
}

struct Scored<'a> {
    rows: &'a [usize],
    quality: Quality,
    found: Vec<(f64, usize)>,
}

impl Pass for Scored<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        let scored = block.among(self.rows);
        self.found.extend(scored.map(|(row, p, label)| (self.quality.of(p, label), row)));
        Ok(())
    }

    fn merge(&mut self, mut next: Self) {
        self.found.append(&mut next.found);
    }
}
