//! The engine from outside: against PyTorch's numbers, against finite differences, and against itself.

// Where tests ask for the same number, they mean the same bits; and a test may panic.
#![allow(clippy::float_cmp, clippy::unwrap_used)]

mod check;
mod conformance;
mod cuda;
mod cuda_layers;
mod cuda_training;
mod interface;
mod oracle;
mod properties;
mod reference;
mod threads;
mod together;
