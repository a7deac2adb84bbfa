//! The formats, one file each.

use crate::{Dataset, Error, Options, Part};
use std::path::Path;

/// A way in which examples are stored.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    recognizes: fn(&Path) -> bool,
    has_test: fn(&Path) -> bool,
    /// Whether the test part can be read without having read the training part.
    self_contained: bool,
    read: fn(&Path, Part, &Options) -> Result<Dataset, Error>,
}

/// The one list of formats: from it follow recognition, listings and the conformance tests. The first that
/// recognizes a path reads it.
macro_rules! formats {
    ($($module:ident),+ $(,)?) => {
        $(pub(crate) mod $module;)+

        /// Every format, in the order in which they are tried.
        pub const FORMATS: &[Format] = &[$($module::FORMAT),+];
    };
}

formats! { digits, idx, cifar, clothing1m, npy, npz, csv, jsonl, parquet, image_folder }

impl Format {
    /// Whether what is at `path` looks like it: by its name and its first bytes, not by reading it.
    #[must_use]
    pub fn recognizes(&self, path: &Path) -> bool {
        (self.recognizes)(path)
    }

    /// Whether what is at `path` holds a test part as well.
    #[must_use]
    pub fn has_test(&self, path: &Path) -> bool {
        (self.has_test)(path)
    }

    pub(crate) fn is_self_contained(&self) -> bool {
        self.self_contained
    }

    /// Reads one part of what is at `path`.
    pub fn read(&self, path: &Path, part: Part, options: &Options) -> Result<Dataset, Error> {
        if part == Part::Test && !self.has_test(path) && !is_whole(self, path) {
            return Err(Error::NoTestPart { path: path.into() });
        }
        let mut options = options.clone();
        // Rows are numbered in 32 bits.
        options.limits.rows = options.limits.rows.min(u32::MAX as usize);
        let set = (self.read)(path, part, &options)?;
        if set.is_empty() { Err(Error::Empty { path: path.into() }) } else { Ok(set) }
    }
}

/// Whether the path is one file or folder without parts, which can be the test set of another.
fn is_whole(format: &Format, path: &Path) -> bool {
    !format.self_contained || path.is_file()
}

/// The format of what is at `path`.
pub fn of(path: &Path) -> Result<&'static Format, Error> {
    if let Some(format) = FORMATS.iter().find(|format| format.recognizes(path)) {
        return Ok(format);
    }
    std::fs::metadata(path).map_err(|source| Error::io(path, source))?;
    Err(Error::Unrecognized { path: path.into() })
}

/// Whether the name of the file ends so, a final `.gz` apart.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}
