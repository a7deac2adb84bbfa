//! `suspects.parquet`: the list for programs, and for the page, which reads it back.

use super::record::Suspect;
use super::suspects::{Suspects, failed};
use crate::Error;
use crate::run::files::write_gradually;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Row, RowAccessor as _};
use parquet::schema::types::Type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows that are written at a time.
const GROUP: usize = 1 << 16;

const COLUMNS: [(&str, Physical); 13] = [
    ("index", Physical::INT64),
    ("source", Physical::BYTE_ARRAY),
    ("given", Physical::BYTE_ARRAY),
    ("suggested", Physical::BYTE_ARRAY),
    ("given_class", Physical::INT32),
    ("suggested_class", Physical::INT32),
    ("p_wrong", Physical::FLOAT),
    ("p_suggested", Physical::FLOAT),
    ("margin", Physical::FLOAT),
    ("self_confidence", Physical::FLOAT),
    ("normalized_margin", Physical::FLOAT),
    ("abstains", Physical::BOOLEAN),
    ("rank", Physical::INT64),
];

impl Suspects<'_> {
    /// Writes `suspects.parquet`.
    pub fn write_parquet(&self, path: &Path) -> Result<(), Error> {
        write_gradually(path, |file| {
            let properties = Arc::new(WriterProperties::builder().build());
            let mut writer =
                SerializedFileWriter::new(file, schema().map_err(failed)?, properties).map_err(failed)?;
            for (at, findings) in self.findings.chunks(GROUP).enumerate() {
                let part = Suspects { findings, ..*self };
                let mut group = writer.next_row_group().map_err(failed)?;
                for (name, _) in COLUMNS {
                    if let Some(mut column) = group.next_column().map_err(failed)? {
                        part.column(name, at * GROUP, column.untyped()).map_err(failed)?;
                        column.close().map_err(failed)?;
                    }
                }
                group.close().map_err(failed)?;
            }
            writer.close().map(|_| ()).map_err(failed)
        })
    }

    fn column(&self, name: &str, first: usize, writer: &mut ColumnWriter<'_>) -> parquet::errors::Result<()> {
        let name_of = |class: u32| ByteArray::from(self.classes[class as usize].as_str());
        let each = self.findings.iter();
        match writer {
            ColumnWriter::Int64ColumnWriter(writer) => {
                let ranks = || (first..first + self.findings.len()).map(|at| at as i64 + 1).collect();
                let values: Vec<i64> =
                    if name == "rank" { ranks() } else { each.map(|f| f.row as i64).collect() };
                writer.write_batch(&values, None, None)?;
            }
            ColumnWriter::Int32ColumnWriter(writer) => {
                let class = |f: &super::Finding| if name == "given_class" { f.given } else { f.suggested };
                let values: Vec<i32> = each.map(|f| class(f).cast_signed()).collect();
                writer.write_batch(&values, None, None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let text = |f: &super::Finding| match name {
                    "source" => ByteArray::from(self.sources.of(f.row as usize).into_bytes()),
                    "given" => name_of(f.given),
                    _ => name_of(f.suggested),
                };
                writer.write_batch(&each.map(text).collect::<Vec<_>>(), None, None)?;
            }
            ColumnWriter::FloatColumnWriter(writer) => {
                let number = |f: &super::Finding| match name {
                    "p_wrong" => f.wrong,
                    "p_suggested" => f.probability,
                    "margin" => f.margin,
                    "self_confidence" => f.self_confidence,
                    _ => f.normalized_margin,
                };
                writer.write_batch(&each.map(number).collect::<Vec<_>>(), None, None)?;
            }
            ColumnWriter::BoolColumnWriter(writer) => {
                writer.write_batch(&each.map(super::Finding::abstains).collect::<Vec<_>>(), None, None)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn schema() -> parquet::errors::Result<Arc<Type>> {
    let column = |(name, kind): (&str, Physical)| {
        let column = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
        let text = (kind == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        column.with_logical_type(text).build().map(Arc::new)
    };
    let columns = COLUMNS.into_iter().map(column).collect::<Result<_, _>>()?;
    Type::group_type_builder("suspects").with_fields(columns).build().map(Arc::new)
}

/// The first so many suspects of a `suspects.parquet`.
pub fn read_suspects(path: &Path, count: usize) -> Result<Vec<Suspect>, Error> {
    let malformed = |problem: parquet::errors::ParquetError| Error::Malformed {
        path: path.to_owned(),
        problem: problem.to_string(),
    };
    let file = File::open(path).map_err(Error::read(path))?;
    let reader = SerializedFileReader::new(file).map_err(malformed)?;
    let rows = reader.get_row_iter(None).map_err(malformed)?;
    rows.take(count).map(|row| row.and_then(|row| suspect(&row)).map_err(malformed)).collect()
}

fn suspect(row: &Row) -> parquet::errors::Result<Suspect> {
    let place = |name: &str| COLUMNS.iter().position(|column| column.0 == name).unwrap_or_default();
    let float = |name: &str| row.get_float(place(name)).map(f64::from);
    let class = |name: &str| row.get_int(place(name)).map(i32::cast_unsigned);
    Ok(Suspect {
        row: row.get_long(place("index"))?.cast_unsigned() as usize,
        source: row.get_string(place("source"))?.clone(),
        given: class("given_class")?,
        suggested: class("suggested_class")?,
        p_wrong: float("p_wrong")?,
        p_suggested: float("p_suggested")?,
        margin: float("margin")?,
        abstains: row.get_bool(place("abstains"))?,
        self_confidence: float("self_confidence")?,
        normalized_margin: float("normalized_margin")?,
    })
}
