//! How labels come to be wrong: transition matrices, given, made up, or counted.

mod corrupt;
mod dirichlet;
mod display;
mod file;
mod gamma;
mod synthetic;
mod transition;

pub use corrupt::{NoisyLabels, corrupt};
pub use dirichlet::Dirichlet;
pub use synthetic::{Kind, Noise};
pub use transition::Transition;
