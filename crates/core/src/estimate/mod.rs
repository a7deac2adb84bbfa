//! The transition matrix from the posteriors of a classifier that was trained on the noisy labels.

mod anchors;
mod confusion;

pub use anchors::{Anchors, anchors};
pub use confusion::{Order, confusion, dual_t, frequencies, soft_confusion};

use crate::{Error, Matrix};

/// What a classifier says of each training example, beside the label the example has.
#[derive(Clone, Copy, Debug)]
pub struct Posteriors<'a> {
    /// A row of probabilities for each example.
    pub probabilities: &'a Matrix,
    /// The noisy label of each example.
    pub labels: &'a [u32],
}

impl<'a> Posteriors<'a> {
    /// Checks that there is a label for each row, and that each is a class.
    pub fn new(probabilities: &'a Matrix, labels: &'a [u32]) -> Result<Self, Error> {
        let (examples, classes) = (probabilities.rows(), probabilities.columns());
        if examples != labels.len() || examples == 0 {
            return Err(Error::Length { labels: labels.len(), examples });
        }
        if let Some(row) = labels.iter().position(|&label| label as usize >= classes) {
            return Err(Error::Label { row, label: labels[row], classes });
        }
        Ok(Self { probabilities, labels })
    }

    /// The number K of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.probabilities.columns()
    }
}
