//! Confident learning: counting examples the model is sure of, and cutting by those counts.
//!
//! Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 2021.

use super::census::largest;
use super::{Best, Block, Pick, Probability, Thresholds};
use crate::noise::Transition;
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The second pass: how many examples of each given label (row) are confidently of each class (column).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    classes: usize,
    counts: Vec<u64>,
}

impl Joint {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * classes] }
    }

    /// Counts a block.
    pub fn count<P: Probability>(&mut self, block: &Block<'_, P>, thresholds: &Thresholds) {
        for (_, row, label) in block.rows() {
            if let Some(class) = thresholds.confident(row) {
                self.counts[label as usize * self.classes + class] += 1;
            }
        }
    }

    /// Takes over what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
    }

    /// The counts, a row for each given label.
    #[must_use]
    pub fn counts(&self) -> Vec<Vec<u64>> {
        self.counts.chunks(self.classes).map(<[u64]>::to_vec).collect()
    }

    /// The counts with each row brought to the number of examples that have its label. A label no example of which is
    /// confident is taken to be right: at least one is counted on the diagonal.
    #[must_use]
    pub fn calibrated(&self, given: &[u64]) -> Matrix {
        let mut joint = Matrix::zeros(self.classes, self.classes);
        for (label, counts) in self.counts.chunks(self.classes).enumerate() {
            let counted = |class: usize| counts[class].max(u64::from(class == label)) as f64;
            let sum: f64 = (0..self.classes).map(counted).sum();
            for class in 0..self.classes {
                joint[(label, class)] = counted(class) / sum * given[label] as f64;
            }
        }
        joint
    }

    /// The noise matrix, P(given label | true class) with a row for each true class, and its inverse,
    /// P(true class | given label) with a row for each given label.
    #[must_use]
    pub fn noise(&self, given: &[u64]) -> (Transition, Transition) {
        let joint = self.calibrated(given);
        (crate::estimate::frequencies(joint.transposed()), crate::estimate::frequencies(joint))
    }
}

/// Which examples are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prune {
    /// For each given label and each other class, as many as the joint says, by how much more probable the class is.
    #[default]
    NoiseRate,
    /// For each given label as many as the joint says are of another class, the least sure first.
    Class,
    /// Those that both cut.
    Both,
}

impl std::str::FromStr for Prune {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        const NAMES: [(&str, Prune); 3] =
            [("noise-rate", Prune::NoiseRate), ("class", Prune::Class), ("both", Prune::Both)];
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found
            .map(|found| found.1)
            .ok_or_else(|| Error::unknown("way to prune", text, NAMES.iter().map(|found| found.0)))
    }
}

/// The third pass: how many examples to cut is known, now which.
#[derive(Clone, Debug)]
pub struct Pruning {
    classes: usize,
    by_class: Option<Vec<Best>>,
    by_rate: Option<BTreeMap<usize, Best>>,
}

impl Pruning {
    /// As many as a calibrated joint says are wrong.
    #[must_use]
    pub fn new(prune: Prune, joint: &Matrix) -> Self {
        let classes = joint.rows();
        let whole = whole(joint);
        let rates = || {
            let off = (0..classes * classes).filter(|at| at / classes != at % classes && whole[*at] > 0);
            off.map(|at| (at, Best::new(whole[at] as usize))).collect()
        };
        let class = |label: usize| {
            let wrong: u64 = (0..classes)
                .filter(|&class| class != label)
                .map(|class| whole[label * classes + class])
                .sum();
            Best::new(wrong as usize)
        };
        Self {
            classes,
            by_class: (prune != Prune::NoiseRate).then(|| (0..classes).map(class).collect()),
            by_rate: (prune != Prune::Class).then(rates),
        }
    }

    /// Looks at a block.
    pub fn consider<P: Probability>(&mut self, block: &Block<'_, P>) {
        for (row, probabilities, label) in block.rows() {
            let label = label as usize;
            let own = probabilities[label].wide();
            // Whether the model prefers another class is kept with the example: if not, it takes a place on the list
            // as the authors have it, but there is nothing to suggest, and it is left out in the end.
            let preferred = largest(probabilities) == label;
            if let Some(best) = &mut self.by_class {
                best[label].offer(Pick { key: -own, row, excused: preferred });
            }
            if let Some(rates) = &mut self.by_rate {
                let first = label * self.classes;
                for (at, best) in rates.range_mut(first..first + self.classes) {
                    let margin = probabilities[at - first].wide() - own;
                    best.offer(Pick { key: margin, row, excused: preferred });
                }
            }
        }
    }

    /// Takes over what another has found.
    pub fn merge(&mut self, other: Self) {
        if let (Some(mine), Some(theirs)) = (&mut self.by_class, other.by_class) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        if let (Some(mine), Some(theirs)) = (&mut self.by_rate, other.by_rate) {
            mine.values_mut().zip(theirs.into_values()).for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }

    /// The rows that are cut, in order.
    #[must_use]
    pub fn rows(self) -> Vec<usize> {
        let rows = |lists: Vec<Best>| {
            let picks = lists.into_iter().flat_map(Best::picks);
            let mut rows: Vec<usize> = picks.filter(|pick| !pick.excused).map(|pick| pick.row).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        let by_class = self.by_class.map(rows);
        let by_rate = self.by_rate.map(|rates| rows(rates.into_values().collect()));
        match (by_class, by_rate) {
            (Some(mut class), Some(rate)) => {
                class.retain(|row| rate.binary_search(row).is_ok());
                class
            }
            (class, rate) => class.or(rate).unwrap_or_default(),
        }
    }
}

/// Whole numbers with the row sums of the joint: the largest fractions are rounded up.
fn whole(joint: &Matrix) -> Vec<u64> {
    let mut whole = Vec::with_capacity(joint.values().len());
    for row in joint.iter_rows() {
        let first = whole.len();
        whole.extend(row.iter().map(|&count| count as u64));
        let total = row.iter().sum::<f64>().round() as u64;
        let missing = total.saturating_sub(whole[first..].iter().sum()) as usize;
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].fract().total_cmp(&row[a].fract()));
        order.iter().take(missing).for_each(|&at| whole[first + at] += 1);
    }
    whole
}
