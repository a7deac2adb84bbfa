//! Probabilities and labels as they are handed over: arrays that are not copied, or columns of Arrow.

use crate::arrow;
use crate::errors::wrong;
use arrow_buffer::ScalarBuffer;
use cleanest::audit::{Floats, Integers, Pieces};
use numpy::{PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

/// Rows of probabilities.
pub(crate) struct Probabilities<'py> {
    pub(crate) classes: usize,
    pub(crate) pieces: Vec<Rows<'py>>,
}

/// Whole rows, one after the other.
pub(crate) enum Rows<'py> {
    Array32(PyReadonlyArray2<'py, f32>),
    Array64(PyReadonlyArray2<'py, f64>),
    Arrow32(ScalarBuffer<f32>),
    Arrow64(ScalarBuffer<f64>),
}

/// Labels, or numbers of rows.
pub(crate) struct Labels<'py> {
    pub(crate) pieces: Vec<Whole<'py>>,
}

/// Whole numbers, one after the other.
pub(crate) enum Whole<'py> {
    U32(PyReadonlyArray1<'py, u32>),
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
    Arrow32(ScalarBuffer<i32>),
    Arrow64(ScalarBuffer<i64>),
}

impl<'py> Probabilities<'py> {
    /// From an array of two dimensions (C order, aligned, of this machine's float32 or float64), or from Arrow.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let (shape, piece) = if let Ok(array) = object.cast::<numpy::PyArray2<f32>>() {
            (array.shape().to_vec(), Rows::Array32(array.readonly()))
        } else if let Ok(array) = object.cast::<numpy::PyArray2<f64>>() {
            (array.shape().to_vec(), Rows::Array64(array.readonly()))
        } else if let Ok(array) = object.cast::<numpy::PyUntypedArray>() {
            let (shape, dtype) = (array.shape(), array.dtype());
            return Err(wrong(format!(
                "`pred_probs` must be an array of floats of shape (N, K), this one is {dtype} of shape {shape:?}"
            )));
        } else {
            return arrow::probabilities(object);
        };
        if shape[1] == 0 {
            return Err(wrong("`pred_probs` has no columns: there must be one for each class"));
        }
        Ok(Self { classes: shape[1], pieces: vec![piece] })
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len() / self.classes).sum()
    }

    /// The numbers, where they lie.
    pub(crate) fn floats(&self) -> PyResult<Vec<Floats<'_>>> {
        self.pieces.iter().map(Rows::floats).collect()
    }
}

impl Rows<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Array32(array) => array.len(),
            Self::Array64(array) => array.len(),
            Self::Arrow32(buffer) => buffer.len(),
            Self::Arrow64(buffer) => buffer.len(),
        }
    }

    fn floats(&self) -> PyResult<Floats<'_>> {
        Ok(match self {
            Self::Array32(array) => Floats::F32(array.as_slice()?),
            Self::Array64(array) => Floats::F64(array.as_slice()?),
            Self::Arrow32(buffer) => Floats::F32(buffer),
            Self::Arrow64(buffer) => Floats::F64(buffer),
        })
    }
}

impl Whole<'_> {
    fn integers(&self) -> PyResult<Integers<'_>> {
        Ok(match self {
            Self::U32(array) => Integers::U32(array.as_slice()?),
            Self::I32(array) => Integers::I32(array.as_slice()?),
            Self::I64(array) => Integers::I64(array.as_slice()?),
            Self::Arrow32(buffer) => Integers::I32(buffer),
            Self::Arrow64(buffer) => Integers::I64(buffer),
        })
    }
}

impl<'py> Labels<'py> {
    /// From an array of one dimension (contiguous, aligned, of this machine's int64, int32 or uint32), or from Arrow.
    pub(crate) fn of(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        let piece = if let Ok(array) = object.cast::<numpy::PyArray1<i64>>() {
            Whole::I64(array.readonly())
        } else if let Ok(array) = object.cast::<numpy::PyArray1<i32>>() {
            Whole::I32(array.readonly())
        } else if let Ok(array) = object.cast::<numpy::PyArray1<u32>>() {
            Whole::U32(array.readonly())
        } else if let Ok(array) = object.cast::<numpy::PyUntypedArray>() {
            let (shape, dtype) = (array.shape(), array.dtype());
            return Err(wrong(format!(
                "`{name}` must be whole numbers in one dimension, these are {dtype} of shape {shape:?}"
            )));
        } else {
            return arrow::labels(object, name);
        };
        Ok(Self { pieces: vec![piece] })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> PyResult<usize> {
        Ok(self.integers()?.iter().map(Integers::len).sum())
    }

    /// The numbers, where they lie.
    pub(crate) fn integers(&self) -> PyResult<Vec<Integers<'_>>> {
        self.pieces.iter().map(Whole::integers).collect()
    }

    /// The labels as a copy, each below `classes`.
    pub(crate) fn classes(&self, classes: usize) -> PyResult<Vec<u32>> {
        let integers = self.integers()?;
        checked(&integers, classes)?;
        let mut labels = Vec::with_capacity(self.len()?);
        for piece in integers {
            match piece {
                Integers::U32(numbers) => labels.extend_from_slice(numbers),
                Integers::I32(numbers) => labels.extend(numbers.iter().map(|&number| number as u32)),
                Integers::I64(numbers) => labels.extend(numbers.iter().map(|&number| number as u32)),
            }
        }
        Ok(labels)
    }

    /// The numbers as a copy, none of them negative.
    pub(crate) fn numbers(&self, name: &str) -> PyResult<Vec<u64>> {
        let mut wide: Vec<i64> = Vec::with_capacity(self.len()?);
        for piece in self.integers()? {
            match piece {
                Integers::U32(numbers) => wide.extend(numbers.iter().map(|&number| i64::from(number))),
                Integers::I32(numbers) => wide.extend(numbers.iter().map(|&number| i64::from(number))),
                Integers::I64(numbers) => wide.extend_from_slice(numbers),
            }
        }
        if let Some(found) = wide.iter().find(|number| **number < 0) {
            return Err(wrong(format!("`{name}` must not be negative: {found}")));
        }
        Ok(wide.into_iter().map(|number| number as u64).collect())
    }
}

/// A table of both, checked but for the rows, which the first pass looks at.
pub(crate) fn pieces<'a>(
    probabilities: &'a Probabilities<'_>,
    labels: &'a Labels<'_>,
) -> PyResult<Pieces<'a>> {
    let integers = labels.integers()?;
    let (rows, given) = (probabilities.rows(), integers.iter().map(Integers::len).sum::<usize>());
    if rows != given {
        return Err(wrong(format!("there are {given} labels for {rows} rows of `pred_probs`")));
    }
    if rows == 0 {
        return Err(wrong("there are no examples"));
    }
    if probabilities.classes < 2 {
        return Err(wrong(format!("there must be at least two classes: {}", probabilities.classes)));
    }
    checked(&integers, probabilities.classes)?;
    Ok(Pieces::new(probabilities.classes, probabilities.floats()?, integers))
}

/// Refuses a label that is no class.
fn checked(labels: &[Integers<'_>], classes: usize) -> PyResult<()> {
    let mut first = 0;
    for piece in labels {
        if let Some((at, label)) = piece.stranger(classes) {
            let row = first + at;
            return Err(wrong(format!(
                "label {label} in row {row} (from 0) is not a class: there are {classes}, from 0"
            )));
        }
        first += piece.len();
    }
    Ok(())
}
