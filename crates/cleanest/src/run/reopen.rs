//! The data of a run, once more.

use super::RunFolder;
use crate::Error;
use crate::experiment::{Config, Prepared};
use cleanest_data::Dataset;

impl RunFolder {
    /// Opens what its settings name as the data of the run; those that Python had in memory cannot be.
    pub(super) fn data(&self, config: &Config) -> Result<Prepared, Error> {
        if config.data.as_os_str() == Dataset::IN_MEMORY && !config.data.exists() {
            return Err(Error::InMemory(self.path().to_owned()));
        }
        Prepared::open(config)
    }

    /// Opens the data of the run; others than those it was trained on are refused.
    pub fn reopened(&self, config: &Config) -> Result<Prepared, Error> {
        self.checked(self.data(config)?, &self.fingerprint()?)
    }

    /// Refuses data that are not those the run was begun on.
    pub(super) fn checked(&self, data: Prepared, expected: &str) -> Result<Prepared, Error> {
        let found = data.train.fingerprint().to_string();
        if expected == found {
            return Ok(data);
        }
        Err(Error::OtherData { path: self.path().to_owned(), expected: expected.to_owned(), found })
    }
}
