//! Parquet: a table by columns, in groups of rows; the columns of a group are read side by side.
//!
//! The columns are read by the `parquet` crate without arrow: flat columns of numbers and texts need no more, and
//! the numbers go straight to where they are learnt from.

mod column;
mod positioned;

use super::{Format, has_extension};
use crate::guarded::guarded;
use crate::table::{Assembly, Fault, Piece, Request, Role, Schema};
use crate::{Dataset, Error, Options, Part, source};
use column::{Cells, Column};
use parquet::basic::{ConvertedType, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;
use positioned::Positioned;
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
    for group in 0..about.num_row_groups() {
        let mut left = rows_of(&file, group).map_err(broken)?;
        let mut columns = guarded(|| columns(&file, group, &assembly.schema)).map_err(broken)?;
        while left > 0 {
            let count = BATCH.min(left);
            let cells = guarded(|| next(&mut columns, count)).map_err(broken)?;
            let mut piece = Piece::new(&assembly.schema, options.missing);
            let outcome = append(&columns, &cells, count, &mut piece);
            outcome.map_err(|fault| fault.at(path, assembly.seen, &assembly.schema))?;
            assembly.append(&piece, path, &options.limits)?;
            left -= count;
        }
    }
    Ok(assembly)
}

/// The columns of a file that hold probabilities, to be read a group of rows at a time.
pub(crate) struct Groups {
    file: SerializedFileReader<Positioned>,
    pub(crate) schema: Schema,
    /// How many rows each group has.
    pub(crate) rows: Vec<usize>,
}

/// Opens a file to read its groups in any order.
pub(crate) fn groups(path: &Path, options: &Options) -> Result<Groups, Error> {
    let broken = |what| Error::Parquet { path: path.into(), what };
    let file = open(path)?;
    let descriptors = file.metadata().file_metadata().schema_descr().columns();
    let names = descriptors.iter().map(|column| column.path().string()).collect();
    let numeric: Vec<bool> = descriptors.iter().map(|column| is_number(column)).collect();
    let schema = Schema::new(path, names, &numeric, (Request::Probabilities, options))?;
    for (column, role) in descriptors.iter().zip(&schema.roles) {
        check_column(path, column, *role)?;
    }
    let count = file.metadata().num_row_groups();
    let rows = (0..count).map(|group| rows_of(&file, group)).collect::<Result<_, _>>().map_err(broken)?;
    Ok(Groups { file, schema, rows })
}

impl Groups {
    /// The numbers of a group, row by row; NaN where there is none.
    pub(crate) fn read(&self, path: &Path, group: usize) -> Result<Vec<f32>, Error> {
        let broken = |what| Error::Parquet { path: path.into(), what };
        let (rows, width) = (self.rows[group], self.schema.numbers);
        let mut columns = guarded(|| columns(&self.file, group, &self.schema)).map_err(broken)?;
        let mut values = Vec::with_capacity(believable(path, rows).map_err(broken)? * width);
        let mut done = 0;
        while done < rows {
            let count = BATCH.min(rows - done);
            values.resize((done + count) * width, 0.0);
            // Groups are read side by side already, so columns one after the other.
            for column in &mut columns {
                let cells = guarded(|| column.next(count)).map_err(broken)?;
                let (Role::Number(place), Cells::Features(found)) = (column.role, cells) else { continue };
                let places = values[done * width..].iter_mut().skip(place).step_by(width);
                places.zip(found).for_each(|(to, from)| *to = from);
            }
            done += count;
        }
        Ok(values)
    }
}

/// The rows that room is kept for: not more than the file's own word, nor than so long a file usually holds.
fn believable(path: &Path, rows: usize) -> Result<usize, String> {
    let length = source::length(path).map_err(|error| error.to_string())?;
    Ok(rows.min(usize::try_from(length).unwrap_or(usize::MAX)))
}

fn open(path: &Path) -> Result<SerializedFileReader<Positioned>, Error> {
    let file = source::open(path)?;
    let file = Positioned::new(file).map_err(|source| Error::io(path, source))?;
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

fn rows_of(file: &SerializedFileReader<Positioned>, group: usize) -> Result<usize, String> {
    usize::try_from(file.metadata().row_group(group).num_rows()).map_err(|_| "a row count is negative".to_owned())
}

/// The columns of a group that are needed.
fn columns(file: &SerializedFileReader<Positioned>, group: usize, schema: &Schema) -> Result<Vec<Column>, String> {
    let group = file.get_row_group(group).map_err(|error| error.to_string())?;
    let needed = schema.roles.iter().enumerate().filter(|(_, role)| **role != Role::Ignored);
    let open = |(number, &role): (usize, &Role)| {
        let reader = group.get_column_reader(number).map_err(|error| error.to_string())?;
        Column::new(reader, is_unsigned(file, number), number, role)
    };
    needed.map(open).collect()
}

fn is_unsigned(file: &SerializedFileReader<Positioned>, column: usize) -> bool {
    let kind = file.metadata().file_metadata().schema_descr().column(column).converted_type();
    matches!(kind, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64)
}

/// The next rows of all columns, which are read side by side.
fn next(columns: &mut [Column], count: usize) -> Result<Vec<Cells>, String> {
    columns.par_iter_mut().map(|column| guarded(|| column.next(count))).collect()
}

/// Writes rows of cells into the piece.
fn append(columns: &[Column], cells: &[Cells], count: usize, piece: &mut Piece) -> Result<(), Fault> {
    let whole = cells.iter().all(Cells::is_whole);
    if whole {
        piece.fill(count);
    }
    for (column, cells) in columns.iter().zip(cells) {
        if let (true, Role::Number(place), Cells::Features(values)) = (whole, column.role, cells) {
            piece.set_column(place, values);
        } else if whole {
            let place = (column.number, column.role);
            for at in 0..count {
                cells.write(at, place, piece, 0).map_err(|what| Fault { row: at, what })?;
            }
        }
    }
    if whole { Ok(()) } else { append_rows(columns, cells, count, piece) }
}

/// The same row by row, where values are missing or wrong.
fn append_rows(columns: &[Column], cells: &[Cells], count: usize, piece: &mut Piece) -> Result<(), Fault> {
    for at in 0..count {
        let row = piece.seen;
        let base = piece.begin();
        for (column, cells) in columns.iter().zip(cells) {
            let written = cells.write(at, (column.number, column.role), piece, base);
            written.map_err(|what| Fault { row, what })?;
        }
        piece.end();
    }
    Ok(())
}
