//! Every mistake a user of this crate can make.

use std::path::PathBuf;

/// A mistake in what was asked, said so that it can be mended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// The cure, where one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        None
    }
}
