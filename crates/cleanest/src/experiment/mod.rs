//! What a run is asked to do, and what follows from its data where nothing is asked.

mod config;
mod defaults;
mod opened;
mod prepared;
mod sweep;
mod sweep_file;

pub use config::{Config, Keep, assign, table_of};
pub use opened::Opened;
pub use prepared::{InputSpec, Prepared};
pub use sweep::{Planned, Shard, Sweep};
