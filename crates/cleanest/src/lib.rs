//! Learning from data whose labels are partly wrong.
//!
//! This is the library behind the `cleanest` command. It gathers the rooms of the house under one name:
//! [`core`] is the mathematics, [`data`] where examples come from, [`engine`] what is trained.
#![forbid(unsafe_code)]

pub use cleanest_core as core;
pub use cleanest_data as data;
pub use cleanest_engine as engine;
