//! The pieces of a table put together, and turned into examples.

use crate::dataset::Origin;
use crate::examples::Examples;
use crate::features::Feature;
use crate::labels::Raw;
use crate::storage::Floats;
use crate::table::codes::{Codes, MISSING};
use crate::table::{Piece, Schema, leaks};
use crate::{Dataset, Error, Labeling, Labels, Limits, Options, Warning};
use std::path::Path;

/// A table as far as it has been read.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) schema: Schema,
    pub(crate) numbers: Vec<f32>,
    pub(crate) categories: Vec<Codes>,
    pub(crate) labels: Codes,
    pub(crate) seen: usize,
    dropped: Vec<u32>,
    filled: usize,
    /// Different texts a category may have; none where they are not encoded.
    most_categories: Option<usize>,
}

impl Assembly {
    /// No rows yet; room is kept for about `expected` of them.
    pub(crate) fn new(schema: Schema, expected: usize, most_categories: Option<usize>) -> Self {
        Self {
            numbers: Vec::with_capacity(expected.saturating_mul(schema.numbers)),
            categories: vec![Codes::default(); schema.categories],
            labels: Codes::default(),
            seen: 0,
            dropped: Vec::new(),
            filled: 0,
            most_categories,
            schema,
        }
    }

    /// Appends the rows of a piece.
    pub(crate) fn append(&mut self, piece: &Piece, path: &Path, limits: &Limits) -> Result<(), Error> {
        self.dropped.extend(piece.dropped.iter().map(|row| row + self.seen as u32));
        self.seen += piece.seen;
        self.filled += piece.filled;
        if self.seen > limits.rows {
            return Err(Error::TooManyRows { path: path.into(), limit: limits.rows });
        }
        self.numbers.extend_from_slice(&piece.numbers);
        self.labels.append(&piece.labels);
        for (place, (all, some)) in self.categories.iter_mut().zip(&piece.categories).enumerate() {
            all.append(some);
            if let Some(limit) = self.most_categories.filter(|&limit| all.values.len() > limit) {
                let column = self.schema.category_name(place).to_owned();
                return Err(Error::Categories { path: path.into(), column, limit });
            }
        }
        let held = (self.numbers.len() * size_of::<f32>()) as u64;
        if held > limits.memory {
            return Err(Error::Memory { path: path.into(), needed: held, limit: limits.memory });
        }
        Ok(())
    }

    /// How many rows were kept.
    pub(crate) fn rows(&self) -> usize {
        self.seen - self.dropped.len()
    }

    /// Rows of the file that were kept, if not all were.
    fn origin(&self) -> Origin {
        if self.dropped.is_empty() {
            return Origin::InOrder;
        }
        let mut dropped = self.dropped.iter().peekable();
        Origin::Rows((0..self.seen as u32).filter(|row| dropped.next_if_eq(&row).is_none()).collect())
    }

    /// The examples and their labels.
    pub(crate) fn dataset(
        mut self,
        format: &'static str,
        path: &Path,
        options: &Options,
    ) -> Result<Dataset, Error> {
        if self.rows() == 0 {
            return Err(Error::Empty { path: path.into() });
        }
        let origin = self.origin();
        let labels = match (&options.labels, options.labeling) {
            (_, Labeling::Absent) => Labels::absent(options)?,
            (Some(file), _) => crate::labels::read_beside(file, self.seen, options)?.kept(&origin),
            _ => Raw::texts(std::mem::take(&mut self.labels)).resolve(path, options.classes.as_deref())?,
        };
        let mut warnings = std::mem::take(&mut self.schema.warnings);
        if !self.dropped.is_empty() {
            warnings.push(Warning::Dropped { count: self.dropped.len() });
        }
        if self.filled > 0 {
            warnings.push(Warning::Filled { count: self.filled });
        }
        if options.features.is_none() {
            let row = |at: usize| if let Origin::Rows(rows) = &origin { rows[at] } else { at as u32 };
            let (counts, found) = leaks::numbered(&self.schema, &self.numbers, row);
            self.leave_out(&counts);
            warnings.extend(found);
            let columns = (&self.numbers[..], &self.categories[..]);
            warnings.extend(leaks::telling(&self.schema, columns, labels.indices()));
        }
        let Encoded { features, width, values, unseen } = self.encode(options);
        warnings.extend(unseen);
        let examples = Examples::rows(width, Floats::Owned(values));
        let set = Dataset::new(format, examples, labels).with_origin(origin);
        Ok(set.with_features(features).with_warnings(warnings))
    }

    /// Forgets some columns of numbers.
    fn leave_out(&mut self, places: &[usize]) {
        if !places.is_empty() {
            let mut columns = (0..self.schema.numbers).cycle();
            self.numbers.retain(|_| columns.next().is_some_and(|place| !places.contains(&place)));
            self.schema.leave_out(places);
        }
    }

    /// The features in the order of their columns, or of the training set, and the rows they make.
    fn encode(mut self, options: &Options) -> Encoded {
        let rows = self.rows();
        let columns: Vec<Codes> =
            std::mem::take(&mut self.categories).into_iter().map(Codes::sorted).collect();
        let features = options.features.clone().unwrap_or_else(|| {
            self.schema.features(columns.iter().map(|column| column.values.clone()).collect())
        });
        let width = features.iter().map(Feature::width).sum();
        if columns.is_empty() {
            return Encoded { features, width, values: self.numbers, unseen: Vec::new() };
        }
        let (mut values, mut unseen) = (vec![0.0; rows * width], Vec::new());
        let (mut place, mut number, mut category) = (0, 0, 0);
        for feature in &features {
            match feature {
                Feature::Number { .. } => {
                    copy_number(&self.numbers, (number, self.schema.numbers), &mut values, (place, width));
                    number += 1;
                }
                Feature::Category { values: texts, name } => {
                    let (count, example) = one_hot(&columns[category], texts, &mut values, (place, width));
                    unseen.extend(example.map(|example| Warning::Unseen {
                        column: name.clone(),
                        count,
                        example,
                    }));
                    category += 1;
                }
            }
            place += feature.width();
        }
        Encoded { features, width, values, unseen }
    }
}

/// Rows as a network sees them.
struct Encoded {
    features: Vec<Feature>,
    width: usize,
    values: Vec<f32>,
    /// Texts that the features do not have.
    unseen: Vec<Warning>,
}

/// Copies one column from rows of one width into rows of another.
fn copy_number(from: &[f32], (column, step): (usize, usize), to: &mut [f32], (place, width): (usize, usize)) {
    let numbers = from.iter().skip(column).step_by(step.max(1));
    for (row, number) in to.chunks_exact_mut(width).zip(numbers) {
        row[place] = *number;
    }
}

/// Sets the number of each row's text to 1, and all of them to NaN where the text is missing. A text that the
/// training set did not have leaves them all at 0: how many those are, and one of them.
fn one_hot(
    column: &Codes,
    texts: &[String],
    to: &mut [f32],
    (place, width): (usize, usize),
) -> (usize, Option<String>) {
    let known: Vec<Option<usize>> =
        column.values.iter().map(|text| texts.iter().position(|known| known == text)).collect();
    let (mut unseen, mut example) = (0, None);
    for (row, &code) in to.chunks_exact_mut(width).zip(&column.rows) {
        if code == MISSING {
            row[place..place + texts.len()].fill(f32::NAN);
        } else if let Some(at) = known[code as usize] {
            row[place + at] = 1.0;
        } else {
            unseen += 1;
            example.get_or_insert(code);
        }
    }
    (unseen, example.map(|code| column.values[code as usize].clone()))
}
