//! The labels that go with a table of probabilities.

use crate::examples::map;
use crate::formats::has_extension;
use crate::numbers::Array;
use crate::storage::Bytes;
use crate::{Classes, Error, Options, labels};
use cleanest_core::npy::{Element, Header};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Labels of known classes, read a part at a time where their file allows it.
#[derive(Debug)]
pub struct GivenLabels {
    path: PathBuf,
    rows: usize,
    classes: usize,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Held(Vec<u32>),
    /// Whole numbers that are the classes.
    Mapped(Header, Bytes),
}

impl GivenLabels {
    /// Opens a file of labels for `rows` examples of these classes. A whole number is the place of a class, unless the
    /// classes are numbers themselves; anything else is the name of one.
    pub fn open(path: &Path, rows: usize, classes: &Classes, options: &Options) -> Result<Self, Error> {
        let numbered = *classes == Classes::numbered(classes.len());
        let place = if let Some(mapped) = integers(path).filter(|_| numbered) {
            mapped
        } else {
            let options = Options { classes: Some(classes.names().to_vec()), ..options.clone() };
            Place::Held(labels::read(path, &options)?.indices().to_vec())
        };
        let found = match &place {
            Place::Held(labels) => labels.len(),
            Place::Mapped(header, _) => header.shape[0],
        };
        if found != rows {
            return Err(Error::LabelCount { path: path.into(), expected: rows, found });
        }
        Ok(Self { path: path.into(), rows, classes: classes.len(), place })
    }

    /// How many there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The labels of some rows, written over `labels`.
    pub fn read(&self, part: &Range<usize>, labels: &mut Vec<u32>) -> Result<(), Error> {
        labels.clear();
        match &self.place {
            Place::Held(held) => labels.extend_from_slice(&held[part.clone()]),
            Place::Mapped(header, bytes) => {
                let size = header.element.size();
                let bytes = &bytes[part.start * size..part.end * size];
                self.decode(header, bytes, labels);
                // One comparison for all of them; which one it was is looked for only if there is one.
                let classes = self.classes as u32;
                if labels.iter().filter(|&&label| label >= classes).count() > 0 {
                    return Err(self.stranger(header, bytes, part.start));
                }
            }
        }
        Ok(())
    }

    /// What is not a class becomes the largest number there is.
    fn decode(&self, header: &Header, bytes: &[u8], labels: &mut Vec<u32>) {
        let class = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        match header.element {
            Element::I64 if !header.big_endian => {
                // Both halves at once: what has anything in the upper one is too large, or negative.
                let class = |bytes: &[u8; 8]| {
                    let number = u64::from_le_bytes(*bytes);
                    number as u32 | if number >> 32 == 0 { 0 } else { u32::MAX }
                };
                labels.extend(bytes.as_chunks::<8>().0.iter().map(class));
            }
            Element::I32 if !header.big_endian => {
                labels.extend(
                    bytes.as_chunks::<4>().0.iter().map(|bytes| class(i32::from_le_bytes(*bytes).into())),
                );
            }
            _ => {
                let array = Array { path: &self.path, header };
                labels.extend(array.integers(bytes).map(|number| number.map_or(u32::MAX, class)));
            }
        }
    }

    /// The first label that is not a class.
    fn stranger(&self, header: &Header, bytes: &[u8], first: usize) -> Error {
        let array = Array { path: &self.path, header };
        let mut numbers = array.integers(bytes).enumerate();
        let wrong = numbers.find_map(|(at, number)| match number {
            Ok(found) if (0..self.classes as i64).contains(&found) => None,
            Ok(found) => {
                let (path, row) = (self.path.clone(), first + at + 1);
                Some(Error::LabelRange { path, row, found, classes: self.classes })
            }
            Err(Error::FractionalLabel { path, row, found }) => {
                Some(Error::FractionalLabel { path, row: first + row, found })
            }
            Err(other) => Some(other),
        });
        wrong.unwrap_or(Error::Empty { path: self.path.clone() })
    }
}

/// An npy file of one dimension, mapped; none if it is anything else, or broken, which is said where it is read whole.
fn integers(path: &Path) -> Option<Place> {
    let length = crate::source::length(path).ok()? as usize;
    if length == 0 || !has_extension(path, &["npy"]) {
        return None;
    }
    let file = map(path, 0..length).ok()?;
    let header = Header::parse(&file).ok()?;
    header.data(&file).ok()?;
    let start = header.start;
    (header.shape.len() == 1).then(|| Place::Mapped(header, file.after(start)))
}
