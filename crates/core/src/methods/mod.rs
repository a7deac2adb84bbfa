//! What a classifier minimizes when its labels are noisy, and what is learnt about the noise on the way.
//!
//! A [`Method`] sees logits and noisy labels, nothing else, and gives back a loss and its gradient in closed form.
//! Every method is one file here and one word in the list at the end of this one.
//!
//! ```
//! use cleanest_core::Matrix;
//! use cleanest_core::methods::{Alone, Batch, Choice, Task};
//!
//! let mut tvd = Choice::named("tvd")?.build(&Task { classes: 3, steps: 1000, seed: 1 })?;
//! let logits = Matrix::from_vec(3, vec![2.0, 0.1, -1.0, 0.0, 1.5, 0.3]);
//! let batch = Batch { logits: &logits, labels: &[0, 2], seed: 1, step: 0 };
//! let mut gradient = Matrix::default();
//! let loss = tvd.loss(&batch, &mut gradient);
//! tvd.update(&batch, &Alone);
//! assert!(loss.is_finite() && gradient.rows() == 2);
//! # Ok::<(), cleanest_core::Error>(())
//! ```

#[macro_use]
mod settings;
mod adam;
mod choice;
mod corrected;
pub mod maths;
mod peers;
mod state;

pub use peers::{Alone, Peers};
pub use settings::Field;
pub use state::State;

use crate::estimate::Posteriors;
use crate::noise::Transition;
use crate::random::Stream;
use crate::{Error, Matrix};

/// One way to learn from noisy labels: what the classifier minimizes, and what is learnt about the noise on the way.
pub trait Method: Send {
    /// Passes over the training budget, each with a fresh network; a method that first estimates and then corrects
    /// has two.
    fn stages(&self) -> usize {
        1
    }

    /// Whether the first stage is plain cross-entropy on the labels as they are, so that any method of which this holds can
    /// go on from it.
    fn begins_plainly(&self) -> bool {
        false
    }

    /// Called as a stage begins, with the posteriors of the training set where a stage has run before.
    fn begin(&mut self, stage: usize, seen: Option<&Posteriors<'_>>) -> Result<(), Error> {
        let _ = (stage, seen);
        Ok(())
    }

    /// The mean loss of a batch; writes its gradient with respect to the logits over `gradient`.
    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64;

    /// Learns about the noise from the batch just given to [`Method::loss`], after the classifier's step.
    fn update(&mut self, batch: &Batch<'_>, peers: &dyn Peers) {
        let _ = (batch, peers);
    }

    /// The noise as it now looks, if the method models it.
    fn transition(&self) -> Option<Transition> {
        None
    }

    /// All that the method has learnt, for a checkpoint.
    fn state(&self) -> State {
        State::default()
    }

    /// Goes on from a state as if nothing had happened in between.
    fn restore(&mut self, state: &State) -> Result<(), Error> {
        let _ = state;
        Ok(())
    }
}

/// Settings from which a method is made.
trait Build {
    /// The method, ready for its first stage.
    fn build(&self, task: &Task) -> Result<Box<dyn Method>, Error>;
}

/// What a method must know of the task before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The number K of classes.
    pub classes: usize,
    /// Training steps of one stage.
    pub steps: u64,
    /// The seed of the run.
    pub seed: u64,
}

/// What a method sees of a training step.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// A row of K logits for each example.
    pub logits: &'a Matrix,
    /// The noisy label of each example, below K.
    pub labels: &'a [u32],
    /// The seed of the run.
    pub seed: u64,
    /// The step, counted over all stages.
    pub step: u64,
}

impl Batch<'_> {
    /// The random numbers of this step for one purpose.
    #[must_use]
    pub fn stream(&self, name: &str) -> Stream {
        Stream::new(self.seed, name, self.step)
    }
}

/// What a method file needs.
mod prelude {
    pub(super) use super::adam::{Adam, Ramp};
    pub(super) use super::maths::{Channel, Softmax, TotalVariation, counted, label_loss, noisy_nll};
    pub(super) use super::settings::{ABOVE_ZERO, AT_LEAST_ZERO, INSIDE_UNIT, UP_TO_ONE};
    pub(super) use super::{Batch, Build, Method, Peers, Posteriors, State, Task};
    pub(super) use crate::noise::Transition;
    pub(super) use crate::{Error, Matrix};
}

// The one list of methods, in the order of the paper's tables; from it follow names, help, settings and tests.
choice::methods! {
    "mae" => mae::Mae,
    "cce" => cce::Cce,
    "gce" => gce::Gce,
    "forward" => forward::Forward,
    "t-revision" => t_revision::TRevision,
    "dual-t" => dual_t::DualT,
    "tvg" => tvg::Tvg,
    "tvd" => tvd::Tvd,
    "volminnet" => volminnet::VolMinNet,
    "known-t" => known_t::KnownT,
}
