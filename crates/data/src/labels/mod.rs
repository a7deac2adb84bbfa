//! Labels: which class each example is said to belong to.

mod classes;
mod file;
mod raw;
mod write;

pub use classes::Classes;
pub use file::read;
pub(crate) use file::read_beside;
pub(crate) use raw::Raw;

use crate::dataset::Origin;
use crate::{Error, Options, Warning};
use std::path::Path;

/// A class for each example, as a number, and the names of the classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    indices: Vec<u32>,
    classes: Classes,
}

impl Labels {
    /// Labels whose numbers are all below the number of classes.
    ///
    /// # Panics
    /// If one is not: labels are checked where they are read.
    #[must_use]
    pub fn new(indices: Vec<u32>, classes: Classes) -> Self {
        let count = classes.len() as u32;
        assert!(indices.iter().all(|&index| index < count), "a label is one of the {count} classes");
        Self { indices, classes }
    }

    /// No labels, of the classes that were listed.
    pub(crate) fn absent(options: &Options) -> Result<Self, Error> {
        let classes = match &options.classes {
            Some(names) => Classes::new(names.clone())?,
            None => Classes::default(),
        };
        Ok(Self { indices: Vec::new(), classes })
    }

    /// The class of each example.
    #[must_use]
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The classes in the order of their numbers.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// How many examples each class has.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &index in &self.indices {
            counts[index as usize] += 1;
        }
        counts
    }

    /// The same labels with their classes numbered as a list has them, by name.
    pub(crate) fn listed_as(self, path: &Path, listed: Option<&[String]>) -> Result<Self, Error> {
        let Some(names) = listed.filter(|names| *names != self.classes.names()) else { return Ok(self) };
        let classes = Classes::new(names.to_vec())?;
        let places = classes.index();
        let place = |(row, &index): (usize, &u32)| {
            let found = &self.classes.names()[index as usize];
            places.get(found.as_str()).copied().ok_or_else(|| Error::UnknownClass {
                path: path.into(),
                row: row + 1,
                found: found.clone(),
                classes: names.to_vec(),
            })
        };
        let indices = self.indices.iter().enumerate().map(place).collect::<Result<_, _>>()?;
        Ok(Self::new(indices, classes))
    }

    /// The labels of some rows.
    pub(crate) fn select(&self, rows: &[u32]) -> Self {
        let indices = rows.iter().map(|&row| self.indices[row as usize]).collect();
        Self { indices, classes: self.classes.clone() }
    }

    /// The labels of the rows that were kept when a file was read.
    pub(crate) fn kept(self, origin: &Origin) -> Self {
        match origin {
            Origin::Rows(rows) => self.select(rows),
            Origin::InOrder | Origin::Files(_) => self,
        }
    }

    /// What is odd about the labels.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let counts = self.counts();
        if self.is_empty() {
            return Vec::new();
        }
        let named = |at: usize| self.classes.names()[at].clone();
        if let Some(at) = counts.iter().position(|&count| count == self.len()) {
            return vec![Warning::OneClass { class: named(at) }];
        }
        let odd = counts.iter().enumerate().filter_map(|(at, count)| match count {
            0 => Some(Warning::EmptyClass { class: named(at) }),
            1 => Some(Warning::SingleExample { class: named(at) }),
            _ => None,
        });
        odd.collect()
    }
}
