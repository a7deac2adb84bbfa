//! What is trained, and on what.
//!
//! An [`Architecture`] is a network as data; [`models`] has those with a name. A back end plans it for a batch size
//! and gives a [`Network`]: a batch in, logits out, gradient of the logits in, step.

mod device;
mod error;
mod matrix;
mod network;
mod parameters;
mod plan;

pub mod architecture;
pub mod cpu;
pub mod cuda;
pub mod models;
pub mod optimizer;
pub mod peers;
pub mod schedule;

pub use architecture::{Architecture, Shape};
pub use device::Device;
pub use error::Error;
pub use matrix::Matrix;
pub use models::{Model, ModelOptions};
pub use network::{Crop, Input, Kept, Mode, Network, Normalization, Set};
pub use optimizer::{Adam, Optimizer, Sgd};
pub use parameters::{Parameters, Tensor};
pub use schedule::Schedule;
