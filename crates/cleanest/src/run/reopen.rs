//! The data of a run, once more.

use super::RunFolder;
use crate::Error;
use crate::experiment::{Config, Prepared};

impl RunFolder {
    /// Opens the data of the run; others than those it was trained on are refused.
    pub fn reopened(&self, config: &Config) -> Result<Prepared, Error> {
        self.checked(Prepared::open(config)?, &self.fingerprint()?)
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
