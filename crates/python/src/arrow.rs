//! Columns of Arrow through its PyCapsule interface: from pyarrow, polars, pandas, DuckDB, Spark.
//!
//! A column of lists of K floats is taken where it lies. K columns of floats, whose rows do not lie together, are copied.

use crate::arrays::{Labels, Probabilities, Rows, Whole};
use crate::errors::wrong;
use arrow_array::cast::AsArray as _;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Rows of probabilities from a column of lists, or from a table with a column for each class.
pub(crate) fn probabilities<'py>(object: &Bound<'py, PyAny>) -> PyResult<Probabilities<'py>> {
    let mut classes = None;
    let mut pieces = Vec::new();
    for array in arrays(object, "pred_probs")? {
        let (width, piece) = rows(&array)?;
        if !array.is_empty() && *classes.get_or_insert(width) != width {
            return Err(wrong("the rows of `pred_probs` are not all of one length"));
        }
        pieces.push(piece);
    }
    let classes = classes.filter(|classes| *classes > 0).ok_or_else(|| wrong("there are no examples"))?;
    Ok(Probabilities { classes, pieces })
}

/// Whole numbers from a column of them.
pub(crate) fn labels<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Labels<'py>> {
    let pieces = arrays(object, name)?.iter().map(|array| whole(array, name)).collect::<PyResult<_>>()?;
    Ok(Labels { pieces })
}

/// The chunks of an object that speaks the PyCapsule interface.
fn arrays(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<ArrayRef>> {
    let broken = |problem: arrow_schema::ArrowError| wrong(format!("`{name}`: {problem}"));
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast_into::<PyCapsule>().map_err(PyErr::from)?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name holds a stream by the Arrow PyCapsule interface. It is taken over, and the
        // capsule is left with one that is released.
        let stream = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(broken)?;
        return stream.collect::<Result<_, _>>().map_err(broken);
    }
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?;
        let (schema, array) = pair.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
        let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names hold a schema and an array of that schema by the Arrow PyCapsule interface. The
        // array is taken over, and the schema is only looked at while its capsule lives.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
        return Ok(vec![make_array(data.map_err(broken)?)]);
    }
    let kind = object.get_type().name()?;
    Err(wrong(format!("`{name}` must be an array or a column of Arrow, not `{kind}`")))
}

/// Probabilities of one chunk, and how many a row has.
fn rows<'py>(array: &ArrayRef) -> PyResult<(usize, Rows<'py>)> {
    refuse_nulls(array, "pred_probs")?;
    match array.data_type() {
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            let width = lists.value_length() as usize;
            // The list may be a part of a longer one, and its values begin further on.
            let values = lists.values().slice(lists.value_offset_at(0), lists.len() * width);
            Ok((width, floats(&values)?))
        }
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let offsets: Vec<usize> = lists.value_offsets().iter().map(|&offset| offset as usize).collect();
            of_lists(lists.values(), &offsets)
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            let offsets: Vec<usize> = lists.value_offsets().iter().map(|&offset| offset as usize).collect();
            of_lists(lists.values(), &offsets)
        }
        DataType::Struct(_) => Ok((array.as_struct().num_columns(), side_by_side(array)?)),
        other => Err(wrong(format!(
            "`pred_probs` must be a column of lists of floats or a table with a column for each class, not {other}"
        ))),
    }
}

/// The values of lists that are all of one length.
fn of_lists<'py>(values: &ArrayRef, offsets: &[usize]) -> PyResult<(usize, Rows<'py>)> {
    let width = offsets.get(1).map_or(0, |second| second - offsets[0]);
    if let Some(row) = offsets.windows(2).position(|pair| pair[1] - pair[0] != width) {
        let found = offsets[row + 1] - offsets[row];
        return Err(wrong(format!(
            "row {row} (from 0) of `pred_probs` has {found} probabilities where the first has {width}"
        )));
    }
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    Ok((width, floats(&values.slice(first, last - first))?))
}

/// Numbers where they lie.
fn floats<'py>(values: &ArrayRef) -> PyResult<Rows<'py>> {
    refuse_nulls(values, "pred_probs")?;
    match values.data_type() {
        DataType::Float32 => Ok(Rows::Arrow32(values.as_primitive::<Float32Type>().values().clone())),
        DataType::Float64 => Ok(Rows::Arrow64(values.as_primitive::<Float64Type>().values().clone())),
        other => Err(wrong(format!("`pred_probs` must be of Float32 or Float64, not of {other}"))),
    }
}

/// The columns of a table as rows, in the narrower precision only if all are of it.
fn side_by_side<'py>(table: &ArrayRef) -> PyResult<Rows<'py>> {
    let table = table.as_struct();
    let columns = table.columns().iter().map(floats).collect::<PyResult<Vec<Rows<'_>>>>()?;
    let (rows, width) = (table.len(), columns.len());
    if columns.iter().all(|column| matches!(column, Rows::Arrow32(_))) {
        let mut values = vec![0.0_f32; rows * width];
        for (class, column) in columns.iter().enumerate() {
            let Rows::Arrow32(column) = column else { continue };
            values.chunks_exact_mut(width).zip(column.iter()).for_each(|(row, &value)| row[class] = value);
        }
        return Ok(Rows::Arrow32(values.into()));
    }
    let mut values = vec![0.0_f64; rows * width];
    for (class, column) in columns.iter().enumerate() {
        let rows = values.chunks_exact_mut(width);
        match column {
            Rows::Arrow32(column) => {
                rows.zip(column.iter()).for_each(|(row, &value)| row[class] = f64::from(value));
            }
            Rows::Arrow64(column) => rows.zip(column.iter()).for_each(|(row, &value)| row[class] = value),
            Rows::Array32(_) | Rows::Array64(_) => {}
        }
    }
    Ok(Rows::Arrow64(values.into()))
}

/// Whole numbers, where they lie if they are of 32 or 64 bits.
fn whole<'py>(array: &ArrayRef, name: &str) -> PyResult<Whole<'py>> {
    refuse_nulls(array, name)?;
    Ok(match array.data_type() {
        DataType::Int64 => Whole::Arrow64(array.as_primitive::<Int64Type>().values().clone()),
        DataType::Int32 => Whole::Arrow32(array.as_primitive::<Int32Type>().values().clone()),
        DataType::Int8 => widened::<Int8Type>(array),
        DataType::Int16 => widened::<Int16Type>(array),
        DataType::UInt8 => widened::<UInt8Type>(array),
        DataType::UInt16 => widened::<UInt16Type>(array),
        DataType::UInt32 => widened::<UInt32Type>(array),
        DataType::UInt64 => {
            let numbers = array.as_primitive::<UInt64Type>().values().iter();
            Whole::Arrow64(numbers.map(|&number| i64::try_from(number).unwrap_or(i64::MAX)).collect())
        }
        DataType::Struct(fields) if fields.len() == 1 => return whole(array.as_struct().column(0), name),
        other => return Err(wrong(format!("`{name}` must be a column of whole numbers, not of {other}"))),
    })
}

fn widened<'py, T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef) -> Whole<'py> {
    Whole::Arrow64(array.as_primitive::<T>().values().iter().map(|&number| number.into()).collect())
}

fn refuse_nulls(array: &ArrayRef, name: &str) -> PyResult<()> {
    if array.null_count() == 0 {
        return Ok(());
    }
    let row = (0..array.len()).find(|&row| array.is_null(row)).unwrap_or_default();
    Err(wrong(format!(
        "`{name}` has {} values that are null, the first in row {row} (from 0)",
        array.null_count()
    )))
}
