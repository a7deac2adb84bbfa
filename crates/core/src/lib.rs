//! The mathematics of learning from noisy labels.
#![forbid(unsafe_code)]

mod error;

pub use error::Error;

pub mod elementary;
pub mod npy;
pub mod random;
