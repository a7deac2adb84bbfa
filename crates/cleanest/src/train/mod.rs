//! Training: the loop, and what lets it be cut at any moment.

mod checkpoint;
mod first_stage;
mod folds;
mod kept;
mod learner;
mod memory;
mod metrics;
mod observer;
mod outcome;
mod passes;
mod placing;
mod share;
mod stop;
mod trainer;
mod weights;

pub use first_stage::Shared;
pub use folds::{CrossFit, cross_fit};
pub use observer::{Observer, Progress, Silent};
pub use outcome::Outcome;
pub use passes::{Architect, predict};
pub use placing::{Placing, place};
pub use stop::Stop;
pub use trainer::train;
