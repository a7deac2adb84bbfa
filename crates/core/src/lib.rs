//! The mathematics of learning from noisy labels: plain Rust on slices, no files but a matrix, no engine, no clock.
//!
//! - [`noise`]: how labels come to be wrong, as a transition matrix T with T\[i\]\[j\] = P(noisy label j | true class i);
//! - [`methods`]: what a classifier minimizes, and what is learnt about the noise on the way;
//! - [`estimate`]: T from the posteriors of a trained classifier;
//! - [`audit`]: which labels are wrong, how many, and what they should be;
//! - [`stats`]: accuracy, summaries over trials, tests of significance, calibration.
//!
//! Everything special about noisy labels happens between the logits and the labels, so that is all these need.
#![forbid(unsafe_code)]

mod error;
mod matrix;

pub mod audit;
pub mod decompose;
pub mod elementary;
pub mod estimate;
pub mod methods;
pub mod noise;
pub mod npy;
pub mod random;
pub mod stats;

pub use error::{Error, nearest};
pub use matrix::Matrix;
