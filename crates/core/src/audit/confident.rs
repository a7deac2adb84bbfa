//! Confident learning: counting examples the model is sure of, and cutting by those counts.
//!
//! Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 2021.

use super::block::{MAJORITY, TOLERANCE};
use super::census::{confident, largest};
use super::{Best, Block, Pick, Probability, Thresholds};
use crate::noise::Transition;
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};

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
        let thresholds = thresholds.rounded::<P>();
        for (_, row, label) in block.rows() {
            if let Some(class) = confident(row, label as usize, &thresholds) {
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
    labels: Vec<LabelPruning>,
}

/// What is cut of the examples of one label.
#[derive(Clone, Debug)]
struct LabelPruning {
    /// The least sure of their label.
    least_sure: Option<Best>,
    /// For each other class, those for which it is ahead of the label by most.
    ahead: Option<Vec<(usize, Best)>>,
    /// An example that is at least so sure of its label is not cut.
    safe: f64,
}

impl Pruning {
    /// As many as a calibrated joint says are wrong.
    #[must_use]
    pub fn new(prune: Prune, joint: &Matrix) -> Self {
        let classes = joint.rows();
        let whole = whole(joint);
        let label = |label: usize| {
            let counts = &whole[label * classes..(label + 1) * classes];
            let others =
                || counts.iter().enumerate().filter(move |(class, count)| *class != label && **count > 0);
            let wrong: u64 = others().map(|(_, count)| count).sum();
            LabelPruning {
                least_sure: (prune != Prune::NoiseRate).then(|| Best::new(wrong as usize)),
                ahead: (prune != Prune::Class)
                    .then(|| others().map(|(class, &count)| (class, Best::new(count as usize))).collect()),
                safe: f64::INFINITY,
            }
        };
        Self { labels: (0..classes).map(label).collect() }
    }

    /// Looks at a block.
    pub fn consider<P: Probability>(&mut self, block: &Block<'_, P>) {
        for (row, probabilities, label) in block.rows() {
            let pruning = &mut self.labels[label as usize];
            if probabilities[label as usize].wide() < pruning.safe {
                pruning.consider(row, probabilities, label as usize);
            }
        }
    }

    /// Takes over what another has found.
    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.labels.iter_mut().zip(other.labels) {
            if let (Some(mine), Some(theirs)) = (&mut mine.least_sure, theirs.least_sure) {
                mine.merge(theirs);
            }
            if let (Some(mine), Some(theirs)) = (&mut mine.ahead, theirs.ahead) {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.1.merge(theirs.1));
            }
        }
    }

    /// The rows that are cut, in order. Those whose most probable class is the label they have are not: they take their
    /// places on the lists, but there is nothing to suggest.
    #[must_use]
    pub fn rows(self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.labels.into_iter().flat_map(LabelPruning::rows).collect();
        rows.sort_unstable();
        rows
    }
}

impl LabelPruning {
    fn consider<P: Probability>(&mut self, row: usize, probabilities: &[P], label: usize) {
        let own = probabilities[label].wide();
        let excused = own > MAJORITY || largest(probabilities) == label;
        let mut changed = false;
        if let Some(best) = &mut self.least_sure {
            changed |= best.offer(Pick::new(-own, row, excused));
        }
        for (class, best) in self.ahead.iter_mut().flatten() {
            changed |= best.offer(Pick::new(probabilities[*class].wide() - own, row, excused));
        }
        if changed {
            self.safe = self.least_safe();
        }
    }

    /// How sure of its label an example must be to be on none of the lists: no class can be ahead by more than what is
    /// left over.
    fn least_safe(&self) -> f64 {
        let by_sureness = self.least_sure.as_ref().map_or(0.0, |best| -best.bar());
        let bars = self.ahead.iter().flatten().map(|(_, best)| best.bar());
        let by_margin = bars.map(|bar| (1.0 + TOLERANCE - bar) / 2.0).fold(0.0, f64::max);
        // An example that is as good as the worst on a list may still come before it.
        by_sureness.max(by_margin).next_up()
    }

