//! The network of a stage: how it is made, whom it trains with, which sets it keeps, and what it says of them.

use super::checkpoint::Checkpoint;
use super::kept::keep;
use super::observer::Observer;
use super::passes::{Architect, Pass};
use crate::Error;
use crate::experiment::{Config, Prepared};
use crate::run::RunFolder;
use cleanest_core::Matrix;
use cleanest_data::{Augment, Standardization};
use cleanest_engine::{Device, Kept, Network};
use std::sync::Arc;

/// A network and all that belongs to it.
pub(super) struct Learner<'a> {
    run: &'a RunFolder,
    data: &'a Prepared,
    architect: Architect,
    pub(super) network: Box<dyn Network>,
    /// Training and test set where the network keeps them.
    pub(super) kept: (Option<Kept>, Option<Kept>),
    pub(super) standardization: Standardization,
    sync_batch_norm: bool,
}

impl<'a> Learner<'a> {
    /// The network of a run: that of its checkpoint, or a fresh one of this seed.
    pub(super) fn new(
        run: &'a RunFolder,
        config: &Config,
        data: &'a Prepared,
        (seed, found): (u64, Option<&Checkpoint>),
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let (peers, set) = (run.peers(), &data.train);
        let classes = set.labels().classes().len();
        let architect = Architect::new(config, set.shape(), classes)?.of_workers(peers.size());
        let network = if let Some(found) = found {
            let mut network = architect.network(seed)?;
            network.load(&found.network)?;
            network.load_optimizer_state(&found.optimizer)?;
            network
        } else {
            architect.begin_together(seed, peers.as_ref(), &mut |sentence| observer.note(sentence))?
        };
        let mut learner = Self {
            run,
            data,
            architect,
            network,
            kept: (None, None),
            standardization: config.standardization.clone().unwrap_or_else(|| Standardization::of(set)),
            sync_batch_norm: config.sync_batch_norm,
        };
        learner.settle(&mut |sentence| observer.remark(sentence))?;
        Ok(learner)
    }

    /// Begins anew with a fresh network.
    pub(super) fn renew(&mut self, seed: u64) -> Result<(), Error> {
        self.network = self.architect.begin_together(seed, self.run.peers().as_ref(), &mut |_| {})?;
        self.settle(&mut |_| {})
    }

    /// Lets the network train with those of the other workers, and a GPU keep the data where it has room for them.
    fn settle(&mut self, note: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let peers = self.run.peers();
        if peers.size() > 1 || peers.gpus().is_some() {
            let remark = self.network.join(Arc::clone(peers), self.sync_batch_norm)?;
            remark.iter().for_each(|sentence| note(sentence));
        }
        if let Device::Cuda(_) = self.architect.device() {
            let mut keep = |set| keep(self.network.as_mut(), set, &self.standardization);
            self.kept = (keep(&self.data.train)?, self.data.test.as_ref().map_or(Ok(None), keep)?);
        }
        Ok(())
    }

    /// What the network says of the training set, its images varied by a seed.
    pub(super) fn seen(&mut self, augment: Augment, seed: u64) -> Result<Matrix, Error> {
        let pass = Pass::plain((&self.data.train, self.kept.0), &self.standardization).varied(augment, seed);
        pass.together(self.run.peers().as_ref(), self.network.as_mut())
    }

    /// What it says of the test set, if there is one.
    pub(super) fn tested(&mut self) -> Result<Option<Matrix>, Error> {
        let Some(test) = &self.data.test else { return Ok(None) };
        let pass = Pass::plain((test, self.kept.1), &self.standardization);
        pass.together(self.run.peers().as_ref(), self.network.as_mut()).map(Some)
    }
}
