//! What was found of one example, small enough to keep millions.

use super::examine::Rank;
use super::passes::Pass;
use super::record::Suspect;
use cleanest_core::Error as Problem;
use cleanest_core::audit::{Best, Block, Channel, Pick, Probability, Undo, Verdict};

/// What was found of one example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Its row, from 0.
    pub row: u64,
    /// The label it has.
    pub given: u32,
    /// The label it should have.
    pub suggested: u32,
    /// P(label is wrong).
    pub wrong: f32,
    /// P(suggested label is right).
    pub probability: f32,
    /// How far the most probable class is ahead of the second.
    pub margin: f32,
    /// The probability of the given label, as the probabilities have it.
    pub self_confidence: f32,
    /// That less the probability of the most probable other class.
    pub normalized_margin: f32,
}

/// Two classes that are as close as this are too close to decide between.
pub const ABSTAINS_BELOW: f32 = 0.1;

impl Finding {
    /// What a posterior says of an example.
    pub(super) fn new<P: Probability>(
        (row, probabilities, given): (usize, &[P], u32),
        posterior: &[f64],
    ) -> Self {
        let verdict = Verdict::of(posterior, given);
        let own = probabilities[given as usize].wide();
        let others = probabilities.iter().enumerate().filter(|(class, _)| *class != given as usize);
        let most = others.map(|(_, p)| p.wide()).fold(0.0, f64::max);
        Self {
            row: row as u64,
            given,
            suggested: verdict.suggested,
            wrong: verdict.wrong as f32,
            probability: verdict.probability as f32,
            margin: verdict.margin as f32,
            self_confidence: own as f32,
            normalized_margin: (own - most) as f32,
        }
    }

    /// Whether two classes are too close to decide between.
    #[must_use]
    pub fn abstains(&self) -> bool {
        self.margin < ABSTAINS_BELOW
    }

    /// The same with the place it came from.
    #[must_use]
    pub fn suspect(&self, source: String) -> Suspect {
        Suspect {
            row: self.row as usize,
            source,
            given: self.given,
            suggested: self.suggested,
            p_wrong: f64::from(self.wrong),
            p_suggested: f64::from(self.probability),
            margin: f64::from(self.margin),
            abstains: self.abstains(),
            self_confidence: f64::from(self.self_confidence),
            normalized_margin: f64::from(self.normalized_margin),
        }
    }
}

/// Collects what is suspicious under Bayes: another label is more probable, or P(wrong) reaches the cutoff.
pub(super) struct FindingPass<'a> {
    pub(super) channel: &'a Channel,
    pub(super) cutoff: f64,
    pub(super) found: Vec<Finding>,
}

impl Pass for FindingPass<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        let mut posterior = vec![0.0; block.classes()];
        for (row, probabilities, label) in block.rows() {
            self.channel.posterior(probabilities, label, &mut posterior);
            let finding = Finding::new((row, probabilities, label), &posterior);
            if finding.suggested != label || f64::from(finding.wrong) >= self.cutoff {
                self.found.push(finding);
            }
        }
        Ok(())
    }

    fn merge(&mut self, mut next: Self) {
        self.found.append(&mut next.found);
    }
}

/// Ranks some rows, and keeps the worst.
pub(super) struct RankPass<'a> {
    pub(super) rows: &'a [usize],
    pub(super) rank: Rank,
    pub(super) worst: Best,
}

impl Pass for RankPass<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        for (row, probabilities, label) in block.among(self.rows) {
            self.worst.offer(Pick::new(-self.rank.of(probabilities, label), row, false));
        }
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.worst.merge(next.worst);
    }
}

/// Looks at some rows of a model of the given labels: the true class by undoing the noise, then Bayes.
pub(super) struct CloserPass<'a> {
    pub(super) rows: &'a [usize],
    pub(super) undo: &'a Undo,
    pub(super) channel: &'a Channel,
    pub(super) found: Vec<Finding>,
}

impl Pass for CloserPass<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        let [mut clean, mut room, mut posterior] = [(); 3].map(|()| vec![0.0; block.classes()]);
        for (row, probabilities, label) in block.among(self.rows) {
            self.undo.of(probabilities, (&mut clean, &mut room));
            self.channel.posterior(&clean, label, &mut posterior);
            self.found.push(Finding::new((row, probabilities, label), &posterior));
        }
        Ok(())
    }

    fn merge(&mut self, mut next: Self) {
        self.found.append(&mut next.found);
    }
}
