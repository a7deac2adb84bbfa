//! The last pass: the examples that may be cut, no more than will be.

use cleanest_core::audit::{Best, Block, Probability, Prune, Ranked};
use std::collections::HashSet;

/// An example whose label is taken for wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issue {
    /// Its number.
    pub row: u64,
    /// The label it has.
    pub given: u32,
    /// The most probable class.
    pub predicted: u32,
    /// The probability of its label.
    pub self_confidence: f64,
    /// That less the probability of the most probable other class.
    pub normalized_margin: f64,
}

/// An example that may be cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) key: f64,
    pub(super) issue: Issue,
    /// Whether it only takes a place: its label is its most probable class.
    pub(super) excused: bool,
}

impl Ranked for Candidate {
    fn key(&self) -> f64 {
        self.key
    }

    fn place(&self) -> u64 {
        self.issue.row
    }
}

/// The candidates of a label with the largest keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shortlist {
    pub(super) label: u32,
    /// The class that is ahead of the label; none where the least sure are looked for.
    pub(super) class: Option<u32>,
    pub(super) best: Best<Candidate>,
}

/// All lists, those of a label side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shortlists(pub(super) Vec<Shortlist>);

impl Shortlist {
    pub(super) fn new(label: u32, class: Option<u32>, limit: u64) -> Self {
        Self { label, class, best: Best::new(usize::try_from(limit).unwrap_or(usize::MAX)) }
    }
}

impl Shortlists {
    /// Lists for as many examples of each label and class as are to be cut.
    pub(super) fn new(prune: Prune, limits: &[u64], classes: usize) -> Self {
        let mut lists = Vec::new();
        for (label, limits) in limits.chunks(classes).enumerate() {
            let others = || limits.iter().enumerate().filter(|(class, count)| *class != label && **count > 0);
            let list = |class, limit| Shortlist::new(label as u32, class, limit);
            if prune != Prune::NoiseRate {
                lists.push(list(None, others().map(|(_, count)| count).sum()));
            }
            if prune != Prune::Class {
                lists.extend(others().map(|(class, &count)| list(Some(class as u32), count)));
            }
        }
        lists.retain(|list: &Shortlist| list.best.limit() > 0);
        Self(lists)
    }

    /// Looks at a block whose examples have these numbers.
    pub(super) fn consider<P: Probability>(&mut self, block: &Block<'_, P>, number: impl Fn(usize) -> u64) {
        let mut by_label: Vec<Vec<&mut Shortlist>> = (0..block.classes()).map(|_| Vec::new()).collect();
        for list in &mut self.0 {
            by_label[list.label as usize].push(list);
        }
        for (at, probabilities, label) in block.rows() {
            let own = probabilities[label as usize].wide();
            for list in &mut by_label[label as usize] {
                let key = list.class.map_or(-own, |class| probabilities[class as usize].wide() - own);
                if key >= list.best.bar() {
                    let (issue, excused) = looked_at(number(at), probabilities, label);
                    list.best.offer(Candidate { key, issue, excused });
                }
            }
        }
    }

    /// Takes over the candidates of another part.
    pub(super) fn merge(&mut self, other: Option<&Self>) {
        for (mine, theirs) in self.0.iter_mut().zip(other.into_iter().flat_map(|other| &other.0)) {
            theirs.best.held().iter().for_each(|&candidate| _ = mine.best.offer(candidate));
        }
    }
}

/// What is kept of an example, and whether its label is its most probable class.
fn looked_at<P: Probability>(row: u64, probabilities: &[P], label: u32) -> (Issue, bool) {
    let own = probabilities[label as usize].wide();
    let (mut predicted, mut most) = (label, f64::NEG_INFINITY);
    for (class, p) in probabilities.iter().enumerate().filter(|(class, _)| *class != label as usize) {
        if p.wide() > most {
            (predicted, most) = (class as u32, p.wide());
        }
    }
    let excused = most <= own;
    let predicted = if excused { label } else { predicted };
    let issue = Issue { row, given: label, predicted, self_confidence: own, normalized_margin: own - most };
    (issue, excused)
}

/// What is cut in the end: each example once, the least sure first.
pub(super) fn issues(lists: Shortlists, prune: Prune) -> Vec<Issue> {
    let mut sure: HashSet<u64> = HashSet::new();
    let mut found = Vec::new();
    for list in lists.0 {
        let least_sure = list.class.is_none();
        let meant = list.best.picks().into_iter().filter(|candidate| !candidate.excused);
        let meant = meant.map(|candidate| candidate.issue);
        if prune == Prune::Both && least_sure {
            sure.extend(meant.map(|issue| issue.row));
        } else {
            found.extend(meant);
        }
    }
    if prune == Prune::Both {
        found.retain(|issue| sure.contains(&issue.row));
    }
    found.sort_by(|a, b| a.self_confidence.total_cmp(&b.self_confidence).then(a.row.cmp(&b.row)));
    found.dedup_by_key(|issue| issue.row);
    found
}
