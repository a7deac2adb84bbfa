//! An audit that is made in parts: batch by batch, by many workers, on other machines.
//!
//! Confident learning asks three things of every example: how sure the model is of each label, which counts follow from
//! that, and which examples are cut. A state is in one of these passes. Workers begin with the state as it is after a
//! pass was finished, each counts its part, and the parts are merged, in any order: the answer is that of one process.

mod bytes;
mod shortlist;

pub use shortlist::Issue;

use super::Cut;
use crate::Error;
use cleanest_core::audit::{Block, Census, Joint, Probability, Prune, Pruning};
use shortlist::{Shortlists, issues};

/// An audit in one of its three passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mergeable {
    prune: Prune,
    census: Census,
    joint: Option<Joint>,
    cut: Option<Shortlists>,
    /// Examples that this pass has seen.
    seen: u64,
    numbering: Numbering,
}

/// How the examples of the last pass are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Numbering {
    /// There were none yet.
    #[default]
    Unknown,
    /// By numbers that were given with them.
    Given,
    /// As they came.
    Counted,
}

impl Mergeable {
    /// An audit that has seen nothing.
    pub fn new(classes: usize, prune: Prune) -> Result<Self, Error> {
        if classes < 2 {
            return Err(cleanest_core::Error::TooFewClasses(classes).into());
        }
        let census = Census::new(classes);
        Ok(Self { prune, census, joint: None, cut: None, seen: 0, numbering: Numbering::default() })
    }

