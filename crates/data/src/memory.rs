//! Sets that another program hands over in memory.

use crate::examples::Examples;
use crate::labels::{Classes, Labels};
use crate::storage::{Bytes, Floats};
use crate::{Dataset, Error};
use std::path::Path;

/// What messages call a set that has no file.
const NAME: &str = Dataset::IN_MEMORY;

impl Dataset {
    /// What stands in place of a path where a set was handed over in memory.
    pub const IN_MEMORY: &str = "array";

    /// Rows of numbers, one after the other; a number that is not finite is refused with its place.
    pub fn from_rows(width: usize, values: Vec<f32>, labels: Option<Labels>) -> Result<Self, Error> {
        if width == 0 || values.is_empty() {
            return Err(Error::Empty { path: NAME.into() });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (at / width + 1, (at % width + 1).to_string());
            return Err(Error::NotFinite { path: NAME.into(), row, column, found: values[at].to_string() });
        }
        of(Examples::rows(width, Floats::Owned(values)), labels)
    }

    /// Images of height, width and channels, one after the other: row by row, the channels of a pixel side by side.
    pub fn from_images(shape: [usize; 3], pixels: Vec<u8>, labels: Option<Labels>) -> Result<Self, Error> {
        if pixels.is_empty() || shape.contains(&0) {
            return Err(Error::Empty { path: NAME.into() });
        }
        of(Examples::images(shape, Bytes::Owned(pixels)), labels)
    }
}

fn of(examples: Examples, labels: Option<Labels>) -> Result<Dataset, Error> {
    let labels = labels.unwrap_or_else(|| Labels::new(Vec::new(), Classes::default()));
    if !labels.is_empty() && labels.len() != examples.len() {
        let (expected, found) = (examples.len(), labels.len());
        return Err(Error::LabelCount { path: Path::new(NAME).into(), expected, found });
    }
    Ok(Dataset::new(NAME, examples, labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_become_a_set_and_broken_ones_are_refused_with_their_place() {
        let labels = || Some(Labels::new(vec![0, 1], Classes::numbered(2)));
        let set = Dataset::from_rows(2, vec![1.0, 2.0, 3.0, 4.0], labels()).unwrap();
        assert_eq!((set.len(), set.example(1)), (2, crate::Example::Row(&[3.0, 4.0])));
        let said = |values: Vec<f32>| Dataset::from_rows(2, values, labels()).unwrap_err().to_string();
        assert!(said(vec![1.0, f32::NAN, 3.0, 4.0]).contains("row 1, column `2`"));
        assert!(said(vec![1.0; 6]).contains("2 labels for 3 examples"));
        assert!(Dataset::from_images([2, 2, 1], vec![7; 8], labels()).is_ok());
        assert!(Dataset::from_images([2, 0, 1], vec![], None).is_err());
    }
}
