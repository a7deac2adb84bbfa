//! What is counted over all examples: labels, joint, cuts, wrong ones.

use cleanest_core::Error as Problem;
use cleanest_core::audit::{Block, Census, Channel, Joint, Probability, Pruning, Search, Tally, Thresholds};

/// Something that is counted over all examples.
pub(super) trait Pass: Send {
    /// Counts a block. The first pass is the one that may find a row that is no distribution.
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem>;
    /// Takes over what was counted of the examples that follow.
    fn merge(&mut self, next: Self);
}

/// Counts labels and their confidence, and where asked each example for every class by its probability.
pub(super) struct CensusPass {
    pub(super) census: Census,
    pub(super) softly: bool,
}

impl Pass for CensusPass {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        self.census.count_checked(block)?;
        if self.softly {
            self.census.count_softly(block);
        }
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.census.merge(&next.census);
    }
}

pub(super) struct JointPass<'a> {
    pub(super) joint: Joint,
    pub(super) thresholds: &'a Thresholds,
}

impl Pass for JointPass<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        self.joint.count(block, self.thresholds);
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.joint.merge(&next.joint);
    }
}

impl Pass for Search<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        self.count(block);
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.merge(next);
    }
}

impl Pass for Pruning {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        self.consider(block);
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.merge(next);
    }
}

pub(super) struct TallyPass<'a> {
    pub(super) tally: Tally,
    pub(super) channel: &'a Channel,
}

impl Pass for TallyPass<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        self.tally.count(block, self.channel);
        Ok(())
    }

    fn merge(&mut self, next: Self) {
        self.tally.merge(&next.tally);
    }
}