    fn rows(self) -> Vec<usize> {
        let rows = |lists: Vec<Best>| {
            let picks = lists.into_iter().flat_map(Best::picks);
            let mut rows: Vec<usize> = picks.filter(|pick| !pick.excused()).map(|pick| pick.row()).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        let least_sure = self.least_sure.map(|best| rows(vec![best]));
        let ahead = self.ahead.map(|lists| rows(lists.into_iter().map(|list| list.1).collect()));
        match (least_sure, ahead) {
            (Some(mut least_sure), Some(ahead)) => {
                least_sure.retain(|row| ahead.binary_search(row).is_ok());
                least_sure
            }
            (least_sure, ahead) => least_sure.or(ahead).unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::super::Census;
    use super::*;
    use crate::random::Stream;

    /// Rows of some classes with labels, a tenth of which are wrong.
    fn example(rows: usize, classes: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
        let mut stream = Stream::new(seed, "test", 0);
        let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let class = stream.below(classes);
            let mut row: Vec<f64> = (0..classes).map(|_| stream.normal().exp()).collect();
            row[class] *= 20.0;
            let sum: f64 = row.iter().sum();
            probabilities.extend(row.iter().map(|p| (p / sum) as f32));
            let wrong = stream.uniform() < 0.1;
            labels.push(((class + usize::from(wrong)) % classes) as u32);
        }
        (probabilities, labels)
    }

    /// What the definition says, example by example and list by list.
    fn by_definition(prune: Prune, block: &Block<'_, f32>, joint: &Matrix) -> Vec<usize> {
        let (classes, whole) = (joint.rows(), whole(joint));
        let rows: Vec<_> = block.rows().collect();
        let mut cut = [vec![false; rows.len()], vec![false; rows.len()]];
        let mut take = |kind: usize, mut keyed: Vec<(f64, usize)>, count: u64| {
            keyed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            keyed.iter().take(count as usize).for_each(|&(_, row)| cut[kind][row] = true);
        };
        for label in 0..classes {
            let own: Vec<_> = rows.iter().filter(|row| row.2 as usize == label).collect();
            let mut wrong = 0;
            for class in (0..classes).filter(|&class| class != label) {
                let count = whole[label * classes + class];
                let margin = |p: &[f32]| f64::from(p[class]) - f64::from(p[label]);
                take(1, own.iter().map(|(row, p, _)| (margin(p), *row)).collect(), count);
                wrong += count;
            }
            take(0, own.iter().map(|(row, p, _)| (-f64::from(p[label]), *row)).collect(), wrong);
        }
        let is_cut = |row: usize| match prune {
            Prune::Class => cut[0][row],
            Prune::NoiseRate => cut[1][row],
            Prune::Both => cut[0][row] && cut[1][row],
        };
        let disagrees =
            |(row, p, label): &(usize, &[f32], u32)| is_cut(*row) && largest(p) != *label as usize;
        rows.iter().filter(|row| disagrees(row)).map(|row| row.0).collect()
    }

    #[test]
    fn pruning_finds_what_the_definition_says_however_the_rows_are_divided() {
        for (seed, classes) in [(0, 3), (1, 5), (2, 10)] {
            let (probabilities, labels) = example(3000, classes, seed);
            let block = Block::checked((&probabilities[..], &labels[..]), classes, 0).unwrap();
            let mut census = Census::new(classes);
            census.count(&block);
            let mut counts = Joint::new(classes);
            counts.count(&block, &census.thresholds());
            let joint = counts.calibrated(census.given());
            for prune in [Prune::NoiseRate, Prune::Class, Prune::Both] {
                let expected = by_definition(prune, &block, &joint);
                assert!(expected.len() > 50, "{prune:?} finds something");
                for parts in [1, 7] {
                    let mut pruning = Pruning::new(prune, &joint);
                    for (at, labels) in labels.chunks(3000_usize.div_ceil(parts)).enumerate().rev() {
                        let first = at * 3000_usize.div_ceil(parts);
                        let rows = &probabilities[first * classes..(first + labels.len()) * classes];
                        let mut part = Pruning::new(prune, &joint);
                        part.consider(&Block::trusted((rows, labels), classes, first));
                        pruning.merge(part);
                    }
                    assert_eq!(pruning.rows(), expected, "{prune:?} in {parts} parts");
                }
            }
        }
    }

    #[test]
    fn the_calibrated_joint_has_the_counts_of_the_labels() {
        let joint = Joint { classes: 2, counts: vec![6, 2, 0, 0] }.calibrated(&[16, 5]);
        assert_eq!(joint.values(), [12.0, 4.0, 0.0, 5.0]);
        let (noise, inverse) = Joint { classes: 2, counts: vec![6, 2, 1, 3] }.noise(&[16, 4]);
        // The joint is [12, 4; 1, 3]: of the true class 1, 4 of 7 were given label 0.
        assert!((noise.row(1)[0] - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(inverse.row(0), [0.75, 0.25]);
    }
}
