//! Cutting by a confident joint: it says how many, the probabilities say which.
//!
//! Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 2021.

use super::label_lists::{LabelLists, Marks};
use super::{Best, Block, Pick, Probability};
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};

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

/// By how many deviations more examples of a sample are held than are expected: its joint and its worst are both off.
const DEVIATIONS: f64 = 4.0;

/// Which examples are cut. How many is known once the joint is; a search may begin before ([`Pruning::of_sample`]).
#[derive(Clone, Debug)]
pub struct Pruning {
    labels: Vec<LabelLists>,
}

impl Pruning {
    /// As many as a calibrated joint says are wrong.
    #[must_use]
    pub fn new(prune: Prune, joint: &Matrix) -> Self {
        let whole = whole(joint);
        Self::with_limits(prune, joint.rows(), |label, class| whole[label * joint.rows() + class] as usize)
    }

    /// How many examples of each label (row) are cut for each class (column): whole numbers with the row sums of the
    /// joint.
    #[must_use]
    pub fn limits(joint: &Matrix) -> Vec<u64> {
        whole(joint)
    }

    /// Before the joint is known: for a sample of this share of the examples, and a joint estimated from it. Holds more than
    /// are to be expected, by what both may be off.
    #[must_use]
    pub fn of_sample(prune: Prune, joint: &Matrix, share: f64) -> Self {
        let most = |label, class| {
            let expected = share * joint[(label, class)];
            (expected + DEVIATIONS * expected.sqrt()) as usize + 8
        };
        Self::with_limits(prune, joint.rows(), most)
    }

    /// The same search among all examples, which holds what the sample found to be near enough to the worst.
    #[must_use]
    pub fn extended(mut self, share: f64) -> Self {
        self.labels.iter_mut().for_each(|lists| lists.extend(share));
        self
    }

    /// Now that the joint is known, as many as it says are wrong; nothing if the sample was a bad one and fewer were held.
    #[must_use]
    pub fn exactly(mut self, joint: &Matrix) -> Option<Self> {
        let (classes, whole) = (joint.rows(), whole(joint));
        let limit = |label: usize, class: usize| whole[label * classes + class] as usize;
        let mut labels = self.labels.iter_mut().enumerate();
        labels.all(|(label, lists)| lists.shorten(|class| limit(label, class))).then_some(self)
    }

    fn with_limits(prune: Prune, classes: usize, limit: impl Fn(usize, usize) -> usize) -> Self {
        let lists = |label| LabelLists::new(prune, (label, classes), |class| limit(label, class));
        Self { labels: (0..classes).map(lists).collect() }
    }

    /// Looks at a block.
    #[allow(clippy::needless_bitwise_bool)]
    pub fn consider<P: Probability>(&mut self, block: &Block<'_, P>) {
        for (row, probabilities, label) in block.rows() {
            let pruning = &mut self.labels[label as usize];
            let own = probabilities[label as usize].wide();
            // Usually one class is confused with the label and few others are, so two numbers decide; both at once,
            // since neither can be foretold.
            let ahead = probabilities[pruning.likeliest].wide() - own;
            if (own < pruning.safe) | (ahead >= pruning.lowest_bar) {
                pruning.consider(row, probabilities, label as usize);
            }
        }
    }

    /// What decides whether an example of a label is on any list: one that is at least so sure of it is on none but that
    /// of a class, and there only if the class is ahead by so much.
    pub(super) fn quick(&self, label: usize) -> (f64, usize, f64) {
        let label = &self.labels[label];
        (label.safe, label.likeliest, label.lowest_bar)
    }

    /// By how much each class must be ahead of a label to be on its list.
    pub(super) fn bars(&self, label: usize) -> &[f64] {
        &self.labels[label].bars
    }

    /// Whether an example may be on a list because no class is sure.
    pub(super) fn by_sureness(&self) -> bool {
        self.labels.first().is_some_and(|label| label.least_sure.is_some())
    }

    /// Looks at an example; says whether a bar was raised.
    pub(super) fn consider_one<P: Probability>(
        &mut self,
        row: usize,
        probabilities: &[P],
        label: usize,
    ) -> bool {
        self.labels[label].consider(row, probabilities, label)
    }

    /// Takes over what another has found.
    pub fn merge(&mut self, other: Self) {
        self.labels.iter_mut().zip(other.labels).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// Tells each example that is cut once, with the probability of its label noted, in no order. Those whose most
    /// probable class is the label they have are not: they take their places on the lists, but there is nothing to
    /// suggest.
    pub fn each_cut(self, mut tell: impl FnMut(Pick)) {
        let both = self.labels.iter().all(|label| label.least_sure.is_some() && label.ahead.is_some());
        // An example may be on the lists of several classes.
        let (mut sure, mut told) = (Marks::default(), Marks::default());
        for label in self.labels {
            let ahead = label.ahead.into_iter().flatten().map(|list| list.1);
            let mut lists: Vec<Best> = ahead.collect();
            if both {
                let meant = label.least_sure.into_iter().flat_map(Best::picks).filter(|pick| !pick.excused());
                meant.for_each(|pick| _ = sure.mark(pick.row()));
            } else {
                lists.extend(label.least_sure);
            }
            for pick in lists.into_iter().flat_map(Best::picks).filter(|pick| !pick.excused()) {
                if (!both || sure.has(pick.row())) && told.mark(pick.row()) {
                    tell(pick);
                }
            }
        }
    }

    /// The rows of the examples that are cut, in order.
    #[must_use]
    pub fn rows(self) -> Vec<usize> {
        let mut rows = Vec::new();
        self.each_cut(|pick| rows.push(pick.row()));
        rows.sort_unstable();
        rows
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
    use super::super::{Census, Joint};
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
        let disagrees = |(row, p, label): &(usize, &[f32], u32)| {
            is_cut(*row) && p.iter().any(|other| *other > p[*label as usize])
        };
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
            let sample = Block::trusted((&probabilities[..600 * classes], &labels[..600]), classes, 0);
            let mut some = Joint::new(classes);
            some.count(&sample, &census.thresholds());
            let estimated = some.calibrated(census.given());
            for prune in [Prune::NoiseRate, Prune::Class, Prune::Both] {
                let expected = by_definition(prune, &block, &joint);
                assert!(expected.len() > 50, "{prune:?} finds something");
                let mut early = Pruning::of_sample(prune, &estimated, 0.2);
                early.consider(&sample);
                let mut early = early.extended(0.2);
                early.consider(&block);
                let found = early.exactly(&joint).map(Pruning::rows);
                assert_eq!(found.as_ref(), Some(&expected), "{prune:?} begun before the joint was known");
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
    fn a_sample_that_misled_is_found_out() {
        let (probabilities, labels) = example(3000, 3, 0);
        let block = Block::checked((&probabilities[..], &labels[..]), 3, 0).unwrap();
        let nearly_clean = Matrix::from_vec(3, vec![999.0, 1.0, 0.0, 0.0, 999.0, 1.0, 1.0, 0.0, 999.0]);
        let mut early = Pruning::of_sample(Prune::NoiseRate, &nearly_clean, 1.0).extended(1.0);
        early.consider(&block);
        let joint = Matrix::from_vec(3, vec![900.0, 100.0, 0.0, 0.0, 900.0, 100.0, 100.0, 0.0, 900.0]);
        assert!(early.exactly(&joint).is_none());
    }
}
