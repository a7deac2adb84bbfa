//! Examples that may be larger than memory, and how a pass goes over them: many workers, one answer.

use super::passes::{CensusPass, JointPass, Pass};
use super::pieces::{Floats, Pieces};
use crate::Error;
use cleanest_core::Matrix;
use cleanest_core::audit::{Block, Census, Joint, Prune, Pruning, Search, Thresholds};
use cleanest_data::probabilities::{GivenLabels, Probabilities, Values};
use rayon::prelude::*;
use std::ops::Range;

/// Where probabilities and labels are.
#[derive(Clone, Copy, Debug)]
pub enum Table<'a> {
    /// In memory, and known to be distributions.
    Memory(&'a Matrix, &'a [u32]),
    /// In files.
    Files {
        /// The probabilities.
        probabilities: &'a Probabilities,
        /// The labels.
        labels: &'a GivenLabels,
        /// Whether rows are divided by their sum.
        renormalize: bool,
    },
    /// In memory of another program, in pieces.
    Pieces(&'a Pieces<'a>),
}

/// Rows of a part of what is in memory.
const PART: usize = 1 << 14;
/// One example in so many is looked at first.
const SAMPLE: usize = 32;
/// Examples there must be for each pair of classes before that is worth it.
const FOR_SAMPLE: usize = 256;
/// Numbers that the states of all groups together may hold.
const STATES: usize = 1 << 22;

