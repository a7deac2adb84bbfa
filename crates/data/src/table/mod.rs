//! Tables: what CSV, TSV, JSONL and Parquet have in common.
//!
//! A reader turns its file into a [`Schema`] and [`Piece`]s of rows; an [`Assembly`] puts them together and makes
//! examples of them.

mod assembly;
mod blocks;
mod codes;
mod fault;
mod leaks;
pub(crate) mod number;
mod piece;
mod schema;

pub(crate) use assembly::Assembly;
pub(crate) use blocks::{Blocks, Ends, RowEnds, closing_quote};
pub(crate) use codes::Codes;
pub(crate) use fault::{Fault, What, shown};
pub(crate) use number::is_missing;
pub(crate) use piece::Piece;
pub(crate) use schema::{Request, Role, Schema, is_header};

use crate::{Error, Options};
use rayon::prelude::*;
use std::path::Path;

/// Rows that are looked at to tell columns of numbers from columns of texts.
pub(crate) const SAMPLE: usize = 1000;

/// Reads a table of whichever format the name of the file says.
pub(crate) fn read(path: &Path, request: Request<'_>, options: &Options) -> Result<Assembly, Error> {
    use crate::formats::{csv, jsonl, parquet};
    if parquet::recognizes(path) {
        parquet::table(path, request, options)
    } else if jsonl::recognizes(path) {
        jsonl::table(path, request, options)
    } else {
        csv::table(path, request, options)
    }
}

/// Rows of text, and how to read some of them.
pub(crate) trait RowReader: Sync {
    /// Reads whole rows into the piece.
    fn read(&self, rows: &[u8], piece: &mut Piece) -> Result<(), Fault>;
}

/// Reads all blocks, the next from the disk while the workers are at the current one.
pub(crate) fn read_blocks(
    mut blocks: Blocks,
    first: Vec<u8>,
    reader: &impl RowReader,
    mut assembly: Assembly,
    options: &Options,
) -> Result<Assembly, Error> {
    let path = blocks.path().to_path_buf();
    let mut current = Some(first);
    while let Some(block) = current {
        let pieces = blocks.split(&block);
        let schema = &assembly.schema;
        let work = || -> Vec<(Piece, Result<(), Fault>)> {
            let read = |rows: &&[u8]| {
                let mut piece = Piece::new(schema, options.missing);
                let outcome = reader.read(rows, &mut piece);
                (piece, outcome)
            };
            pieces.par_iter().map(read).collect()
        };
        let (next, done) = rayon::join(|| blocks.next(), work);
        for (piece, outcome) in done {
            outcome.map_err(|fault| fault.at(&path, assembly.seen, &assembly.schema))?;
            assembly.append(&piece, &path, &options.limits)?;
        }
        current = next.map_err(|error| numbered(error, assembly.seen))?;
    }
    Ok(assembly)
}

/// A row that is too long gets its number once the rows before it are counted.
fn numbered(error: Error, seen: usize) -> Error {
    match error {
        Error::RowTooLong { path, row: 0, limit } => Error::RowTooLong { path, row: seen + 1, limit },
        other => other,
    }
}
