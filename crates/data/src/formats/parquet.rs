//! Parquet: a table by columns, in groups of rows that are read side by side.
//!
//! The columns are read by the `parquet` crate without arrow: flat columns of numbers and texts need no more, and
//! the numbers go straight to where they are learnt from.

use super::{Format, has_extension};
use crate::guarded::guarded;
use crate::table::{Assembly, Fault, Piece, Request, Role, Schema, What};
use crate::{Dataset, Error, Options, Part, source};
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;
use std::fs::File;
use std::path::Path;

/// Rows that are taken out of a group at a time.
const BATCH: usize = 8192;

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    about: "a table as Parquet: one row an example, one column its label",
    recognizes,
    has_test: |_| false,
    self_contained: false,
    read,
};

/// Whether the name of the file says so.
pub(crate) fn recognizes(path: &Path) -> bool {
    path.is_file() && has_extension(path, &["parquet", "pq"])
}

fn read(path: &Path, _: Part, options: &Options) -> Result<Dataset, Error> {
    table(path, Request::Features, options)?.dataset(FORMAT.name, path, options)
}

/// The columns of the file that are asked for.
pub(crate) fn table(path: &Path, request: Request<'_>, options: &Options) -> Result<Assembly, Error> {
    let broken = |what| Error::Parquet { path: path.into(), what };
    let file = open(path)?;
    let about = file.metadata();
    let descriptors = about.file_metadata().schema_descr().columns();
    let names = descriptors.iter().map(|column| column.path().string()).collect();
    let numeric: Vec<bool> = descriptors.iter().map(|column| is_number(column)).collect();
    let schema = Schema::new(path, names, &numeric, (request, options))?;
    for (column, role) in descriptors.iter().zip(&schema.roles) {
        check_column(path, column, *role)?;
    }
    let rows = usize::try_from(about.file_metadata().num_rows()).map_err(|_| broken("its row count is negative".into()))?;
    if rows > options.limits.rows {
        return Err(Error::TooManyRows { path: path.into(), limit: options.limits.rows });
    }
    let most = matches!(request, Request::Features).then_some(options.limits.categories);
    let mut assembly = Assembly::new(schema, believable(path, rows).map_err(broken)?, most);
    let groups: Vec<usize> = (0..about.num_row_groups()).collect();
    for few in groups.chunks(rayon::current_num_threads()) {
        let read = |&group: &usize| read_group(path, group, &assembly.schema, options);
        let pieces: Vec<_> = few.par_iter().map(read).collect();
        for piece in pieces {
            let (piece, fault) = piece.map_err(broken)?;
            if let Some(fault) = fault {
                return Err(fault.at(path, assembly.seen, &assembly.schema));
            }
            assembly.append(&piece, path, &options.limits)?;
        }
    }
    Ok(assembly)
}

/// The rows that room is kept for: not more than the file's own word, nor than so long a file usually holds.
fn believable(path: &Path, rows: usize) -> Result<usize, String> {
    let length = source::length(path).map_err(|error| error.to_string())?;
    Ok(rows.min(usize::try_from(length).unwrap_or(usize::MAX)))
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, Error> {
    let file = source::open(path)?;
    let open = || SerializedFileReader::new(file).map_err(|error| error.to_string());
    guarded(open).map_err(|what| Error::Parquet { path: path.into(), what })
}

fn is_number(column: &ColumnDescriptor) -> bool {
    !matches!(column.physical_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY)
}

/// Refuses a column that is needed and holds neither plain numbers nor texts.
fn check_column(path: &Path, column: &ColumnDescriptor, role: Role) -> Result<(), Error> {
    let nested = column.max_rep_level() > 0 || column.path().parts().len() > 1;
    let decimal = column.converted_type() == ConvertedType::DECIMAL;
    let found = match column.physical_type() {
        _ if nested => "lists or structures".to_owned(),
        kind @ (Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY) => kind.to_string(),
        _ if decimal => "decimals".to_owned(),
        _ => return Ok(()),
    };
    if role == Role::Ignored {
        return Ok(());
    }
    Err(Error::ColumnType { path: path.into(), column: column.path().string(), found })
}

/// The rows of a group, or what is wrong with one of them.
fn read_group(
    path: &Path,
    group: usize,
    schema: &Schema,
    options: &Options,
) -> Result<(Piece, Option<Fault>), String> {
    let said = |error: parquet::errors::ParquetError| error.to_string();
    guarded(|| {
        let file = open(path).map_err(|error| error.to_string())?;
        let reader = file.get_row_group(group).map_err(said)?;
        let rows = usize::try_from(reader.metadata().num_rows()).map_err(|error| error.to_string())?;
        let mut columns = Vec::new();
        for (column, &role) in schema.roles.iter().enumerate() {
            if role != Role::Ignored {
                let unsigned = is_unsigned(&file, column);
                let reader = Column::new(reader.get_column_reader(column).map_err(said)?, unsigned);
                columns.push((column, role, reader?));
            }
        }
        let mut piece = Piece::new(schema, options.missing);
        piece.reserve(believable(path, rows)?);
        let mut read = 0;
        while read < rows {
            let count = BATCH.min(rows - read);
            let mut cells = Vec::with_capacity(columns.len());
            for (column, role, reader) in &mut columns {
                cells.push((*column, *role, reader.next(count)?));
            }
            if let Err(fault) = append(&cells, count, &mut piece) {
                return Ok((piece, Some(fault)));
            }
            read += count;
        }
        Ok((piece, None))
    })
}

fn is_unsigned(file: &SerializedFileReader<File>, column: usize) -> bool {
    let kind = file.metadata().file_metadata().schema_descr().column(column).converted_type();
    matches!(kind, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64)
}

/// Some values of a column, one a row.
enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<ByteArray>>),
}

