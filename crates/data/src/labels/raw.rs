//! Labels as a file holds them, before classes have numbers.

use crate::Error;
use crate::labels::classes::integer;
use crate::labels::{Classes, Labels};
use crate::table::Codes;
use std::collections::HashMap;
use std::path::Path;

/// Which of the different labels each row has.
#[derive(Debug)]
pub(crate) struct Raw {
    rows: Vec<u32>,
    values: Values,
}

/// The different labels, each once.
#[derive(Debug)]
enum Values {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Raw {
    /// Labels that are whole numbers.
    pub(crate) fn integers<E>(numbers: impl Iterator<Item = Result<i64, E>>) -> Result<Self, E> {
        let (mut values, mut index) = (Vec::new(), HashMap::new());
        let mut code = |number: i64| {
            *index.entry(number).or_insert_with(|| {
                values.push(number);
                values.len() as u32 - 1
            })
        };
        let rows = numbers.map(|number| number.map(&mut code)).collect::<Result<_, E>>()?;
        Ok(Self { rows, values: Values::Integers(values) })
    }

    /// Texts; those that all are whole numbers count as such, so that 10 comes after 9.
    pub(crate) fn texts(codes: Codes) -> Self {
        let numbers: Option<Vec<i64>> = codes.values.iter().map(|text| integer(text)).collect();
        let values = numbers.map_or(Values::Texts(codes.values), Values::Integers);
        Self { rows: codes.rows, values }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Numbers the classes: as listed, or else whole numbers by size and texts by the alphabet.
    ///
    /// Where classes are listed, a whole number is a place in the list, unless the listed names are numbers.
    pub(crate) fn resolve(mut self, path: &Path, listed: Option<&[String]>) -> Result<Labels, Error> {
        let (classes, places) = match listed {
            Some(names) => {
                let classes = Classes::new(names.to_vec())?;
                let places = self.values.places_in(&classes);
                (classes, places)
            }
            None => self.values.ranked(),
        };
        for at in 0..self.rows.len() {
            let code = self.rows[at] as usize;
            self.rows[at] = places[code].ok_or_else(|| self.values.unknown(path, at + 1, code, &classes))?;
        }
        Ok(Labels::new(self.rows, classes))
    }
}

impl Values {
    /// The classes these are, in their order, and the place of each value.
    fn ranked(&self) -> (Classes, Vec<Option<u32>>) {
        fn rank<T: Ord>(values: &[T]) -> (Vec<usize>, Vec<Option<u32>>) {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[a].cmp(&values[b]));
            // Texts such as 1 and 1.0 are one number.
            let mut places = vec![None; values.len()];
            let mut distinct: Vec<usize> = Vec::new();
            for at in order {
                if distinct.last().is_none_or(|&last| values[last] != values[at]) {
                    distinct.push(at);
                }
                places[at] = Some(distinct.len() as u32 - 1);
            }
            (distinct, places)
        }
        match self {
            Self::Integers(values) => {
                let (distinct, places) = rank(values);
                (Classes::distinct(distinct.iter().map(|&at| values[at].to_string()).collect()), places)
            }
            Self::Texts(values) => {
                let (distinct, places) = rank(values);
                (Classes::distinct(distinct.iter().map(|&at| values[at].clone()).collect()), places)
            }
        }
    }

    /// The place of each value among the classes that were listed.
    fn places_in(&self, classes: &Classes) -> Vec<Option<u32>> {
        let count = classes.len() as u32;
        match (self, classes.integers()) {
            (Self::Texts(values), _) => {
                let index = classes.index();
                values.iter().map(|text| index.get(text.as_str()).copied()).collect()
            }
            (Self::Integers(values), Some(names)) => {
                let place = |value: &i64| names.iter().position(|name| name == value).map(|at| at as u32);
                values.iter().map(place).collect()
            }
            (Self::Integers(values), None) => {
                values.iter().map(|&value| u32::try_from(value).ok().filter(|&index| index < count)).collect()
            }
        }
    }

    fn unknown(&self, path: &Path, row: usize, code: usize, classes: &Classes) -> Error {
        let path = path.to_path_buf();
        match self {
            Self::Integers(values) if classes.integers().is_none() => {
                Error::LabelRange { path, row, found: values[code], classes: classes.len() }
            }
            Self::Integers(values) => Error::UnknownClass {
                path,
                row,
                found: values[code].to_string(),
                classes: classes.names().to_vec(),
            },
            Self::Texts(values) => {
                let found = crate::table::shown(values[code].as_bytes());
                Error::UnknownClass { path, row, found, classes: classes.names().to_vec() }
            }
        }
    }
}
