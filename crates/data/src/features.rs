//! What each number of a row means.

use serde::{Deserialize, Serialize};

/// A column of a table as a network sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// One number.
    Number {
        /// The column.
        name: String,
    },
    /// A number for each text the column can hold: 1 for the one it holds, 0 for the others.
    Category {
        /// The column.
        name: String,
        /// The texts, in the order of their numbers.
        values: Vec<String>,
    },
}

impl Feature {
    /// The column it comes from.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Number { name } | Self::Category { name, .. } => name,
        }
    }

    /// How many numbers of a row it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Category { values, .. } => values.len(),
        }
    }
}
