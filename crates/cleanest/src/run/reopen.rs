//! The data of a run, once more.

use super::RunFolder;
use crate::Error;
use crate::experiment::{Config, Prepared};

impl RunFolder {
    /// Opens the data of the run; others than those it was trained on are refused.
    pub fn reopened(&self, config: &Config) -> Result<Prepared, Error> {
        let data = Prepared::open(config)?;
        self.refuse_other(&data)?;
        Ok(data)
    }

    /// Refuses data that are not those the run was begun on.
    pub(super) fn refuse_other(&self, data: &Prepared) -> Result<(), Error> {
        let (expected, found) = (self.fingerprint()?, data.train.fingerprint().to_string());
        if expected == found {
            return Ok(());
        }
        Err(Error::OtherData { path: self.path().to_owned(), expected, found })
    }
}
