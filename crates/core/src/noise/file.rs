//! A transition matrix in a file: JSON, CSV or npy, told apart by the ending of its name.

use super::Transition;
use crate::npy::{Element, Header};
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// JSON of a matrix: `{"classes": [...], "transition": [[...], ...]}`, or the rows alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Json {
    Named {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        classes: Option<Vec<String>>,
        transition: Vec<Vec<f64>>,
    },
    Rows(Vec<Vec<f64>>),
}

impl Transition {
    /// Reads a `.json`, `.csv` or `.npy` file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let format = format(path)?;
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        match format {
            Format::Json => Self::from_json(&bytes),
            Format::Csv => Self::from_csv(&bytes),
            Format::Npy => Self::from_npy(&bytes),
        }
        .map_err(|problem| problem.in_file(path))
    }

    /// Writes a `.json`, `.csv` or `.npy` file: aside first and then in one move, so that it is never half there.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let bytes = match format(path)? {
            Format::Json => self.to_json().into_bytes(),
            Format::Csv => self.to_csv().into_bytes(),
            Format::Npy => self.to_npy(),
        };
        let mut aside = path.as_os_str().to_owned();
        aside.push(".tmp");
        let written = std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, path));
        written.map_err(|source| {
            let _ = std::fs::remove_file(&aside);
            Error::Write { path: path.to_owned(), source }
        })
    }

    /// Reads JSON: an object with `transition` and, if known, `classes`; or the rows alone.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        match serde_json::from_slice(bytes).map_err(Error::Json)? {
            Json::Named { classes, transition } => named(from_rows(&transition)?, classes),
            Json::Rows(rows) => from_rows(&rows),
        }
    }

    /// JSON with every digit, a line for each row.
    #[must_use]
    pub fn to_json(&self) -> String {
        let line = |row: &[f64]| format!("    {}", serde_json::json!(row));
        let rows: Vec<String> = self.matrix().iter_rows().map(line).collect();
        let names = self
            .names()
            .map_or(String::new(), |names| format!("  \"classes\": {},\n", serde_json::json!(names)));
        format!("{{\n{names}  \"transition\": [\n{}\n  ]\n}}\n", rows.join(",\n"))
    }

    /// Reads CSV: rows of numbers, or a table whose first row and column name the classes.
    pub fn from_csv(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let mut records = reader.records().collect::<Result<Vec<_>, _>>().map_err(Error::Csv)?;
        let headed = records
            .first()
            .and_then(|record| record.get(0))
            .is_some_and(|cell| cell.trim().parse::<f64>().is_err());
        let names = headed.then(|| records.remove(0).iter().skip(1).map(str::to_owned).collect());
        let number = |line: u64, column: usize, cell: &str| {
            cell.trim().parse().map_err(|_| Error::NotANumber {
                line,
                column: column + 1,
                found: cell.to_owned(),
            })
        };
        let row = |record: &csv::StringRecord| {
            let line = record.position().map_or(0, csv::Position::line);
            let cells = record.iter().enumerate().skip(usize::from(headed));
            cells.map(|(column, cell)| number(line, column, cell)).collect()
        };
        named(from_rows(&records.iter().map(row).collect::<Result<Vec<_>, _>>()?)?, names)
    }

    /// CSV whose first row and column name the classes.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let names: Vec<String> = (0..self.classes()).map(|class| self.name(class)).collect();
        let mut write = |first: &str, rest: Vec<String>| {
            let _ = writer.write_record(std::iter::once(first.to_owned()).chain(rest));
        };
        write("true class", names.clone());
        for (name, row) in names.iter().zip(self.matrix().iter_rows()) {
            write(name, row.iter().map(f64::to_string).collect());
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Reads the bytes of an npy file of f4 or f8.
    pub fn from_npy(bytes: &[u8]) -> Result<Self, Error> {
        let header = Header::parse(bytes)?;
        let data = header.data(bytes)?;
        let [rows, columns] = header.shape[..] else {
            return Err(Error::NotSquare(header.shape.clone()));
        };
        let values = floats(&header, data)?;
        if rows == 0 || columns == 0 {
            return Err(Error::TooFewClasses(0));
        }
        let matrix = Matrix::from_vec(if header.fortran_order { rows } else { columns }, values);
        Self::new(if header.fortran_order { matrix.transposed() } else { matrix })
    }

    /// The bytes of an npy file of f8.
    #[must_use]
    pub fn to_npy(&self) -> Vec<u8> {
        let mut bytes = Header::write(Element::F64, &[self.classes(), self.classes()]);
        bytes.extend(self.matrix().values().iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }
}

/// The kinds of file a matrix can be in.
enum Format {
    Json,
    Csv,
    Npy,
}

fn format(path: &Path) -> Result<Format, Error> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("json") => Ok(Format::Json),
        Some("csv") => Ok(Format::Csv),
        Some("npy") => Ok(Format::Npy),
        _ => Err(Error::Extension(path.to_owned())),
    }
}

fn from_rows(rows: &[Vec<f64>]) -> Result<Transition, Error> {
    let expected = rows.len();
    if expected == 0 {
        return Err(Error::TooFewClasses(0));
    }
    if let Some(row) = rows.iter().position(|row| row.len() != expected) {
        return Err(Error::RowLength { row, expected, found: rows[row].len() });
    }
    Transition::new(Matrix::from_vec(expected, rows.concat()))
}

/// Names that only count the classes are no names.
fn named(transition: Transition, names: Option<Vec<String>>) -> Result<Transition, Error> {
    match names {
        Some(names) if names.iter().enumerate().any(|(class, name)| *name != class.to_string()) => {
            transition.with_names(names)
        }
        Some(names) if names.len() != transition.classes() => transition.with_names(names),
        _ => Ok(transition),
    }
}

fn floats(header: &Header, data: &[u8]) -> Result<Vec<f64>, Error> {
    let ordered = |bytes: &[u8]| -> [u8; 8] {
        let mut ordered = [0; 8];
        ordered[..bytes.len()].copy_from_slice(bytes);
        if header.big_endian {
            ordered[..bytes.len()].reverse();
        }
        ordered
    };
    let chunks = data.chunks_exact(header.element.size()).map(ordered);
    match header.element {
        Element::F64 => Ok(chunks.map(f64::from_le_bytes).collect()),
        Element::F32 => Ok(chunks.map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()),
        other => Err(Error::NotFloats(other.name())),
    }
}
