//! What a run is asked to do, and what follows from its data where nothing is asked.

mod config;
mod defaults;
mod prepared;

pub use config::{Config, assign, table_of};
pub use prepared::{InputSpec, Prepared};
