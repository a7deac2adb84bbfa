//! The second pass: the confident joint, and at once which examples it may cut.

use super::census::Rounded;
use super::{Block, Joint, Probability, Pruning, Thresholds};
use crate::Matrix;

/// Counts the joint while it holds what may be cut by it. How many are cut is known only in the end, so the pruning begins
/// with what a sample told ([`Pruning::of_sample`]) and holds a few too many.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    thresholds: &'a Thresholds,
    joint: Joint,
    pruning: Pruning,
}

/// More than a difference of probabilities is off.
const ROUNDING: f64 = 1e-12;

/// What decides most examples of a label by two numbers.
struct Quick<P> {
    /// So sure of the label, an example can be confident of no other class, and on no list but that of the likeliest.
    safe: P,
    likeliest: usize,
    bar: f64,
    threshold: P,
    /// Examples that are confidently right.
    right: u64,
}

impl<P: Probability> Quick<P> {
    fn new(pruning: &Pruning, label: usize, thresholds: &Rounded<P>) -> Self {
        let (safe, likeliest, bar) = pruning.quick(label);
        let safe = P::at_least(safe.max(thresholds.left().next_up()));
        Self { safe, likeliest, bar, threshold: thresholds.of(label), right: 0 }
    }
}

impl<'a> Search<'a> {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(thresholds: &'a Thresholds, pruning: Pruning, classes: usize) -> Self {
        Self { thresholds, joint: Joint::new(classes), pruning }
    }

    /// Looks at a block.
    #[allow(clippy::needless_bitwise_bool)]
    pub fn count<P: Probability>(&mut self, block: &Block<'_, P>) {
        let Self { thresholds, joint, pruning } = self;
        let thresholds = thresholds.rounded::<P>();
        let quick = |label| Quick::new(pruning, label, &thresholds);
        let mut all: Vec<Quick<P>> = (0..block.classes()).map(quick).collect();
        for (row, probabilities, label) in block.rows() {
            let label = label as usize;
            let (own, quick) = (probabilities[label], &mut all[label]);
            // Both at once, since neither can be foretold.
            let behind = probabilities[quick.likeliest].wide() - own.wide() < quick.bar;
            if (own >= quick.safe) & behind {
                quick.right += u64::from(own >= quick.threshold);
                continue;
            }
            // Everything the rest turn on, without branches: they cannot be foretold.
            let (mut top, mut most, mut over) = (0, P::BELOW, f64::NEG_INFINITY);
            for (class, (&p, &bar)) in probabilities.iter().zip(pruning.bars(label)).enumerate() {
                let (ahead, above) = (p > most, p.wide() - bar);
                (top, most) = if ahead { (class, p) } else { (top, most) };
                over = if above > over { above } else { over };
            }
            joint.count_top((top, most), (probabilities, label), &thresholds);
            let considered = over >= own.wide() - ROUNDING || pruning.by_sureness();
            if considered && pruning.consider_one(row, probabilities, label) {
                *quick = Quick { right: quick.right, ..Quick::new(pruning, label, &thresholds) };
            }
        }
        all.iter().enumerate().for_each(|(label, quick)| joint.count_right(label, quick.right));
    }

    /// Takes over what another has found.
    pub fn merge(&mut self, other: Self) {
        self.joint.merge(&other.joint);
        self.pruning.merge(other.pruning);
    }

    /// The joint and, unless the sample was a bad one, what it cuts once it is brought to the numbers of the labels.
    #[must_use]
    pub fn finish(self, calibrated: impl Fn(&Joint) -> Matrix) -> (Joint, Option<Pruning>) {
        let wrong = calibrated(&self.joint);
        (self.joint, self.pruning.exactly(&wrong))
    }
}
