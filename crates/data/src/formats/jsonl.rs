//! JSON lines: an object a row, its keys the columns.

use super::{Format, has_extension};
use crate::table::{
    Assembly, Blocks, Ends, Fault, Piece, Request, Role, RowReader, SAMPLE, Schema, What, read_blocks, shown,
};
use crate::{Dataset, Error, Options, Part};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    about: "a table as JSON lines, .jsonl or .ndjson, plain or gzip: one object an example, one key its label",
    recognizes,
    has_test: |_| false,
    self_contained: false,
    read,
};

/// Whether the name of the file says so.
pub(crate) fn recognizes(path: &Path) -> bool {
    path.is_file() && has_extension(path, &["jsonl", "ndjson"])
}

fn read(path: &Path, _: Part, options: &Options) -> Result<Dataset, Error> {
    table(path, Request::Features, options)?.dataset(FORMAT.name, path, options)
}

/// The columns of the file that are asked for.
pub(crate) fn table(path: &Path, request: Request<'_>, options: &Options) -> Result<Assembly, Error> {
    let mut blocks = Blocks::open(path, Ends::Lines, &options.limits)?;
    let first = blocks.next()?.ok_or_else(|| Error::Empty { path: path.into() })?;
    let (names, numeric) = sample(path, &first)?;
    let schema = Schema::new(path, names, &numeric, (request, options))?;
    let columns = schema.names.iter().cloned().enumerate().map(|(at, name)| (name, at)).collect();
    let reader = Rows { roles: schema.roles.clone(), columns };
    let most = matches!(request, Request::Features).then_some(options.limits.categories);
    read_blocks(blocks, first, &reader, Assembly::new(schema, 0, most), options)
}

/// The keys of the first rows, in the order of their appearance, and whether only numbers stand under them.
fn sample(path: &Path, block: &[u8]) -> Result<(Vec<String>, Vec<bool>), Error> {
    let (mut names, mut numeric) = (Vec::<String>::new(), Vec::<bool>::new());
    for (row, line) in lines(block).take(SAMPLE).enumerate() {
        let cells = parse(line).map_err(|what| Error::Json { path: path.into(), row: row + 1, what })?;
        for (key, cell) in cells {
            let at = names.iter().position(|name| *name == key).unwrap_or_else(|| {
                names.push(key);
                numeric.push(true);
                names.len() - 1
            });
            numeric[at] &= !matches!(cell, Cell::Text(_));
        }
    }
    Ok((names, numeric))
}

fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

fn parse(line: &[u8]) -> Result<Vec<(String, Cell)>, String> {
    serde_json::from_slice::<Row>(line).map(|row| row.0).map_err(|error| error.to_string())
}

/// Reads rows whose keys have these roles.
struct Rows {
    roles: Vec<Role>,
    columns: HashMap<String, usize>,
}

impl RowReader for Rows {
    fn read(&self, rows: &[u8], piece: &mut Piece) -> Result<(), Fault> {
        for line in lines(rows) {
            let row = piece.seen;
            self.row(line, piece).map_err(|what| Fault { row, what })?;
        }
        Ok(())
    }
}

impl Rows {
    fn row(&self, line: &[u8], piece: &mut Piece) -> Result<(), What> {
        let base = piece.begin();
        let mut cells: Vec<Option<Cell>> = self.roles.iter().map(|_| None).collect();
        for (key, cell) in parse(line).map_err(What::Json)? {
            let column = self.columns.get(&key).ok_or_else(|| What::UnknownKey(shown(key.as_bytes())))?;
            cells[*column] = Some(cell);
        }
        for (column, (cell, role)) in cells.into_iter().zip(&self.roles).enumerate() {
            let cell = cell.unwrap_or(Cell::Null);
            match (role, cell) {
                (Role::Ignored, _) => {}
                (_, Cell::Nested) => return Err(What::Nested(column)),
                (Role::Number(place), Cell::Number(value)) => {
                    let narrow = value as f32;
                    if !narrow.is_finite() {
                        return Err(What::NotFinite(column, value.to_string()));
                    }
                    piece.numbers[base + place] = narrow;
                }
                (Role::Number(_), Cell::Null) => piece.missing_number(column)?,
                (Role::Number(_), Cell::Text(text)) => return Err(What::Number(column, shown(text.as_bytes()))),
                (Role::Category(place), cell) => piece.category(*place, column, cell.text().as_bytes())?,
                (Role::Label, cell) => piece.label(column, cell.text().as_bytes())?,
            }
        }
        piece.end();
        Ok(())
    }
}

/// What can stand under a key.
enum Cell {
    Null,
    Number(f64),
    Text(String),
    Nested,
}

impl Cell {
    fn text(self) -> String {
        match self {
            Self::Null | Self::Nested => String::new(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// A row as its keys and what stands under them.
struct Row(Vec<(String, Cell)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut cells = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    cells.push(entry);
                }
                Ok(Row(cells))
            }
        }
        from.deserialize_map(Keys)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyCell)
    }
}

struct AnyCell;

impl<'de> Visitor<'de> for AnyCell {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Cell, E> {
        Ok(Cell::Number(f64::from(u8::from(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Cell, E> {
        Ok(Cell::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Cell, E> {
        Ok(Cell::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Cell, E> {
        Ok(Cell::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell, E> {
        Ok(Cell::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Cell, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested)
    }
}
