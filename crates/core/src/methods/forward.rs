//! Forward: T from anchor points of a first classifier, and then a second one corrected by it.
//!
//! Patrini, Rozza, Menon, Nock and Qu, "Making deep neural networks robust to label noise", CVPR 2017.

use super::corrected::EstimateThenCorrect;
use super::prelude::*;
use crate::estimate::{Anchors, anchors};

settings! {
    /// T from anchor points of a first network, a second one corrected by it
    Forward {
        /// Which example stands for a class: `argmax`, the surest one, as the paper's tables have it, or `quantile`,
        /// the surest below the 97 % quantile.
        anchors: Anchors = Anchors::Argmax,
    }
}

impl Build for Forward {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let which = self.anchors;
        Ok(EstimateThenCorrect::boxed(task, move |seen| anchors(seen, which)))
    }
}
