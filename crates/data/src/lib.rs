//! Where examples come from.
//!
//! A user points at a path; [`Dataset::open`] recognizes what it is, reads it, and refuses what is broken with one
//! sentence that names the file, the place and the cure. What comes out is checked once and never again: images of
//! one shape or rows of finite numbers, a label for each, and the classes in a stable order.
//!
//! ```
//! use cleanest_data::{Dataset, Options};
//!
//! let digits = Dataset::open("digits".as_ref(), &Options::default())?;
//! assert_eq!((digits.len(), digits.labels().classes().len()), (1797, 10));
//! # Ok::<(), cleanest_data::Error>(())
//! ```
#![deny(unsafe_code)]

mod augment;
mod batches;
mod class_order;
mod dataset;
pub mod download;
mod error;
mod examples;
mod features;
mod fingerprint;
pub mod formats;
mod guarded;
mod hint;
mod image_files;
pub mod labels;
mod mapped;
mod memory;
mod numbers;
mod options;
mod order;
pub mod probabilities;
mod source;
mod split;
mod standardization;
mod storage;
mod summary;
mod table;
mod warning;

pub use augment::{Augment, Crop};
pub use batches::{Batch, BatchSettings, Batches, Course};
pub use dataset::{Dataset, Parts, Quarantined, Source};
pub use error::Error;
pub use examples::{Example, Examples, Images, Rows, Shape};
pub use features::Feature;
pub use fingerprint::Fingerprint;
pub use labels::{Classes, Labels};
pub use options::{ClassOrder, Color, Granularity, Labeling, Limits, Missing, Options, Part};
pub use order::Order;
pub use standardization::Standardization;
pub use summary::{ClassCount, Conflict, Duplicates, Summary};
pub use warning::Warning;