impl Table<'_> {
    /// How many examples there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Memory(_, labels) => labels.len(),
            Self::Files { probabilities, .. } => probabilities.rows(),
            Self::Pieces(pieces) => pieces.rows(),
        }
    }

    /// How many classes there are.
    #[must_use]
    pub fn classes(&self) -> usize {
        match self {
            Self::Memory(probabilities, _) => probabilities.columns(),
            Self::Files { probabilities, .. } => probabilities.classes().len(),
            Self::Pieces(pieces) => pieces.classes(),
        }
    }

    /// The first pass, which also looks whether rows are distributions.
    pub(super) fn census(&self, softly: bool) -> Result<Census, Error> {
        let fresh = || CensusPass { census: Census::new(self.classes()), softly };
        Ok(self.pass(fresh)?.census)
    }

    /// A pass over examples that were looked at before. How they are grouped follows from their number, so that sums
    /// do not depend on how many workers there are.
    pub(super) fn pass<S: Pass>(&self, fresh: impl Fn() -> S + Sync) -> Result<S, Error> {
        self.groups(&self.parts(), self.usual_groups(), &fresh)
    }

    /// A pass over some rows, in order; those of the others may be skipped.
    pub(super) fn pass_over<S: Pass>(
        &self,
        rows: &[usize],
        fresh: impl Fn() -> S + Sync,
    ) -> Result<S, Error> {
        if self.is_divisible() && rows.len() < self.rows() / 64 {
            let each: Vec<_> = rows.iter().map(|&row| row..row + 1).collect();
            return self.groups(&each, self.usual_groups(), &fresh);
        }
        self.pass(fresh)
    }

    /// The second pass of confident learning: the joint, and the examples it cuts. How many those are is only known in the
    /// end, by what `calibrated` makes of the joint, so a look at some examples says which of the others may be among them, and
    /// a few too many are held.
    pub(super) fn cut(
        &self,
        prune: Prune,
        thresholds: &Thresholds,
        calibrated: impl Fn(&Joint) -> Matrix,
    ) -> Result<(Joint, Pruning), Error> {
        // What is found depends on no order, but takes room: a group for each worker, at most four.
        let groups = rayon::current_num_threads().min(4);
        let (parts, classes) = (self.parts(), self.classes());
        let joint = || JointPass { joint: Joint::new(classes), thresholds };
        let sample = self.sample(&parts);
        if !sample.is_empty() {
            let share = sample.iter().map(ExactSizeIterator::len).sum::<usize>() as f64 / self.rows() as f64;
            let estimated = calibrated(&self.groups(&sample, groups, &joint)?.joint);
            let some = self.groups(&sample, 1, &|| Pruning::of_sample(prune, &estimated, share))?;
            let all = some.extended(share);
            let fresh = || Search::new(thresholds, all.clone(), classes);
            if let (joint, Some(pruning)) = self.groups(&parts, groups, &fresh)?.finish(&calibrated) {
                return Ok((joint, pruning));
            }
        }
        let joint = self.pass(joint)?.joint;
        let wrong = calibrated(&joint);
        let pruning = self.groups(&parts, groups, &|| Pruning::new(prune, &wrong))?;
        Ok((joint, pruning))
    }

    /// Examples from all over the table, some of each part or, where those cannot be divided, some parts; none where there
    /// are too few for it to be worth a look.
    fn sample(&self, parts: &[Range<usize>]) -> Vec<Range<usize>> {
        if self.rows() < FOR_SAMPLE * self.classes().pow(2) {
            return Vec::new();
        }
        if self.is_divisible() {
            let some = parts.iter().map(|part| part.start..part.start + part.len() / SAMPLE);
            return some.filter(|some| !some.is_empty()).collect();
        }
        let enough = parts.len() >= 4 * SAMPLE;
        parts.iter().step_by(SAMPLE).filter(|_| enough).cloned().collect()
    }

    /// Whether any range of rows can be read like a part.
    fn is_divisible(&self) -> bool {
        match self {
            Self::Memory(..) | Self::Pieces(_) => true,
            Self::Files { probabilities, .. } => probabilities.is_divisible(),
        }
    }

    fn usual_groups(&self) -> usize {
        (STATES / self.classes().pow(2).max(1)).clamp(4, 64)
    }

    fn parts(&self) -> Vec<Range<usize>> {
        match self {
            Self::Memory(..) => {
                let rows = self.rows();
                (0..rows).step_by(PART).map(|first| first..rows.min(first + PART)).collect()
            }
            Self::Files { probabilities, .. } => probabilities.parts(),
            Self::Pieces(pieces) => pieces.parts(PART),
        }
    }

    fn groups<S: Pass>(
        &self,
        parts: &[Range<usize>],
        groups: usize,
        fresh: &(impl Fn() -> S + Sync),
    ) -> Result<S, Error> {
        let each = parts.len().div_ceil(groups.max(1)).max(1);
        let group = |parts: &[Range<usize>]| {
            let (mut state, mut scratch) = (fresh(), Scratch::default());
            for part in parts {
                self.part(part, &mut state, &mut scratch)?;
            }
            Ok(state)
        };
        // Collected first, so that the first row that is wrong is named whoever found another.
        let states: Vec<Result<S, Error>> = parts.par_chunks(each).map(group).collect();
        let mut whole = fresh();
        for state in states {
            whole.merge(state?);
        }
        Ok(whole)
    }

    fn part<S: Pass>(&self, part: &Range<usize>, state: &mut S, scratch: &mut Scratch) -> Result<(), Error> {
        let classes = self.classes();
        match self {
            Self::Memory(probabilities, labels) => {
                let values = &probabilities.values()[part.start * classes..part.end * classes];
                state.block(&Block::trusted((values, &labels[part.clone()]), classes, part.start))?;
            }
            Self::Pieces(pieces) => {
                pieces.read_labels(part, &mut scratch.labels);
                let labels = &scratch.labels[..];
                match pieces.values(part) {
                    Floats::F32(values) => {
                        state.block(&Block::trusted((values, labels), classes, part.start))?;
                    }
                    Floats::F64(values) => {
                        state.block(&Block::trusted((values, labels), classes, part.start))?;
                    }
                }
            }
            Self::Files { probabilities, labels, renormalize } => {
                labels.read(part, &mut scratch.labels)?;
                let labels = &scratch.labels[..];
                match probabilities.part(part)? {
                    Values::F32(values) if *renormalize => {
                        normalized(values.iter().map(|&p| f64::from(p)), classes, &mut scratch.values);
                        state.block(&Block::trusted((&scratch.values[..], labels), classes, part.start))?;
                    }
                    Values::F64(values) if *renormalize => {
                        normalized(values.iter().copied(), classes, &mut scratch.values);
                        state.block(&Block::trusted((&scratch.values[..], labels), classes, part.start))?;
                    }
                    Values::F32(values) => {
                        state.block(&Block::trusted((&values[..], labels), classes, part.start))?;
                    }
                    Values::F64(values) => {
                        state.block(&Block::trusted((&values[..], labels), classes, part.start))?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Scratch {
    labels: Vec<u32>,
    values: Vec<f64>,
}

/// Each row over its sum; a row that cannot be a distribution is left for the check to find.
fn normalized(values: impl Iterator<Item = f64>, classes: usize, to: &mut Vec<f64>) {
    to.clear();
    to.extend(values);
    normalize_rows(to, classes);
}

fn normalize_rows(values: &mut [f64], classes: usize) {
    for row in values.chunks_exact_mut(classes) {
        let sum: f64 = row.iter().sum();
        if sum > 0.0 && sum.is_finite() {
            row.iter_mut().for_each(|p| *p /= sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cleanest_core::random::Stream;

    /// Rows of three classes, a fifth of whose labels moved on; sorted by label, as many tables are.
    fn example(rows: usize) -> (Matrix, Vec<u32>) {
        let mut stream = Stream::new(7, "test", 0);
        let mut examples: Vec<(u32, [f64; 3])> = (0..rows)
            .map(|_| {
                let class = stream.below(3);
                let mut row = [0; 3].map(|_| stream.normal().exp());
                row[class] *= 15.0;
                let sum: f64 = row.iter().sum();
                let moved = usize::from(stream.uniform() < 0.2);
                (((class + moved) % 3) as u32, row.map(|p| p / sum))
            })
            .collect();
        examples.sort_by_key(|example| example.0);
        let values = examples.iter().flat_map(|example| example.1).collect();
        (Matrix::from_vec(3, values), examples.iter().map(|example| example.0).collect())
    }

    #[test]
    fn a_search_that_begins_with_a_sample_finds_what_one_without_does() {
        let (probabilities, labels) = example(60_000);
        let table = Table::Memory(&probabilities, &labels);
        assert!(!table.sample(&table.parts()).is_empty());
        let census = table.census(false).unwrap();
        let thresholds = census.thresholds();
        for prune in [Prune::NoiseRate, Prune::Class, Prune::Both] {
            let calibrated = |joint: &Joint| joint.calibrated(census.given());
            let (joint, cut) = table.cut(prune, &thresholds, calibrated).unwrap();
            let mut plain = Pruning::new(prune, &joint.calibrated(census.given()));
            let block = Block::trusted((probabilities.values(), &labels[..]), 3, 0);
            plain.consider(&block);
            let mut counted = Joint::new(3);
            counted.count(&block, &thresholds);
            assert_eq!(joint, counted);
            let found = cut.rows();
            assert!(found.len() > 5000, "{prune:?} found {}", found.len());
            assert_eq!(found, plain.rows(), "{prune:?}");
        }
    }
}
