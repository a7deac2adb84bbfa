//! The classes of a set, in a stable order.

use crate::Error;
use serde::Serialize;
use std::collections::HashMap;

/// The names of the classes; a class is its place in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Classes {
    names: Vec<String>,
}

impl Classes {
    /// Classes with these names, in this order, each once.
    pub fn new(names: Vec<String>) -> Result<Self, Error> {
        if names.is_empty() {
            return Err(Error::NoClasses);
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::DuplicateClass(pair[0].clone()));
        }
        Ok(Self { names })
    }

    /// Classes called 0, 1, 2 and so on.
    #[must_use]
    pub fn numbered(count: usize) -> Self {
        Self { names: (0..count).map(|number| number.to_string()).collect() }
    }

    /// Classes whose names are known to differ.
    pub(crate) fn distinct(names: Vec<String>) -> Self {
        Self { names }
    }

    /// The names in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many classes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of each name.
    pub(crate) fn index(&self) -> HashMap<&str, u32> {
        self.names.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect()
    }

    /// The names as whole numbers, if they all are.
    pub(crate) fn integers(&self) -> Option<Vec<i64>> {
        self.names.iter().map(|name| integer(name)).collect()
    }
}

/// The whole number that a text is, written plainly; `3.0` counts, as tables of floats write it.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let text = text.strip_suffix(".0").unwrap_or(text);
    text.parse::<i64>().ok().filter(|value| value.to_string() == text)
}
