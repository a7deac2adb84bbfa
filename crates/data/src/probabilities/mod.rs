//! Tables of probabilities that somebody's model has left: a row for each example, a column for each class.
//!
//! They may be larger than memory, so they are read a part at a time: a plain npy file is mapped and never copied, a
//! Parquet file is decoded one group of rows at a time. What is small or odd is converted once.

mod labels;

pub use labels::GivenLabels;

use crate::examples::map;
use crate::formats::{has_extension, parquet};
use crate::numbers::Array;
use crate::storage::{Bytes, Floats};
use crate::table::{self, Request};
use crate::{Classes, Error, Options};
use cleanest_core::npy::{Element, Header};
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Rows of a part of a file that is not divided by itself.
const PART: usize = 1 << 14;

/// A table of probabilities.
pub struct Probabilities {
    path: PathBuf,
    rows: usize,
    classes: Classes,
    place: Place,
}

/// The numbers of some rows, one row after the other.
#[derive(Debug)]
pub enum Values<'a> {
    /// Of 32 bits.
    F32(Cow<'a, [f32]>),
    /// Of 64 bits.
    F64(Cow<'a, [f64]>),
}

/// Where the numbers are.
enum Place {
    Floats(Floats),
    /// Bytes that were found to be aligned and a whole number of doubles.
    Doubles(Bytes),
    Groups(parquet::Groups),
}

impl std::fmt::Debug for Probabilities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probabilities")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Probabilities {
    /// Opens `.npy` [N, K], `.parquet`, or a table of text. The classes are those of the columns: `options.classes` in
    /// their order, or else their names, or else 0, 1, 2.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let (rows, names, place) = if has_extension(path, &["npy"]) {
            npy(path, options)?
        } else if parquet::recognizes(path) {
            let groups = parquet::groups(path, options)?;
            (groups.rows.iter().sum(), names(&groups.schema), Place::Groups(groups))
        } else if path.is_file() && !has_extension(path, &["csv", "tsv", "txt", "jsonl", "ndjson"]) {
            return Err(Error::NotProbabilities(path.into()));
        } else {
            let table = table::read(path, Request::Probabilities, options)?;
            (table.rows(), names(&table.schema), Place::Floats(Floats::Owned(table.numbers)))
        };
        if rows == 0 {
            return Err(Error::Empty { path: path.into() });
        }
        let classes = match &options.classes {
            Some(listed) if listed.len() != names.len() => {
                let (expected, found) = (names.len(), listed.len());
                return Err(Error::ClassNames { path: path.into(), expected, found });
            }
            Some(listed) => Classes::new(listed.clone())?,
            None => Classes::new(names)?,
        };
        Ok(Self { path: path.into(), rows, classes, place })
    }

    /// How many examples there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The classes, in the order of the columns.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Rows that belong together, in order; a part is read at once.
    #[must_use]
    pub fn parts(&self) -> Vec<Range<usize>> {
        match &self.place {
            Place::Groups(groups) => {
                let mut first = 0;
                let range = |&rows: &usize| {
                    first += rows;
                    first - rows..first
                };
                groups.rows.iter().map(range).filter(|part| !part.is_empty()).collect()
            }
            _ => (0..self.rows).step_by(PART).map(|first| first..self.rows.min(first + PART)).collect(),
        }
    }

    /// Whether any range of rows can be read like a part.
    #[must_use]
    pub fn is_divisible(&self) -> bool {
        !matches!(self.place, Place::Groups(_))
    }

    /// The numbers of a part.
    pub fn part(&self, part: &Range<usize>) -> Result<Values<'_>, Error> {
        let width = self.classes.len();
        let range = part.start * width..part.end * width;
        match &self.place {
            Place::Floats(values) => Ok(Values::F32(Cow::Borrowed(&values[range]))),
            Place::Doubles(bytes) => {
                Ok(Values::F64(Cow::Borrowed(&bytemuck::cast_slice::<u8, f64>(bytes)[range])))
            }
            Place::Groups(groups) => {
                let mut first = 0;
                let group = groups.rows.iter().position(|&rows| {
                    first += rows;
                    first == part.end && rows > 0
                });
                let group = group.unwrap_or_default();
                Ok(Values::F32(Cow::Owned(groups.read(&self.path, group)?)))
            }
        }
    }
}

/// The classes that columns are named after.
fn names(schema: &table::Schema) -> Vec<String> {
    let inner = |name: &str| {
        let inner = name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
        inner.unwrap_or(name).to_owned()
    };
    let columns = schema.names.iter().zip(&schema.roles);
    let numbers = columns.filter(|(_, role)| matches!(role, table::Role::Number(_)));
    let names: Vec<String> = numbers.map(|(name, _)| inner(name)).collect();
    // Columns that nobody named are numbered from 1; their classes are numbered like labels, from 0.
    let unnamed = names.iter().enumerate().all(|(at, name)| *name == (at + 1).to_string());
    if unnamed { (0..names.len()).map(|at| at.to_string()).collect() } else { names }
}

/// An array of two dimensions.
fn npy(path: &Path, options: &Options) -> Result<(usize, Vec<String>, Place), Error> {
    let broken = |problem| Error::Npy { path: path.into(), problem };
    let length = crate::source::length(path)? as usize;
    let file = if length == 0 { Bytes::Owned(Vec::new()) } else { map(path, 0..length)? };
    let header = Header::parse(&file).map_err(broken)?;
    header.data(&file).map_err(broken)?;
    let [rows, width] = header.shape[..] else {
        let (shape, expected) =
            (header.shape.clone(), "[N, K]: a row for each example, a column for each class");
        return Err(Error::Shape { path: path.into(), shape, expected });
    };
    if width == 0 {
        return Err(Error::ZeroSize { path: path.into(), shape: vec![width] });
    }
    let plain = !header.fortran_order && !header.big_endian && cfg!(target_endian = "little");
    let (element, start) = (header.element, header.start);
    let convert = |bytes: &[u8]| {
        let array = Array { path, header: &header };
        array.floats(bytes, &options.limits).map(|values| Place::Floats(Floats::Owned(values)))
    };
    let data = file.after(start);
    let place = match element {
        Element::F32 if plain => Floats::mapped(data).map(Place::Floats).or_else(|data| convert(&data))?,
        Element::F64 if plain && bytemuck::try_cast_slice::<u8, f64>(&data).is_ok() => Place::Doubles(data),
        _ => convert(&data)?,
    };
    Ok((rows, (0..width).map(|class| class.to_string()).collect(), place))
}
