//! What users of the mathematics rely on.
#![allow(clippy::unwrap_used)]

mod conformance;
mod dirichlet;
mod files;
mod mixture;
mod recovery;
mod reference;
