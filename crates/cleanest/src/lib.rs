//! Learning from data whose labels are partly wrong.
//!
//! This is the library behind the `cleanest` command. It gathers the rooms of the house under one name:
//! [`core`] is the mathematics, [`data`] where examples come from, [`engine`] what is trained. On top of them,
//! [`experiment`] says what a run is asked to do, [`mod@train`] does it, alone or with [`peers`], and [`run`] is the folder
//! it leaves.
#![forbid(unsafe_code)]

pub mod audit;
mod error;
pub mod experiment;
pub mod peers;
pub mod report;
pub mod run;
pub mod train;

pub use error::Error;

pub use cleanest_core as core;
pub use cleanest_data as data;
pub use cleanest_engine as engine;
