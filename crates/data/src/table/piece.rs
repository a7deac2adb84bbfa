//! Some rows of a table as one worker reads them.

use crate::Missing;
use crate::table::fault::What;
use crate::table::{Codes, Schema};

/// Rows that were read together: numbers row by row, texts column by column.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) numbers: Vec<f32>,
    pub(crate) categories: Vec<Codes>,
    pub(crate) labels: Codes,
    /// Rows read, those that were dropped included.
    pub(crate) seen: usize,
    /// Which of them were dropped.
    pub(crate) dropped: Vec<u32>,
    /// Values that are missing and stay so until the mean of their column is known.
    pub(crate) filled: usize,
    width: usize,
    policy: Missing,
    /// Whether the row being written has a gap for which it is to be dropped.
    gap: bool,
}

impl Piece {
    /// No rows yet.
    pub(crate) fn new(schema: &Schema, policy: Missing) -> Self {
        Self {
            numbers: Vec::new(),
            categories: vec![Codes::default(); schema.categories],
            labels: Codes::default(),
            seen: 0,
            dropped: Vec::new(),
            filled: 0,
            width: schema.numbers,
            policy,
            gap: false,
        }
    }

    /// So many rows at once, to be set by columns; none of them has a gap.
    pub(crate) fn fill(&mut self, rows: usize) {
        self.numbers.resize(self.numbers.len() + rows * self.width, f32::NAN);
        self.seen += rows;
    }

    /// Sets a number of the last rows, as many as there are values.
    pub(crate) fn set_column(&mut self, place: usize, values: &[f32]) {
        let first = self.numbers.len() - values.len() * self.width;
        for (row, value) in self.numbers[first..].chunks_exact_mut(self.width).zip(values) {
            row[place] = *value;
        }
    }

    /// Begins a row, whose numbers are missing until they are set; gives where they stand.
    pub(crate) fn begin(&mut self) -> usize {
        let base = self.numbers.len();
        self.numbers.resize(base + self.width, f32::NAN);
        base
    }

    /// Ends the row, and takes it back if it is to be dropped.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.gap) {
            self.numbers.truncate(self.numbers.len() - self.width);
            let kept = self.seen - self.dropped.len();
            self.categories.iter_mut().for_each(|column| column.rows.truncate(kept));
            self.labels.rows.truncate(kept);
            self.dropped.push(self.seen as u32);
        }
        self.seen += 1;
    }

    /// Notes that the number of this column is missing.
    pub(crate) fn missing_number(&mut self, column: usize) -> Result<(), What> {
        match self.policy {
            Missing::Error => return Err(What::Missing(column)),
            Missing::Drop => self.gap = true,
            Missing::Mean => self.filled += 1,
        }
        Ok(())
    }

    /// Sets a text of the row.
    pub(crate) fn category(&mut self, place: usize, column: usize, text: &[u8]) -> Result<(), What> {
        if text.is_empty() || super::number::is_missing(text) {
            self.missing_number(column)?;
            self.categories[place].push_missing();
            return Ok(());
        }
        self.categories[place].push(text).ok_or(What::Utf8(column))
    }

    /// Sets the label of the row.
    pub(crate) fn label(&mut self, column: usize, text: &[u8]) -> Result<(), What> {
        if text.is_empty() {
            return self.missing_label();
        }
        self.labels.push(text).ok_or(What::Utf8(column))
    }

    /// A row without a label is of use to nobody: it is dropped where rows may be, and an error elsewhere.
    pub(crate) fn missing_label(&mut self) -> Result<(), What> {
        if self.policy != Missing::Drop {
            return Err(What::EmptyLabel);
        }
        self.gap = true;
        self.labels.push_missing();
        Ok(())
    }
}
