//! T-Revision: T from anchor points, then revised by a slack that is learnt beside the second classifier.
//!
//! Xia, Liu, Wang, Han, Gong, Niu and Sugiyama, "Are anchor points really indispensable in label-noise learning?",
//! `NeurIPS` 2019. This is the variant the TV paper's tables agree with: forward correction through
//! T = rownorm(max(T_anchor + D, 0)), D from zero by Adam with a very small rate. The original reweights instead.

use super::corrected::Corrected;
use super::prelude::*;
use crate::estimate::{Anchors, anchors};

settings! {
    /// T from anchor points, revised while a second network is corrected by it
    TRevision {
        /// Which example stands for a class: `argmax` or `quantile`.
        anchors: Anchors = Anchors::Argmax,
        /// Peak learning rate of the slack, from how far T moves in the paper's tables; it rises and falls as TVG's.
        rate: f64 = 2e-6 => ABOVE_ZERO,
        /// Steps over which the rate rises, but at most a fifth of all.
        warmup: u64 = 400,
    }
}

impl Build for TRevision {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let square = || Matrix::zeros(task.classes, task.classes);
        Ok(Box::new(TRevisionState {
            anchors: self.anchors,
            ramp: Ramp::new(self.rate, self.warmup, task.steps),
            first: Corrected::default(),
            anchored: None,
            slack: square(),
            adam: Adam::new(task.classes * task.classes),
            revised: square(),
            by_label: square(),
            slopes: square(),
            noise: Channel::default(),
            clean: Softmax::default(),
        }))
    }
}

struct TRevisionState {
    anchors: Anchors,
    ramp: Ramp,
    /// The loss of the first stage, which never learns of T.
    first: Corrected,
    /// T of the anchors, in the second stage.
    anchored: Option<Matrix>,
    slack: Matrix,
    adam: Adam,
    revised: Matrix,
    /// dL/dT of the batch, row j for label j.
    by_label: Matrix,
    /// dL/dD.
    slopes: Matrix,
    noise: Channel,
    clean: Softmax,
}

/// 1 / c is not allowed above this, so that a label of probability zero cannot make the slack infinite.
const LARGEST_INVERSE: f64 = 1e200;

impl Method for TRevisionState {
    fn stages(&self) -> usize {
        2
    }

    fn begins_plainly(&self) -> bool {
        true
    }

    fn begin(&mut self, stage: usize, seen: Option<&Posteriors<'_>>) -> Result<(), Error> {
        self.anchored = match (stage, seen) {
            (0, _) => None,
            (_, Some(seen)) => Some(anchors(seen, self.anchors)?.matrix().clone()),
            (stage, None) => return Err(Error::NoPosteriors(stage)),
        };
        self.slack.values_mut().fill(0.0);
        self.adam = Adam::new(self.slack.values().len());
        Ok(())
    }

    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        let Self { first, anchored, slack, revised, by_label, noise, clean, .. } = self;
        let Some(anchored) = anchored else {
            return first.loss(batch, gradient);
        };
        revise(anchored, slack, revised);
        noise.set(revised);
        clean.of(batch.logits);
        let loss = noisy_nll(batch, clean, noise, gradient, |_, _| {});
        by_label.values_mut().fill(0.0);
        for (p, &label) in clean.probabilities().iter_rows().zip(batch.labels) {
            let inverse = (1.0 / noise.likelihood(p, label as usize)).min(LARGEST_INVERSE);
            by_label.row_mut(label as usize).iter_mut().zip(p).for_each(|(slope, p)| *slope -= p * inverse);
        }
        loss
    }

    fn update(&mut self, batch: &Batch<'_>, peers: &dyn Peers) {
        let Self { anchored: Some(anchored), slack, adam, by_label, slopes, .. } = self else { return };
        peers.sum(by_label.values_mut());
        let mut examples = [batch.labels.len() as f64];
        peers.sum(&mut examples);
        find_slopes(anchored, slack, by_label, slopes);
        slopes.values_mut().iter_mut().for_each(|slope| *slope /= examples[0]);
        adam.step(slack.values_mut(), slopes.values(), self.ramp.rate(adam.steps()));
    }

    fn transition(&self) -> Option<Transition> {
        let mut revised = Matrix::zeros(self.slack.rows(), self.slack.rows());
        revise(self.anchored.as_ref()?, &self.slack, &mut revised);
        Some(Transition::trusted(revised))
    }

    fn state(&self) -> State {
        let Some(anchored) = &self.anchored else { return State::default() };
        let state = State::default().with("anchored", anchored.values()).with("slack", self.slack.values());
        self.adam.save(state)
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        let classes = self.slack.rows();
        self.anchored = state.has("anchored").then(|| state.square("anchored", classes)).transpose()?;
        if self.anchored.is_some() {
            self.slack = state.square("slack", classes)?;
            self.adam.load(state)?;
        }
        Ok(())
    }
}

/// T = rownorm(max(T_anchor + D, 0)); a row left with nothing keeps its anchor.
fn revise(anchored: &Matrix, slack: &Matrix, revised: &mut Matrix) {
    for class in 0..anchored.rows() {
        let (row, anchor) = (revised.row_mut(class), anchored.row(class));
        let entries = row.iter_mut().zip(anchor).zip(slack.row(class));
        entries.for_each(|((entry, anchor), slack)| *entry = (anchor + slack).max(0.0));
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|entry| *entry /= sum);
        } else {
            row.copy_from_slice(anchor);
        }
    }
}

/// dL/dD from dL/dT (by label): through the row's sum s, (G_kj - <T_k, G_k>) / s, and nothing where clamped.
fn find_slopes(anchored: &Matrix, slack: &Matrix, by_label: &Matrix, slopes: &mut Matrix) {
    for (class, row) in slopes.iter_rows_mut().enumerate() {
        let raw = |label: usize| anchored[(class, label)] + slack[(class, label)];
        let sum: f64 = (0..row.len()).map(|label| raw(label).max(0.0)).sum();
        let mean: f64 = (0..row.len()).map(|label| raw(label).max(0.0) * by_label[(label, class)]).sum();
        for (label, slope) in row.iter_mut().enumerate() {
            let moves = raw(label) >= 0.0 && sum > 0.0;
            *slope = if moves { (by_label[(label, class)] - mean / sum) / sum } else { 0.0 };
        }
    }
}
