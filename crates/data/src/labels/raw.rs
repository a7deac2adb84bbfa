//! Labels as a file holds them, before classes have numbers.

use crate::Error;
use crate::labels::classes::integer;
use crate::labels::{Classes, Labels};
use crate::table::Codes;
use std::path::Path;

/// Whole numbers or texts, one a row.
#[derive(Debug)]
pub(crate) enum Raw {
    Integers(Vec<i64>),
    Texts(Codes),
}

impl Raw {
    /// Texts that all are whole numbers count as such, so that 10 comes after 9.
    pub(crate) fn texts(codes: Codes) -> Self {
        let numbers: Option<Vec<i64>> = codes.values.iter().map(|text| integer(text)).collect();
        match numbers {
            Some(numbers) => Self::Integers(codes.rows.iter().map(|&code| numbers[code as usize]).collect()),
            None => Self::Texts(codes),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Texts(codes) => codes.rows.len(),
        }
    }

    /// Numbers the classes: as listed, or else whole numbers by size and texts by the alphabet.
    ///
    /// Where classes are listed, a whole number is a place in the list, unless the listed names are numbers.
    pub(crate) fn resolve(self, path: &Path, listed: Option<&[String]>) -> Result<Labels, Error> {
        let listed = listed.map(|names| Classes::new(names.to_vec())).transpose()?;
        match (self, listed) {
            (Self::Integers(values), Some(classes)) => integers_of(path, &values, classes),
            (Self::Integers(values), None) => Ok(integers(&values)),
            (Self::Texts(codes), Some(classes)) => texts_of(path, &codes, classes),
            (Self::Texts(codes), None) => {
                let codes = codes.sorted();
                Ok(Labels::new(codes.rows, Classes::new(codes.values)?))
            }
        }
    }
}

fn integers(values: &[i64]) -> Labels {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |value: &i64| distinct.binary_search(value).unwrap_or(0) as u32;
    let indices = values.iter().map(place).collect();
    Labels::new(indices, Classes::of(&distinct))
}

fn integers_of(path: &Path, values: &[i64], classes: Classes) -> Result<Labels, Error> {
    let count = classes.len();
    let names = classes.integers();
    let place = |(row, &found): (usize, &i64)| match &names {
        Some(names) => names
            .iter()
            .position(|&name| name == found)
            .map(|at| at as u32)
            .ok_or_else(|| unknown(path, row, &found.to_string(), &classes)),
        None => u32::try_from(found)
            .ok()
            .filter(|&index| (index as usize) < count)
            .ok_or_else(|| Error::LabelRange { path: path.into(), row: row + 1, found, classes: count }),
    };
    let indices = values.iter().enumerate().map(place).collect::<Result<_, _>>()?;
    Ok(Labels::new(indices, classes))
}

fn texts_of(path: &Path, codes: &Codes, classes: Classes) -> Result<Labels, Error> {
    let index = classes.index();
    let known: Vec<Option<u32>> = codes.values.iter().map(|text| index.get(text.as_str()).copied()).collect();
    let place = |(row, &code): (usize, &u32)| {
        let text = &codes.values[code as usize];
        known[code as usize].ok_or_else(|| unknown(path, row, text, &classes))
    };
    let indices = codes.rows.iter().enumerate().map(place).collect::<Result<_, _>>()?;
    Ok(Labels::new(indices, classes))
}

fn unknown(path: &Path, row: usize, found: &str, classes: &Classes) -> Error {
    let found = crate::table::shown(found.as_bytes());
    Error::UnknownClass { path: path.into(), row: row + 1, found, classes: classes.names().to_vec() }
}
