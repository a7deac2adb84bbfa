//! What is learnt from: images of bytes, or rows of numbers.

use crate::Error;
use crate::mapped::Mapped;
use crate::storage::{Bytes, Floats};
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// The examples of a set, all of one shape.
#[derive(Debug)]
pub enum Examples {
    /// Pixels in 0 to 255.
    Images(Images),
    /// Numbers that are finite, or NaN where one is missing and stands at the mean.
    Rows(Rows),
}

/// One example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Example<'a> {
    /// Its pixels: row by row, the channels of a pixel side by side.
    Image(&'a [u8]),
    /// Its numbers.
    Row(&'a [f32]),
}

/// The shape of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An image.
    #[allow(missing_docs)]
    Image { height: usize, width: usize, channels: usize },
    /// So many numbers.
    Row(usize),
}

impl Shape {
    /// How many numbers one example has.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Image { height, width, channels } => height * width * channels,
            Self::Row(width) => width,
        }
    }

    /// Channels of an image, numbers of a row: what has a mean and a deviation of its own.
    #[must_use]
    pub fn channels(self) -> usize {
        match self {
            Self::Image { channels, .. } => channels,
            Self::Row(width) => width,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image { height, width, channels } => write!(f, "{height} x {width} x {channels} pixels"),
            Self::Row(width) => write!(f, "{width} numbers"),
        }
    }
}

/// Images side by side.
#[derive(Debug)]
pub struct Images {
    shape: Shape,
    pixels: Bytes,
}

/// Rows of numbers, one after the other.
#[derive(Debug)]
pub struct Rows {
    width: usize,
    values: Floats,
}

impl Examples {
    /// Images of one shape; `pixels` is a whole number of them.
    pub(crate) fn images([height, width, channels]: [usize; 3], pixels: Bytes) -> Self {
        Self::Images(Images { shape: Shape::Image { height, width, channels }, pixels })
    }

    /// Rows of one width; `values` is a whole number of them.
    pub(crate) fn rows(width: usize, values: Floats) -> Self {
        Self::Rows(Rows { width, values })
    }

    /// The shape of every example.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Images(images) => images.shape,
            Self::Rows(rows) => Shape::Row(rows.width),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let numbers = match self {
            Self::Images(images) => images.pixels.len(),
            Self::Rows(rows) => rows.values.len(),
        };
        numbers / self.shape().size().max(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The example at `index`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn at(&self, index: usize) -> Example<'_> {
        let size = self.shape().size();
        match self {
            Self::Images(images) => Example::Image(&images.pixels[index * size..][..size]),
            Self::Rows(rows) => Example::Row(&rows.values[index * size..][..size]),
        }
    }

    /// All pixels one after the other, if these are images.
    #[must_use]
    pub fn pixels(&self) -> Option<&[u8]> {
        match self {
            Self::Images(images) => Some(&images.pixels),
            Self::Rows(_) => None,
        }
    }

    /// All numbers row after row, if these are rows.
    #[must_use]
    pub fn values(&self) -> Option<&[f32]> {
        match self {
            Self::Images(_) => None,
            Self::Rows(rows) => Some(&rows.values),
        }
    }
}

/// The range of a file as memory.
pub(crate) fn map(path: &Path, range: Range<usize>) -> Result<Bytes, Error> {
    let file = crate::source::open(path)?;
    let mapped = Mapped::new(&file).map_err(|source| Error::io(path, source))?;
    let found = mapped.len() as u64;
    if mapped.len() < range.end {
        return Err(Error::Truncated {
            path: path.into(),
            what: "examples",
            expected: range.end as u64,
            found,
        });
    }
    Ok(Bytes::Mapped(mapped, range))
}
