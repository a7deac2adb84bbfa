//! The columns of a row group, read some rows at a time.

use crate::table::{Piece, Role, What, shown};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use std::borrow::Cow;

/// A column that is being read, and what it is for.
pub(super) struct Column {
    pub(super) number: usize,
    pub(super) role: Role,
    reader: Box<dyn Reader>,
}

/// Some values of a column, one a row.
pub(super) enum Cells {
    /// Features; NaN where there is none.
    Features(Vec<f32>),
    /// Numbers that are names: labels and categories.
    Names(Vec<Option<f64>>),
    Texts(Vec<Option<ByteArray>>),
}

impl Column {
    /// A column of whatever type the file says, if it is one of numbers or texts.
    pub(super) fn new(reader: ColumnReader, unsigned: bool, number: usize, role: Role) -> Result<Self, String> {
        let is_feature = matches!(role, Role::Number(_));
        let reader = match reader {
            ColumnReader::BoolColumnReader(reader) => numbers(reader, is_feature, |value| u8::from(value).into()),
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                numbers(reader, is_feature, |value| value.cast_unsigned().into())
            }
            ColumnReader::Int32ColumnReader(reader) => numbers(reader, is_feature, f64::from),
            ColumnReader::Int64ColumnReader(reader) if unsigned => {
                numbers(reader, is_feature, |value| value.cast_unsigned() as f64)
            }
            ColumnReader::Int64ColumnReader(reader) => numbers(reader, is_feature, |value| value as f64),
            ColumnReader::FloatColumnReader(reader) => numbers(reader, is_feature, f64::from),
            ColumnReader::DoubleColumnReader(reader) => numbers(reader, is_feature, |value| value),
            ColumnReader::ByteArrayColumnReader(reader) => Box::new(Texts(reader)),
            _ => return Err("a column of a type that is not read".to_owned()),
        };
        Ok(Self { number, role, reader })
    }

    /// The values of the next `count` rows.
    pub(super) fn next(&mut self, count: usize) -> Result<Cells, String> {
        self.reader.next(count)
    }
}

/// Columns of any type.
trait Reader: Send {
    fn next(&mut self, count: usize) -> Result<Cells, String>;
}

fn numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    is_feature: bool,
    convert: impl Fn(T::T) -> f64 + Send + 'static,
) -> Box<dyn Reader> {
    Box::new(Numbers { reader, convert, is_feature })
}

struct Numbers<T: DataType, F> {
    reader: ColumnReaderImpl<T>,
    convert: F,
    is_feature: bool,
}

impl<T: DataType, F: Fn(T::T) -> f64 + Send> Reader for Numbers<T, F> {
    fn next(&mut self, count: usize) -> Result<Cells, String> {
        let (levels, values) = records(&mut self.reader, count)?;
        let mut values = values.into_iter().map(&self.convert);
        let whole = levels.is_empty() || levels.iter().all(|&level| level > 0);
        Ok(match (self.is_feature, whole) {
            (true, true) => Cells::Features(values.map(|value| value as f32).collect()),
            (true, false) => {
                let next = |level: &i16| if *level > 0 { values.next().unwrap_or(f64::NAN) } else { f64::NAN };
                Cells::Features(levels.iter().map(next).map(|value| value as f32).collect())
            }
            (false, true) => Cells::Names(values.map(Some).collect()),
            (false, false) => {
                Cells::Names(levels.iter().map(|&level| if level > 0 { values.next() } else { None }).collect())
            }
        })
    }
}

struct Texts(ColumnReaderImpl<ByteArrayType>);

impl Reader for Texts {
    fn next(&mut self, count: usize) -> Result<Cells, String> {
        let (levels, values) = records(&mut self.0, count)?;
        if levels.is_empty() {
            return Ok(Cells::Texts(values.into_iter().map(Some).collect()));
        }
        let mut values = values.into_iter();
        Ok(Cells::Texts(levels.iter().map(|&level| if level > 0 { values.next() } else { None }).collect()))
    }
}

/// The levels of the next `count` rows, 0 where there is no value, and the values. A column that cannot have gaps has
/// no levels.
fn records<T: DataType>(reader: &mut ColumnReaderImpl<T>, count: usize) -> Result<(Vec<i16>, Vec<T::T>), String> {
    let (mut levels, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let outcome = reader.read_records(count, Some(&mut levels), None, &mut values);
    let (records, ..) = outcome.map_err(|error| error.to_string())?;
    if records != count {
        return Err(format!("a column ends {} rows too early", count - records));
    }
    Ok((levels, values))
}

impl Cells {
    /// Whether no value is missing or infinite, so that rows need not be looked at one by one.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Self::Features(values) => values.iter().all(|value| value.is_finite()),
            Self::Names(values) => values.iter().all(Option::is_some),
            Self::Texts(values) => {
                values.iter().all(|text| text.as_ref().is_some_and(|text| !crate::table::is_missing(text.data())))
            }
        }
    }

    /// Writes the cell of one row; `column` is its number and role, `base` where the numbers of the row begin.
    pub(super) fn write(
        &self,
        at: usize,
        (column, role): (usize, Role),
        piece: &mut Piece,
        base: usize,
    ) -> Result<(), What> {
        match (role, self) {
            (Role::Number(place), Self::Features(values)) => match values[at] {
                value if value.is_nan() => piece.missing_number(column),
                value if value.is_infinite() => Err(What::NotFinite(column, value.to_string())),
                value => {
                    piece.numbers[base + place] = value;
                    Ok(())
                }
            },
            // The training set had numbers here, this one has texts.
            (Role::Number(_), cells) => Err(What::Number(column, shown(&cells.text(at)))),
            (Role::Category(place), cells) => piece.category(place, column, &cells.text(at)),
            (Role::Label, cells) => piece.label(column, &cells.text(at)),
            (Role::Ignored, _) => Ok(()),
        }
    }

    /// A cell as text; empty where there is none.
    fn text(&self, at: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Features(values) => values[at].to_string().into_bytes().into(),
            Self::Names(values) => {
                values[at].filter(|value| !value.is_nan()).map(|value| value.to_string().into_bytes()).unwrap_or_default().into()
            }
            Self::Texts(values) => values[at].as_ref().map(ByteArray::data).unwrap_or_default().into(),
        }
    }
}
