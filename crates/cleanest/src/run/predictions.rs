//! What a network says of new examples, in a file.

use super::files::npy_of;
use super::write_atomically;
use crate::Error;
use cleanest_core::Matrix;
use cleanest_data::{Dataset, Source};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::path::Path;
use std::sync::Arc;

/// Probabilities of the classes of some examples.
#[derive(Debug)]
pub struct Predictions<'a> {
    /// The examples.
    pub set: &'a Dataset,
    /// The names of the classes.
    pub classes: &'a [String],
    /// A row of probabilities for each example.
    pub probabilities: &'a Matrix,
}

impl Predictions<'_> {
    /// Writes `.npy` (the probabilities), `.csv` or `.parquet` (source, class, probability, and those of all classes).
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let bytes = match ending.as_deref() {
            Some("npy") => npy_of(self.probabilities),
            Some("csv") => self.csv(),
            Some("parquet") => self.parquet().map_err(|problem| Error::Write {
                path: path.to_owned(),
                source: std::io::Error::other(problem),
            })?,
            _ => return Err(Error::Predictions(path.to_owned())),
        };
        write_atomically(path, &bytes)
    }

    /// Where an example came from.
    fn source(&self, row: usize) -> String {
        match self.set.source(row) {
            Source::Row(row) => row.to_string(),
            Source::File(name) => name.to_owned(),
        }
    }

    /// The most probable class of an example.
    fn class(&self, row: usize) -> usize {
        let row = self.probabilities.row(row);
        (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
    }

    /// Source, class, probability, and those of all classes, as text.
    #[must_use]
    pub fn csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let names = self.classes.iter().map(|name| format!("p({name})"));
        let header = ["source", "class", "probability"].map(str::to_owned).into_iter().chain(names);
        let _ = writer.write_record(header);
        for (row, probabilities) in self.probabilities.iter_rows().enumerate() {
            let class = self.class(row);
            let first =
                [self.source(row), self.classes[class].clone(), (probabilities[class] as f32).to_string()];
            let _ = writer
                .write_record(first.into_iter().chain(probabilities.iter().map(|&p| (p as f32).to_string())));
        }
        writer.into_inner().unwrap_or_default()
    }

    fn parquet(&self) -> parquet::errors::Result<Vec<u8>> {
        let text = |name: &str| {
            let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
            column.with_repetition(Repetition::REQUIRED).with_logical_type(Some(LogicalType::String)).build()
        };
        let number = |name: &str| {
            Type::primitive_type_builder(name, Physical::FLOAT).with_repetition(Repetition::REQUIRED).build()
        };
        let mut columns = vec![text("source")?, text("class")?, number("probability")?];
        for name in self.classes {
            columns.push(number(&format!("p({name})"))?);
        }
        let columns = columns.into_iter().map(Arc::new).collect();
        let schema = Type::group_type_builder("predictions").with_fields(columns).build()?;
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(
            &mut bytes,
            Arc::new(schema),
            Arc::new(WriterProperties::builder().build()),
        )?;
        let rows = 0..self.probabilities.rows();
        let texts = [
            rows.clone().map(|row| ByteArray::from(self.source(row).into_bytes())).collect::<Vec<_>>(),
            rows.clone().map(|row| ByteArray::from(self.classes[self.class(row)].as_str())).collect(),
        ];
        let best =
            rows.clone().map(|row| self.probabilities.row(row)[self.class(row)] as f32).collect::<Vec<_>>();
        let each = (0..self.classes.len())
            .map(|class| self.probabilities.iter_rows().map(|row| row[class] as f32).collect::<Vec<_>>());
        let mut group = writer.next_row_group()?;
        for texts in &texts {
            if let Some(mut column) = group.next_column()? {
                column.typed::<ByteArrayType>().write_batch(texts, None, None)?;
                column.close()?;
            }
        }
        for numbers in std::iter::once(best).chain(each) {
            if let Some(mut column) = group.next_column()? {
                column.typed::<FloatType>().write_batch(&numbers, None, None)?;
                column.close()?;
            }
        }
        group.close()?;
        writer.close()?;
        Ok(bytes)
    }
}
