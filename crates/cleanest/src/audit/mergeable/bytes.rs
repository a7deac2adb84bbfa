//! A state as bytes, and back: a name and a version, the numbers, and a sha256 of all before it.
//!
//! Little-endian throughout. `docs/reference/formats.md` specifies it.

use super::shortlist::{Candidate, Issue, Shortlist, Shortlists};
use super::{Mergeable, Numbering};
use crate::Error;
use cleanest_core::audit::{Census, Joint, Prune};
use sha2::{Digest as _, Sha256};

const NAME: &[u8] = b"cleanest audit 1\n";
const DIGEST: usize = 32;
const PRUNES: [Prune; 3] = [Prune::NoiseRate, Prune::Class, Prune::Both];
const NUMBERINGS: [Numbering; 3] = [Numbering::Unknown, Numbering::Given, Numbering::Counted];

impl Mergeable {
    /// The state as bytes that any machine reads.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = NAME.to_vec();
        let place = |at: Option<usize>| at.unwrap_or_default() as u8;
        out.extend((self.classes() as u32).to_le_bytes());
        out.push(place(PRUNES.iter().position(|prune| *prune == self.prune)));
        out.push(self.pass() as u8);
        out.push(place(NUMBERINGS.iter().position(|numbering| *numbering == self.numbering)));
        out.extend(self.seen.to_le_bytes());
        let (given, confidence) = self.census.counts();
        given.iter().for_each(|count| out.extend(count.to_le_bytes()));
        confidence.iter().for_each(|sum| out.extend(sum.to_le_bytes()));
        for count in self.joint.iter().flat_map(Joint::counts).flatten() {
            out.extend(count.to_le_bytes());
        }
        if let Some(Shortlists(lists)) = &self.cut {
            out.extend((lists.len() as u32).to_le_bytes());
            lists.iter().for_each(|list| write(list, &mut out));
        }
        let digest = Sha256::digest(&out);
        out.extend(digest);
        out
    }

    /// A state from its bytes; anything else is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        read(bytes).ok_or(Error::NotAState)
    }
}

fn write(list: &Shortlist, out: &mut Vec<u8>) {
    // What will not be cut need not travel, and in order the same parts have the same bytes.
    let candidates = list.best.clone().sorted();
    out.extend(list.label.to_le_bytes());
    out.extend(list.class.unwrap_or(u32::MAX).to_le_bytes());
    out.extend((list.best.limit() as u64).to_le_bytes());
    out.extend((candidates.len() as u64).to_le_bytes());
    for Candidate { key, issue, excused } in candidates {
        for number in [key, issue.self_confidence, issue.normalized_margin] {
            out.extend(number.to_le_bytes());
        }
        out.extend(issue.row.to_le_bytes());
        out.extend(issue.given.to_le_bytes());
        out.extend(issue.predicted.to_le_bytes());
        out.push(u8::from(excused));
    }
}

fn read(bytes: &[u8]) -> Option<Mergeable> {
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    if Sha256::digest(body)[..] != *digest {
        return None;
    }
    let mut input = Input(body.strip_prefix(NAME)?);
    let classes = input.u32()? as usize;
    let prune = *PRUNES.get(usize::from(input.byte()?))?;
    let pass = input.byte()?;
    let numbering = *NUMBERINGS.get(usize::from(input.byte()?))?;
    let seen = input.u64()?;
    // Room is made only for what the bytes can hold.
    if classes < 2 || input.0.len() / 24 < classes || !(1..=3).contains(&pass) {
        return None;
    }
    let given = (0..classes).map(|_| input.u64()).collect::<Option<_>>()?;
    let confidence = (0..classes).map(|_| input.take().map(u128::from_le_bytes)).collect::<Option<_>>()?;
    let census = Census::from_counts(given, confidence);
    let joint = if pass >= 2 {
        let cells = classes.checked_mul(classes).filter(|cells| input.0.len() / 8 >= *cells)?;
        Some(Joint::from_counts(classes, (0..cells).map(|_| input.u64()).collect::<Option<_>>()?))
    } else {
        None
    };
    let cut = if pass == 3 {
        let lists = input.u32()?;
        Some(Shortlists((0..lists).map(|_| list(&mut input, classes as u32)).collect::<Option<_>>()?))
    } else {
        None
    };
    input.0.is_empty().then_some(Mergeable { prune, census, joint, cut, seen, numbering })
}

fn list(input: &mut Input<'_>, classes: u32) -> Option<Shortlist> {
    let label = input.u32().filter(|label| *label < classes)?;
    let class = Some(input.u32()?).filter(|class| *class != u32::MAX);
    if class.is_some_and(|class| class >= classes) {
        return None;
    }
    let (limit, count) = (input.u64()?, input.u64()?);
    let mut list = Shortlist::new(label, class, limit);
    for _ in 0..count {
        list.best.offer(candidate(input, classes)?);
    }
    Some(list)
}

fn candidate(input: &mut Input<'_>, classes: u32) -> Option<Candidate> {
    let mut float = || input.take().map(f64::from_le_bytes);
    let (key, self_confidence, normalized_margin) = (float()?, float()?, float()?);
    let row = input.u64()?;
    let mut class = || input.u32().filter(|class| *class < classes);
    let (given, predicted) = (class()?, class()?);
    let excused = input.byte()? == 1;
    Some(Candidate {
        key,
        issue: Issue { row, given, predicted, self_confidence, normalized_margin },
        excused,
    })
}

/// What is left to read.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}
