//! Reading data, as a user brings it and as nobody should.
#![allow(clippy::unwrap_used)]

mod batches;
mod clothing1m;
mod conformance;
mod download;
mod fixtures;
mod fuzz;
mod hostile;
mod images;
mod labels;
mod parts;
mod real;
mod tables;
