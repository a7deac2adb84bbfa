//! What a method has learnt, as named numbers that a checkpoint can hold.

use crate::{Error, Matrix};
use std::collections::BTreeMap;

/// Named lists of numbers, kept to the last bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The numbers, by name.
    pub values: BTreeMap<String, Vec<f64>>,
}

impl State {
    /// The same state with one more list of numbers.
    #[must_use]
    pub fn with(mut self, key: &str, values: &[f64]) -> Self {
        self.values.insert(key.to_owned(), values.to_vec());
        self
    }

    /// Whether there are numbers of this name.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// The numbers of this name, of which there must be `expected`.
    pub fn numbers(&self, key: &'static str, expected: usize) -> Result<&[f64], Error> {
        let values = self.values.get(key).ok_or(Error::StateMissing(key))?;
        if values.len() == expected {
            return Ok(values);
        }
        Err(Error::StateLength { key, expected, found: values.len() })
    }

    /// A K x K matrix of this name.
    pub fn square(&self, key: &'static str, classes: usize) -> Result<Matrix, Error> {
        Ok(Matrix::from_vec(classes, self.numbers(key, classes * classes)?.to_vec()))
    }
}
