//! Every mistake that can be in what a user points at, one variant each.
//!
//! Messages name the file, the place, what was expected and what was found. Rows count from 1, and the header of a
//! table is not counted.

use cleanest_core::npy;
use std::path::{Path, PathBuf};

/// What is wrong with a file, a folder, a label or a download.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Error {
    #[error("there is no `{}`", path.display())]
    NotFound { path: PathBuf },
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("`{}` is none of the formats known here", path.display())]
    Unrecognized { path: PathBuf },
    #[error("`{}` has no test part", path.display())]
    NoTestPart { path: PathBuf },
    #[error("`{}` has no examples", path.display())]
    Empty { path: PathBuf },
    #[error("`{}` contains itself through a link", path.display())]
    Loop { path: PathBuf },
    #[error("`{}`: the name `{name}` leaves the folder", path.display())]
    Outside { path: PathBuf, name: String },

    #[error("`{}` is damaged where it is compressed: {source}", path.display())]
    Compressed { path: PathBuf, source: std::io::Error },
    #[error("`{}` expands to more than {limit} bytes", path.display())]
    Expands { path: PathBuf, limit: u64 },
    #[error("`{}` has more than {limit} rows", path.display())]
    TooManyRows { path: PathBuf, limit: usize },
    #[error("`{}` needs {needed} bytes of memory, {limit} are allowed", path.display())]
    Memory { path: PathBuf, needed: u64, limit: u64 },

    #[error("`{}` begins with {found:#010x}, expected {expected}", path.display())]
    Magic { path: PathBuf, expected: &'static str, found: u32 },
    #[error("`{}` ends at byte {found}, expected {expected} for its {what}", path.display())]
    Truncated { path: PathBuf, what: &'static str, expected: u64, found: u64 },
    #[error("`{}` goes on after its last example, at byte {expected}", path.display())]
    Trailing { path: PathBuf, expected: u64 },
    #[error("`{}` declares {shape:?}, more than a file can hold", path.display())]
    Overflow { path: PathBuf, shape: Vec<u32> },
    #[error("`{}` declares examples of {shape:?}: one length is zero", path.display())]
    ZeroSize { path: PathBuf, shape: Vec<usize> },
    #[error("`{}` is {found} bytes long, not a whole number of records of {record}", path.display())]
    Records { path: PathBuf, record: usize, found: u64 },
    #[error("`{}`, record {record}: fine class {fine} is in coarse class {second}, before in {first}", path.display())]
    Superclass { path: PathBuf, record: usize, fine: u8, first: u8, second: u8 },

    #[error("`{}`: {problem}", path.display())]
    Npy { path: PathBuf, problem: npy::Problem },
    #[error("`{}` has shape {shape:?}, expected {expected}", path.display())]
    Shape { path: PathBuf, shape: Vec<usize>, expected: &'static str },
    #[error("`{}`, row {row}: the pixel {found} is neither in 0 to 1 nor in 0 to 255", path.display())]
    Pixel { path: PathBuf, row: usize, found: f32 },
    #[error("`{}` is not an archive that can be read: {what}", path.display())]
    Archive { path: PathBuf, what: String },
    #[error("`{}` has no array called {expected}; it has {}", path.display(), listed(found))]
    NoArray { path: PathBuf, expected: &'static str, found: Vec<String> },

    #[error("`{}`, row {row}: {found} fields, expected {expected}", path.display())]
    Ragged { path: PathBuf, row: usize, expected: usize, found: usize },
    #[error("`{}`, row {row}: longer than {limit} bytes", path.display())]
    RowTooLong { path: PathBuf, row: usize, limit: usize },
    #[error("`{}`, row {row}: a quote is opened and never closed", path.display())]
    Quote { path: PathBuf, row: usize },
    #[error("`{}`, row {row}, column `{column}`: not UTF-8", path.display())]
    Utf8 { path: PathBuf, row: usize, column: String },
    #[error("`{}`, row {row}, column `{column}`: expected a number, found `{found}`", path.display())]
    Number { path: PathBuf, row: usize, column: String, found: String },
    #[error("`{}`, row {row}, column `{column}`: `{found}` is not a finite 32-bit number", path.display())]
    NotFinite { path: PathBuf, row: usize, column: String, found: String },
    #[error("`{}`, row {row}, column `{column}`: the value is missing", path.display())]
    Missing { path: PathBuf, row: usize, column: String },
    #[error("`{}`, row {row}: not a JSON object: {what}", path.display())]
    Json { path: PathBuf, row: usize, what: String },
    #[error("`{}`, row {row}: the key `{key}` is not in the rows before", path.display())]
    UnknownKey { path: PathBuf, row: usize, key: String },
    #[error("`{}`, row {row}, column `{column}`: a list or an object, expected a number or a text", path.display())]
    Nested { path: PathBuf, row: usize, column: String },
    #[error("`{}` is not a Parquet file that can be read: {what}", path.display())]
    Parquet { path: PathBuf, what: String },
    #[error("`{}`, column `{column}` holds {found}, expected numbers or texts", path.display())]
    ColumnType { path: PathBuf, column: String, found: String },
    #[error("`{}` has two columns called `{column}`", path.display())]
    DuplicateColumn { path: PathBuf, column: String },
    #[error("`{}` has no column `{column}`; it has {}", path.display(), listed(found))]
    NoColumn { path: PathBuf, column: String, found: Vec<String> },
    #[error("`{}` does not say which column is the label; it has {}", path.display(), listed(found))]
    NoLabel { path: PathBuf, found: Vec<String> },
    #[error("`{}` has no column to learn from", path.display())]
    NoFeatures { path: PathBuf },
    #[error("`{}`, column `{column}` has more than {limit} different texts", path.display())]
    Categories { path: PathBuf, column: String, limit: usize },

    #[error("`{}` is not an image that can be read: {what}", path.display())]
    Image { path: PathBuf, what: String },
    #[error("`{}` declares {width} x {height} pixels, {limit} in all are allowed", path.display())]
    Pixels { path: PathBuf, width: u32, height: u32, limit: u64 },
    #[error("`{}` holds more than {limit} images that cannot be read; the first: {first}", path.display())]
    Quarantine { path: PathBuf, limit: usize, first: String },

    #[error("`{}` is not a file of probabilities: its name ends in none of .npy, .parquet, .csv, .tsv, .jsonl", .0.display())]
    NotProbabilities(PathBuf),
    #[error("`{}`, row {row}: expected an image and the number of its class, found `{found}`", path.display())]
    KeyAndLabel { path: PathBuf, row: usize, found: String },
    #[error("`{}`, row {row}: `{key}` has no label in `{}`", path.display(), labels.display())]
    KeyWithoutLabel { path: PathBuf, row: usize, key: String, labels: PathBuf },
    #[error("`{}` comes without labels", path.display())]
    Unlabeled { path: PathBuf },
    #[error("`{}` holds {found} labels for {expected} examples", path.display())]
    LabelCount { path: PathBuf, expected: usize, found: usize },
    #[error("`{}`, row {row}: the label is empty", path.display())]
    EmptyLabel { path: PathBuf, row: usize },
    #[error("`{}`, row {row}: the label {found} is not a whole number", path.display())]
    FractionalLabel { path: PathBuf, row: usize, found: f64 },
    #[error("`{}`, row {row}: the label {found} is not in 0 to {}", path.display(), classes - 1)]
    LabelRange { path: PathBuf, row: usize, found: i64, classes: usize },
    #[error("`{}`, row {row}: `{found}` is none of the classes {}", path.display(), listed(classes))]
    UnknownClass { path: PathBuf, row: usize, found: String, classes: Vec<String> },
    #[error("the class `{0}` is listed twice")]
    DuplicateClass(String),
    #[error("no class is listed")]
    NoClasses,
    #[error("`{}` names {found} classes, expected {expected}", path.display())]
    ClassNames { path: PathBuf, expected: usize, found: usize },
    #[error("the class order of the paper is for CIFAR-10 and CIFAR-100, not for `{}`", path.display())]
    ClassOrder { path: PathBuf },
    #[error("`{}` has examples of {found}, the training set of {expected}", path.display())]
    Unlike { path: PathBuf, expected: String, found: String },
    #[error("`{}` ends in neither .npy nor .csv", path.display())]
    LabelFile { path: PathBuf },
    #[error("the test share must be between 0 and 1, both left out: {0}")]
    Share(f64),
    #[error("{found} folds of {examples} examples: at least 2 folds, and an example in each")]
    Folds { found: usize, examples: usize },

    #[error("{found} constants to standardize {expected} channels or columns")]
    Constants { expected: usize, found: usize },
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),

    #[error("no set called `{name}` is published here; there are {}", listed(known))]
    UnknownSet { name: String, known: Vec<String> },
    #[error("`{url}` did not answer as it should: {what}")]
    Network { url: String, what: String },
    #[error("`{url}` gave a file with sha256 {found}, expected {expected}")]
    Checksum { url: String, expected: String, found: String },
}

/// What Linux, or else macOS and the BSDs, call a chain of links without an end (`ELOOP`).
const LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

impl Error {
    /// Whether the cure is in what was asked, not in the network or the disk.
    #[must_use]
    pub fn is_wrong_use(&self) -> bool {
        !matches!(self, Self::Write { .. } | Self::Thread(_) | Self::Network { .. } | Self::Checksum { .. })
    }

    /// What the system said about `path`, told apart as far as it matters.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound { path: path.into() },
            _ if source.raw_os_error() == Some(LOOP) => Self::Loop { path: path.into() },
            _ => Self::Read { path: path.into(), source },
        }
    }
}

/// The first few names of a list, as a message shows them.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let rest = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    if names.is_empty() { "none".into() } else { shown.join(", ") + &rest }
}
