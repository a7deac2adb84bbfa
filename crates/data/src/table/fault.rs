//! What is wrong in one row, before the file and the row's number in it are known.

use crate::Error;
use crate::table::Schema;
use std::path::Path;

/// A mistake in a row of a piece.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The row, counted from the start of the piece.
    pub(crate) row: usize,
    pub(crate) what: What,
}

/// The mistake; numbers are columns.
#[derive(Debug)]
pub(crate) enum What {
    Ragged { expected: usize, found: usize },
    Quote,
    Utf8(usize),
    Number(usize, String),
    NotFinite(usize, String),
    Missing(usize),
    EmptyLabel,
    Json(String),
    Nested(usize),
    UnknownKey(String),
}

impl Fault {
    /// The same with its file and its place in it.
    pub(crate) fn at(self, path: &Path, rows_before: usize, schema: &Schema) -> Error {
        let (path, row) = (path.to_path_buf(), rows_before + self.row + 1);
        let name = |column: usize| schema.names[column].clone();
        match self.what {
            What::Ragged { expected, found } => Error::Ragged { path, row, expected, found },
            What::Quote => Error::Quote { path, row },
            What::Utf8(column) => Error::Utf8 { path, row, column: name(column) },
            What::Number(column, found) => Error::Number { path, row, column: name(column), found },
            What::NotFinite(column, found) => Error::NotFinite { path, row, column: name(column), found },
            What::Missing(column) => Error::Missing { path, row, column: name(column) },
            What::EmptyLabel => Error::EmptyLabel { path, row },
            What::Json(what) => Error::Json { path, row, what },
            What::Nested(column) => Error::Nested { path, row, column: name(column) },
            What::UnknownKey(key) => Error::UnknownKey { path, row, key },
        }
    }
}

/// Text of a file as a message may show it: short, and without what a terminal would obey.
pub(crate) fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let start: String =
        String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]).chars().take(LONGEST).collect();
    let more = if start.len() < text.len() { "..." } else { "" };
    start.escape_debug().to_string() + more
}