    /// The number K of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.census.given().len()
    }

    /// How it cuts.
    #[must_use]
    pub fn prune(&self) -> Prune {
        self.prune
    }

    /// The pass it is in, 1 to 3.
    #[must_use]
    pub fn pass(&self) -> usize {
        1 + usize::from(self.joint.is_some()) + usize::from(self.cut.is_some())
    }

    /// Examples that this pass has seen.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Counts some examples; nothing of them if one is not right. `rows` are the numbers by which the last pass names
    /// them; without, they are numbered as they come.
    pub fn update<P: Probability>(
        &mut self,
        (probabilities, labels): (&[P], &[u32]),
        rows: Option<&[u64]>,
    ) -> Result<(), Error> {
        let classes = self.classes();
        if probabilities.len() != labels.len() * classes {
            let what = "the rows of probabilities";
            let found = probabilities.len() / labels.len().max(1);
            return Err(cleanest_core::Error::Classes { what, expected: classes, found }.into());
        }
        let block = Block::checked((probabilities, labels), classes, 0)?;
        match (&mut self.cut, &mut self.joint) {
            (Some(cut), _) => {
                let numbering = if rows.is_some() { Numbering::Given } else { Numbering::Counted };
                if ![Numbering::Unknown, numbering].contains(&self.numbering) {
                    return Err(Error::Numbering);
                }
                self.numbering = numbering;
                cut.consider(&block, |at| rows.map_or(self.seen + at as u64, |rows| rows[at]));
            }
            (None, Some(joint)) => joint.count(&block, &self.census.thresholds()),
            (None, None) => self.census.count(&block),
        }
        self.seen += labels.len() as u64;
        Ok(())
    }

    /// Takes over what another part has counted in the same pass.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let known = |state: &Self| match state.pass() {
            1 => (state.classes(), state.prune, None, None),
            2 => (state.classes(), state.prune, Some(state.census.clone()), None),
            _ => (state.classes(), state.prune, Some(state.census.clone()), state.joint.clone()),
        };
        if self.pass() != other.pass() {
            return Err(Error::OtherPass { expected: self.pass(), found: other.pass() });
        }
        if known(self) != known(other) {
            return Err(Error::OtherAudit);
        }
        let both_saw = self.cut.is_some() && self.seen > 0 && other.seen > 0;
        if both_saw && [self.numbering, other.numbering].contains(&Numbering::Counted) {
            return Err(Error::Numbering);
        }
        match (&mut self.cut, &mut self.joint) {
            (Some(cut), _) => cut.merge(other.cut.as_ref()),
            (None, Some(joint)) => other.joint.iter().for_each(|other| joint.merge(other)),
            (None, None) => self.census.merge(&other.census),
        }
        if other.numbering != Numbering::Unknown {
            self.numbering = other.numbering;
        }
        self.seen += other.seen;
        Ok(())
    }

    /// Ends a pass; the last one gives the examples whose labels are taken for wrong, the least sure first.
    pub fn finish(&mut self) -> Result<Option<Vec<Issue>>, Error> {
        let expected: u64 = if self.pass() == 1 { self.seen } else { self.census.given().iter().sum() };
        if self.seen == 0 || self.seen != expected {
            return Err(Error::PassSaw { pass: self.pass(), seen: self.seen, expected });
        }
        self.seen = 0;
        match (&mut self.cut, &self.joint) {
            (Some(cut), _) => {
                let found = issues(std::mem::take(cut), self.prune);
                *self = Self::new(self.classes(), self.prune)?;
                return Ok(Some(found));
            }
            (None, Some(joint)) => {
                let given = self.census.given();
                let joint = Cut::default().apply(joint.calibrated(given), given);
                self.cut = Some(Shortlists::new(self.prune, &Pruning::limits(&joint), self.classes()));
            }
            (None, None) => self.joint = Some(Joint::new(self.classes())),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Filter, Floats, Integers, Pieces, Quality, Table, ranked};
    use super::*;
    use cleanest_core::random::Stream;

    /// Rows of some classes with labels, a tenth of which are wrong; some rows are equal.
    fn example(rows: usize, classes: usize) -> (Vec<f32>, Vec<u32>) {
        let mut stream = Stream::new(7, "test", 0);
        let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let class = stream.below(classes);
            let mut row: Vec<f64> = (0..classes).map(|_| f64::from(stream.below(4) as u32) + 0.5).collect();
            row[class] *= 8.0;
            let sum: f64 = row.iter().sum();
            probabilities.extend(row.iter().map(|p| (p / sum) as f32));
            labels.push(((class + usize::from(stream.uniform() < 0.1)) % classes) as u32);
        }
        (probabilities, labels)
    }

    /// The answer of parts of so many rows, merged last to first, each through its bytes.
    fn in_parts(prune: Prune, size: usize, (p, y): &(Vec<f32>, Vec<u32>), classes: usize) -> Vec<Issue> {
        let mut whole = Mergeable::new(classes, prune).unwrap();
        loop {
            let begun = whole.to_bytes();
            let parts: Vec<Vec<u8>> = y
                .chunks(size)
                .enumerate()
                .map(|(at, labels)| {
                    let mut part = Mergeable::from_bytes(&begun).unwrap();
                    let rows: Vec<u64> =
                        (at * size..at * size + labels.len()).map(|row| row as u64).collect();
                    let values = &p[at * size * classes..][..labels.len() * classes];
                    part.update((values, labels), Some(&rows)).unwrap();
                    part.to_bytes()
                })
                .collect();
            for part in parts.iter().rev() {
                whole.merge(&Mergeable::from_bytes(part).unwrap()).unwrap();
            }
            if let Some(found) = whole.finish().unwrap() {
                return found;
            }
        }
    }

    #[test]
    fn parts_in_any_order_find_what_one_process_finds() {
        let (classes, data) = (4, example(3000, 4));
        let pieces = Pieces::new(classes, vec![Floats::F32(&data.0)], vec![Integers::U32(&data.1)]);
        let table = Table::Pieces(&pieces);
        for prune in [Prune::NoiseRate, Prune::Class, Prune::Both] {
            let rows = Filter::Prune(prune).rows(&table, &Cut::default()).unwrap();
            assert!(rows.len() > 50, "{prune:?}");
            let expected = ranked(&table, &rows, Quality::SelfConfidence).unwrap();
            for size in [3000, 700, 41] {
                let found = in_parts(prune, size, &data, classes);
                let found: Vec<usize> = found.iter().map(|issue| issue.row as usize).collect();
                assert_eq!(found, expected, "{prune:?} in parts of {size}");
            }
        }
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let (p, y) = example(100, 3);
        let audit = |classes| Mergeable::new(classes, Prune::NoiseRate).unwrap();
        let mut first = audit(3);
        assert!(matches!(first.merge(&audit(4)), Err(Error::OtherAudit)));
        assert!(matches!(first.finish(), Err(Error::PassSaw { pass: 1, .. })));
        first.update((&p[..], &y[..]), None).unwrap();
        first.finish().unwrap();
        assert!(matches!(first.merge(&audit(3)), Err(Error::OtherPass { expected: 2, found: 1 })));
        first.update((&p[..30], &y[..10]), None).unwrap();
        assert!(matches!(first.finish(), Err(Error::PassSaw { pass: 2, seen: 10, expected: 100 })));
        first.update((&p[30..], &y[10..]), None).unwrap();
        first.finish().unwrap();
        let mut other = first.clone();
        first.update((&p[..30], &y[..10]), None).unwrap();
        other.update((&p[30..], &y[10..]), None).unwrap();
        assert!(matches!(first.merge(&other), Err(Error::Numbering)));
    }

    #[test]
    fn bytes_that_are_not_a_state_are_refused() {
        let (p, y) = example(100, 3);
        let mut audit = Mergeable::new(3, Prune::Both).unwrap();
        for _ in 0..2 {
            audit.update((&p[..], &y[..]), None).unwrap();
            audit.finish().unwrap();
        }
        audit.update((&p[..], &y[..]), None).unwrap();
        let bytes = audit.to_bytes();
        assert_eq!(Mergeable::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        assert!(Mergeable::from_bytes(b"pickle").is_err());
        for cut in 0..bytes.len() {
            assert!(Mergeable::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            assert!(Mergeable::from_bytes(&broken).is_err(), "broken at {at}");
        }
    }
}
