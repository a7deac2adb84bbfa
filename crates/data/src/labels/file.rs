//! Labels in a file of their own.

use crate::formats::{has_extension, idx, npy};
use crate::labels::{Labels, Raw};
use crate::table::{self, Request};
use crate::{Error, Options};
use std::path::Path;

/// Reads a file that holds labels alone: `.npy`, IDX, `.parquet`, `.jsonl`, or text (`.csv`, `.tsv`, `.txt`).
///
/// `options` says which column they are in and which classes there are; the rest of it does not matter here.
pub fn read(path: &Path, options: &Options) -> Result<Labels, Error> {
    raw(path, options)?.resolve(path, options.classes.as_deref())
}

/// Reads the labels of `expected` examples that lie in another file.
pub(crate) fn read_beside(path: &Path, expected: usize, options: &Options) -> Result<Labels, Error> {
    let raw = raw(path, options)?;
    if raw.len() != expected {
        return Err(Error::LabelCount { path: path.into(), expected, found: raw.len() });
    }
    raw.resolve(path, options.classes.as_deref())
}

fn raw(path: &Path, options: &Options) -> Result<Raw, Error> {
    let raw = if has_extension(path, &["npy"]) {
        npy::labels(path, options)?
    } else if idx::is_idx(path) {
        idx::labels(path, options)?
    } else {
        Raw::texts(table::read(path, Request::Label, options)?.labels)
    };
    if raw.len() == 0 {
        return Err(Error::Empty { path: path.into() });
    }
    Ok(raw)
}
