//! NumPy archives: arrays by name in one zip file, the examples and their labels together.

use super::{Format, has_extension, npy};
use crate::labels::{Labels, read_beside};
use crate::numbers;
use crate::source;
use crate::storage::Bytes;
use crate::{Dataset, Error, Labeling, Limits, Options, Part};
use cleanest_core::npy::{HeaderOf, Kind};
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;
use zip::ZipArchive;

/// Names that examples go by, and labels: of a whole set or its training part, and of its test part.
const TRAIN: ([&str; 8], [&str; 8]) = (
    ["x_train", "train_images", "X", "x", "features", "images", "data", "arr_0"],
    ["y_train", "train_labels", "Y", "y", "labels", "label", "target", "arr_1"],
);
const TEST: ([&str; 2], [&str; 2]) = (["x_test", "test_images"], ["y_test", "test_labels"]);

pub(super) const FORMAT: Format = Format {
    name: "npz",
    about: "NumPy arrays in one archive: examples `x`, labels `y`, or `x_train`, `y_train`, `x_test`, `y_test`",
    recognizes: |path| path.is_file() && has_extension(path, &["npz"]),
    has_test: |path| Archive::open(path).is_ok_and(|archive| archive.find(&TEST.0).is_some()),
    self_contained: false,
    read,
};

fn read(path: &Path, part: Part, options: &Options) -> Result<Dataset, Error> {
    let mut archive = Archive::open(path)?;
    let in_two = archive.find(&TEST.0).is_some();
    let (examples, labels, expected) = match part {
        Part::Test if in_two => (&TEST.0[..], &TEST.1[..], "`x_test`"),
        _ => (&TRAIN.0[..], &TRAIN.1[..], "`x` or `x_train`"),
    };
    let name = archive.find(examples).ok_or_else(|| archive.lacks(expected))?;
    let (header, bytes) = archive.array(&name, &options.limits)?;
    let examples = npy::examples(path, &header, Bytes::Owned(bytes), &options.limits)?;
    let labels = match (options.labeling, &options.labels) {
        (Labeling::Absent, _) => Labels::absent(options)?,
        (_, Some(file)) => read_beside(file, examples.len(), options)?,
        _ => {
            let name = archive.find(labels).ok_or_else(|| Error::Unlabeled { path: path.into() })?;
            let (header, bytes) = archive.array(&name, &options.limits)?;
            let raw = npy::label_array(path, &header, &bytes[header.start..], &options.limits)?;
            if raw.len() != examples.len() {
                let (expected, found) = (examples.len(), raw.len());
                return Err(Error::LabelCount { path: path.into(), expected, found });
            }
            raw.resolve(path, options.classes.as_deref())?
        }
    };
    numbers::checked(FORMAT.name, path, (examples, labels), options)
}

/// An open archive.
struct Archive<'a> {
    path: &'a Path,
    zip: ZipArchive<BufReader<File>>,
}

impl<'a> Archive<'a> {
    fn open(path: &'a Path) -> Result<Self, Error> {
        let reader = BufReader::new(source::open(path)?);
        let zip = ZipArchive::new(reader).map_err(|error| broken(path, &error))?;
        Ok(Self { path, zip })
    }

    fn names(&self) -> Vec<String> {
        self.zip.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    /// The first of these names that the archive has, with its ending.
    fn find(&self, wanted: &[&str]) -> Option<String> {
        let names = self.names();
        wanted.iter().map(|name| format!("{name}.npy")).find(|name| names.contains(name))
    }

    fn lacks(&self, expected: &'static str) -> Error {
        let found = self.names().iter().map(|name| name.trim_end_matches(".npy").to_owned()).collect();
        Error::NoArray { path: self.path.into(), expected, found }
    }

    /// The header of an array, and its whole file.
    fn array<K: Kind>(&mut self, name: &str, limits: &Limits) -> Result<(HeaderOf<K>, Vec<u8>), Error> {
        let path = self.path;
        let npy = |problem| Error::Npy { path: path.join(name), problem };
        let mut file = self.zip.by_name(name).map_err(|error| broken(path, &error))?;
        let damaged = |source| Error::Compressed { path: path.join(name), source };
        let mut bytes = Vec::new();
        // The header first, alone: nothing is reserved on the word of the archive.
        (&mut file).take(1 << 17).read_to_end(&mut bytes).map_err(damaged)?;
        let header = HeaderOf::parse(&bytes).map_err(npy)?;
        let whole = header.start as u64 + header.bytes().map_err(npy)? as u64;
        if whole > limits.decompressed {
            return Err(Error::Expands { path: path.join(name), limit: limits.decompressed });
        }
        let left = (whole + 1).saturating_sub(bytes.len() as u64);
        bytes.reserve_exact(left.min(file.size()) as usize);
        (&mut file).take(left).read_to_end(&mut bytes).map_err(damaged)?;
        header.data(&bytes).map_err(npy)?;
        Ok((header, bytes))
    }
}

fn broken(path: &Path, error: &zip::result::ZipError) -> Error {
    Error::Archive { path: path.into(), what: error.to_string() }
}
