//! Files that were read once, for all runs of a process that ask for them.

use super::prepared::read;
use super::{Config, Prepared};
use crate::Error;
use cleanest_data::Parts;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The sets that were read so far. Runs share their examples; labels and noise are each run's own.
#[derive(Debug, Default)]
pub struct Opened {
    sets: Mutex<HashMap<String, Parts>>,
}

impl Opened {
    /// The data of a run, read from files only if no run before it asked for the same.
    pub fn prepared(&self, config: &Config) -> Result<Prepared, Error> {
        let parts = {
            // Held while the files are read: whoever waits here waits for the same files.
            let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
            let test = config.test.as_ref().map(|path| path.display().to_string());
            let key = format!("{}\n{test:?}\n{:?}", config.data.display(), config.read);
            match sets.get(&key) {
                Some(parts) => parts.clone(),
                None => sets.entry(key).or_insert(read(config)?).clone(),
            }
        };
        Prepared::of(parts, config)
    }
}