/// Writes rows of cells into the piece.
fn append(cells: &[(usize, Role, Cells)], count: usize, piece: &mut Piece) -> Result<(), Fault> {
    for at in 0..count {
        let row = piece.seen;
        let base = piece.begin();
        for (column, role, cells) in cells {
            cell((*column, *role), cells, at, (piece, base)).map_err(|what| Fault { row, what })?;
        }
        piece.end();
    }
    Ok(())
}

fn cell((column, role): (usize, Role), cells: &Cells, at: usize, (piece, base): (&mut Piece, usize)) -> Result<(), What> {
    match (role, cells) {
        (Role::Number(place), Cells::Numbers(values)) => match values[at].filter(|value| !value.is_nan()) {
            None => piece.missing_number(column)?,
            Some(value) if !(value as f32).is_finite() => return Err(What::NotFinite(column, value.to_string())),
            Some(value) => piece.numbers[base + place] = value as f32,
        },
        // A training set had numbers here, this one has texts.
        (Role::Number(_), Cells::Texts(values)) => {
            let found = values[at].as_ref().map(|text| crate::table::shown(text.data()));
            return Err(What::Number(column, found.unwrap_or_default()));
        }
        (Role::Category(place), cells) => piece.category(place, column, &cells.text(at))?,
        (Role::Label, cells) => piece.label(column, &cells.text(at))?,
        (Role::Ignored, _) => {}
    }
    Ok(())
}

impl Cells {
    /// A cell as text; empty where there is none.
    fn text(&self, at: usize) -> std::borrow::Cow<'_, [u8]> {
        match self {
            Self::Numbers(values) => values[at].map(|value| value.to_string().into_bytes()).unwrap_or_default().into(),
            Self::Texts(values) => values[at].as_ref().map(ByteArray::data).unwrap_or_default().into(),
        }
    }
}

/// A column that is being read.
enum Column {
    Numbers(Box<dyn Numbers>),
    Texts(Box<ColumnReaderImpl<parquet::data_type::ByteArrayType>>),
}

impl Column {
    fn new(reader: ColumnReader, unsigned: bool) -> Result<Self, String> {
        fn numbers<T: DataType>(reader: ColumnReaderImpl<T>, number: fn(T::T) -> f64) -> Column
        where
            T::T: Clone,
        {
            Column::Numbers(Box::new(Typed { reader, number }))
        }
        Ok(match reader {
            ColumnReader::BoolColumnReader(reader) => numbers(reader, |value| f64::from(u8::from(value))),
            ColumnReader::Int32ColumnReader(reader) if unsigned => numbers(reader, |value| f64::from(value.cast_unsigned())),
            ColumnReader::Int32ColumnReader(reader) => numbers(reader, f64::from),
            ColumnReader::Int64ColumnReader(reader) if unsigned => numbers(reader, |value| value.cast_unsigned() as f64),
            ColumnReader::Int64ColumnReader(reader) => numbers(reader, |value| value as f64),
            ColumnReader::FloatColumnReader(reader) => numbers(reader, f64::from),
            ColumnReader::DoubleColumnReader(reader) => numbers(reader, |value| value),
            ColumnReader::ByteArrayColumnReader(reader) => Self::Texts(Box::new(reader)),
            _ => return Err("a column of a type that is not read".to_owned()),
        })
    }

    /// The values of the next `count` rows.
    fn next(&mut self, count: usize) -> Result<Cells, String> {
        match self {
            Self::Numbers(reader) => reader.next(count).map(Cells::Numbers),
            Self::Texts(reader) => records(reader, count).map(Cells::Texts),
        }
    }
}

/// Columns of any number type.
trait Numbers {
    fn next(&mut self, count: usize) -> Result<Vec<Option<f64>>, String>;
}

struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    number: fn(T::T) -> f64,
}

impl<T: DataType> Numbers for Typed<T> {
    fn next(&mut self, count: usize) -> Result<Vec<Option<f64>>, String> {
        let values = records(&mut self.reader, count)?;
        Ok(values.into_iter().map(|value| value.map(self.number)).collect())
    }
}

/// The next `count` values, those that are null as none.
fn records<T: DataType>(reader: &mut ColumnReaderImpl<T>, count: usize) -> Result<Vec<Option<T::T>>, String> {
    let (mut levels, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let outcome = reader.read_records(count, Some(&mut levels), None, &mut values);
    let (records, ..) = outcome.map_err(|error| error.to_string())?;
    if records != count {
        return Err(format!("a column ends {} rows too early", count - records));
    }
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    let value = |level: i16| if level > 0 { values.next() } else { None };
    Ok(levels.into_iter().map(value).collect())
}
