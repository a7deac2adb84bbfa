//! Cutting by a confident joint: it says how many, the probabilities say which.
//!
//! Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 2021.

use super::block::TOLERANCE;
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
    /// Which of these lists is that of a class, and its bar, which is infinite where there is none.
    places: Vec<u32>,
    bars: Vec<f64>,
    /// The class with the lowest bar.
    likeliest: usize,
    lowest_bar: f64,
    /// An example that is at least so sure of its label is on no list but that of the likeliest class.
    safe: f64,
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

    /// For a sample of this share of the examples: a few more than are to be expected there.
    #[must_use]
    pub fn of_sample(prune: Prune, joint: &Matrix, share: f64) -> Self {
        // Four deviations of a count.
        let more = |label, class| {
            let expected = share * joint[(label, class)];
            (expected + 4.0 * expected.sqrt()) as usize + 8
        };
        Self::with_limits(prune, joint.rows(), more)
    }

    /// The same search, told by a sample what need not be looked at. If the sample was a bad one, the result
    /// [is short](Self::is_short).
    #[must_use]
    pub fn primed(mut self, sample: &mut Self) -> Self {
        let prime = |best: &mut Best, sample: &mut Best| {
            sample.settle();
            let bar = if sample.is_short() { f64::NEG_INFINITY } else { sample.bar() };
            *best = Best::above(best.limit(), bar);
        };
        for (mine, seen) in self.labels.iter_mut().zip(&mut sample.labels) {
            if let (Some(mine), Some(seen)) = (&mut mine.least_sure, &mut seen.least_sure) {
                prime(mine, seen);
            }
            for (class, best) in mine.ahead.iter_mut().flatten() {
                let found = seen.ahead.iter_mut().flatten().find(|(other, _)| other == class);
                found.into_iter().for_each(|(_, seen)| prime(best, seen));
            }
            mine.raise();
        }
        self
    }

    /// Whether fewer were found than the joint asks for.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let short = |label: &LabelPruning| {
            let mut lists = label.ahead.iter().flatten().map(|list| &list.1).chain(&label.least_sure);
            lists.any(Best::is_short)
        };
        self.labels.iter().any(short)
    }

    fn with_limits(prune: Prune, classes: usize, limit: impl Fn(usize, usize) -> usize) -> Self {
        let label = |label: usize| {
            let others = || {
                (0..classes)
                    .map(|class| (class, limit(label, class)))
                    .filter(move |(class, count)| *class != label && *count > 0)
            };
            LabelPruning {
                least_sure: (prune != Prune::NoiseRate)
                    .then(|| Best::new(others().map(|other| other.1).sum())),
                ahead: (prune != Prune::Class)
                    .then(|| others().map(|(class, count)| (class, Best::new(count))).collect()),
                places: vec![0; classes],
                bars: vec![f64::INFINITY; classes],
                likeliest: label,
                lowest_bar: f64::INFINITY,
                safe: f64::INFINITY,
            }
        };
        let mut labels: Vec<LabelPruning> = (0..classes).map(label).collect();
        labels.iter_mut().for_each(LabelPruning::raise);
        Self { labels }
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

impl LabelPruning {
    fn consider<P: Probability>(&mut self, row: usize, probabilities: &[P], label: usize) {
        let own = probabilities[label].wide();
        // Whether no other class is ahead of the label; where one is, that is known at once.
        let excused = |ahead: bool| !ahead && probabilities.iter().all(|p| p.wide() <= own);
        let mut raised = false;
        if let Some(best) = self.least_sure.as_mut().filter(|best| -own >= best.bar()) {
            raised |= best.offer(Pick::new(-own, row, excused(false)).noting(own as f32));
        }
        if let Some(lists) = &mut self.ahead {
            let classes =
                if own < self.safe { 0..probabilities.len() } else { self.likeliest..self.likeliest + 1 };
            let rest = probabilities[classes.clone()].iter().zip(&self.bars[classes.clone()]);
            for (class, (p, bar)) in classes.zip(rest) {
                let margin = p.wide() - own;
                if margin >= *bar {
                    let best = &mut lists[self.places[class] as usize].1;
                    raised |= best.offer(Pick::new(margin, row, excused(margin > 0.0)).noting(own as f32));
                }
            }
        }
        if raised {
            self.raise();
        }
    }

    /// Takes note of how high the bars are. An example can be so sure of its label that it is on none of the lists: no
    /// class can be ahead by more than what is left over.
    fn raise(&mut self) {
        for (place, (class, best)) in self.ahead.iter().flatten().enumerate() {
            self.places[*class] = place as u32;
            self.bars[*class] = best.bar();
        }
        let safe = |bars: f64| ((1.0 + TOLERANCE - bars) / 2.0).next_up();
        let lowest = |skipped: Option<usize>| {
            let others = (0..self.bars.len()).filter(|class| Some(*class) != skipped);
            others.min_by(|&a, &b| self.bars[a].total_cmp(&self.bars[b])).unwrap_or_default()
        };
        let likeliest = lowest(None);
        // An example that is as good as the worst on a list may still come before it.
        let by_sureness = self.least_sure.as_ref().map_or(0.0, |best| (-best.bar()).next_up());
        self.safe = by_sureness.max(safe(self.bars[lowest(Some(likeliest))]));
        (self.likeliest, self.lowest_bar) = (likeliest, self.bars[likeliest]);
    }
}

/// A bit for each row.
#[derive(Default)]
struct Marks(Vec<u64>);

impl Marks {
    /// Marks a row; says whether it was not marked before.
    fn mark(&mut self, row: usize) -> bool {
        let (word, bit) = (row / 64, 1 << (row % 64));
        if word >= self.0.len() {
            self.0.resize((word + 1).max(2 * self.0.len()), 0);
        }
        let fresh = self.0[word] & bit == 0;
        self.0[word] |= bit;
        fresh
    }

    fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
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
            for prune in [Prune::NoiseRate, Prune::Class, Prune::Both] {
                let expected = by_definition(prune, &block, &joint);
                assert!(expected.len() > 50, "{prune:?} finds something");
                let mut sample = Pruning::of_sample(prune, &joint, 0.2);
                sample.consider(&Block::trusted(
                    (&probabilities[..600 * classes], &labels[..600]),
                    classes,
                    0,
                ));
                let mut primed = Pruning::new(prune, &joint).primed(&mut sample);
                primed.consider(&block);
                assert!(!primed.is_short());
                assert_eq!(primed.rows(), expected, "{prune:?} after a sample");
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
}
