//! Dual-T: T as the product of two matrices that are each easier to estimate, then correction by it.
//!
//! Yao, Liu, Han, Gong, Deng, Niu and Sugiyama, "Dual T: reducing estimation error for transition matrix in
//! label-noise learning", `NeurIPS` 2020.

use super::corrected::EstimateThenCorrect;
use super::prelude::*;
use crate::estimate::{Anchors, Order, dual_t};

settings! {
    /// T as a product of two easier estimates, a second network corrected by it
    DualT {
        /// Which example stands for a class: `argmax` or `quantile`.
        anchors: Anchors = Anchors::Argmax,
        /// The order of the product: `correct`, as its authors define it, or `reference`, reversed, as in the code
        /// released with the TV paper.
        order: Order = Order::Correct,
    }
}

impl Build for DualT {
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error> {
        let (which, order) = (self.anchors, self.order);
        Ok(EstimateThenCorrect::boxed(task, move |seen| dual_t(seen, which, order)))
    }
}
