//! NumPy arrays: features [N, D], images [N, H, W] or [N, H, W, C] (or [N, C, H, W], where C is 1 or 3).
//!
//! Float32 features and byte images in C order are mapped and never copied. Everything else is converted once.

use super::{Format, has_extension};
use crate::examples::{Examples, map};
use crate::labels::{Labels, Raw, read_beside};
use crate::numbers::{self, Array};
use crate::storage::{Bytes, Floats};
use crate::{Dataset, Error, Labeling, Limits, Options, Part};
use crate::table::Codes;
use cleanest_core::npy::{Element, Header, HeaderOf, Kind as _, Label, Problem, Text};
use std::path::Path;

pub(super) const FORMAT: Format = Format {
    name: "npy",
    about: "a NumPy array of features [N, D] or images [N, H, W(, C)]; the labels lie in a file beside it",
    recognizes: |path| path.is_file() && has_extension(path, &["npy"]),
    has_test: |_| false,
    self_contained: false,
    read,
};

fn read(path: &Path, _: Part, options: &Options) -> Result<Dataset, Error> {
    let mapped = mapped(path)?;
    let header = Header::parse(&mapped).map_err(|problem| Error::Npy { path: path.into(), problem })?;
    header.data(&mapped).map_err(|problem| Error::Npy { path: path.into(), problem })?;
    let examples = examples(path, &header, mapped, &options.limits)?;
    let labels = match (options.labeling, &options.labels) {
        (Labeling::Absent, _) => Labels::absent(options)?,
        (_, None) => return Err(Error::Unlabeled { path: path.into() }),
        (_, Some(file)) => read_beside(file, examples.len(), options)?,
    };
    numbers::checked(FORMAT.name, path, (examples, labels), options)
}

/// The whole file as memory, or its beginning as bytes if it is too short to be mapped.
fn mapped(path: &Path) -> Result<Bytes, Error> {
    let length = crate::source::length(path)?;
    if length == 0 { Ok(Bytes::Owned(Vec::new())) } else { map(path, 0..length as usize) }
}

/// The examples that a whole file holds, whose length was checked.
pub(super) fn examples(path: &Path, header: &Header, file: Bytes, limits: &Limits) -> Result<Examples, Error> {
    let shape = &header.shape;
    let rank = shape.len();
    if !(2..=4).contains(&rank) {
        let expected = "[N, D] for features or [N, H, W(, C)] for images";
        return Err(Error::Shape { path: path.into(), shape: shape.clone(), expected });
    }
    if shape[1..].contains(&0) {
        return Err(Error::ZeroSize { path: path.into(), shape: shape[1..].to_vec() });
    }
    if shape[0] > limits.rows {
        return Err(Error::TooManyRows { path: path.into(), limit: limits.rows });
    }
    let array = Array { path, header };
    let swapped = header.big_endian && header.element.size() > 1;
    let plain = !header.fortran_order && !swapped;
    match (rank, header.element) {
        (2, Element::F32) if plain => match Floats::mapped(file.after(header.start)) {
            Ok(values) => Ok(Examples::rows(shape[1], values)),
            Err(bytes) => Ok(Examples::rows(shape[1], Floats::Owned(array.floats(&bytes, limits)?))),
        },
        (2, _) => Ok(Examples::rows(shape[1], Floats::Owned(array.floats(&file.after(header.start), limits)?))),
        (_, Element::U8) if plain && !array.is_channels_first() => {
            Ok(Examples::images(array.image_shape(), file.after(header.start)))
        }
        _ => {
            let pixels = array.pixels(&file.after(header.start), limits)?;
            Ok(Examples::images(array.image_shape(), Bytes::Owned(pixels)))
        }
    }
}

/// The labels of a file: whole numbers or texts in one dimension.
pub(crate) fn labels(path: &Path, options: &Options) -> Result<Raw, Error> {
    let mapped = mapped(path)?;
    let header = HeaderOf::parse(&mapped).map_err(|problem| Error::Npy { path: path.into(), problem })?;
    let data = header.data(&mapped).map_err(|problem| Error::Npy { path: path.into(), problem })?;
    label_array(path, &header, data, &options.limits)
}

/// Labels in an array of one dimension, or of two where one length is 1.
pub(super) fn label_array(
    path: &Path,
    header: &HeaderOf<Label>,
    data: &[u8],
    limits: &Limits,
) -> Result<Raw, Error> {
    let long = header.shape.iter().filter(|&&length| length != 1).count();
    if header.shape.is_empty() || header.shape.len() > 2 || long > 1 {
        let shape = header.shape.clone();
        return Err(Error::Shape { path: path.into(), shape, expected: "[N] for labels" });
    }
    let count: usize = header.shape.iter().product();
    if count > limits.rows {
        return Err(Error::TooManyRows { path: path.into(), limit: limits.rows });
    }
    match header.element {
        Label::Number(element) => Raw::integers(Array { path, header: &header.of(element) }.integers(data)),
        Label::Text(text) => texts(path, (text, header.big_endian), data),
    }
}

fn texts(path: &Path, (text, big_endian): (Text, bool), data: &[u8]) -> Result<Raw, Error> {
    let mut codes = Codes::default();
    // Texts without room for a letter are all empty, and none of them is a chunk.
    if text.size() == 0 {
        return Err(Error::EmptyLabel { path: path.into(), row: 1 });
    }
    for (row, bytes) in data.chunks_exact(text.size()).enumerate() {
        let (path, row) = (|| path.to_path_buf(), row + 1);
        let no_text = || Error::Npy { path: path(), problem: Problem::NotText { row } };
        let label = text.read(bytes, big_endian).ok_or_else(no_text)?;
        if label.is_empty() {
            return Err(Error::EmptyLabel { path: path(), row });
        }
        codes.push(label.as_bytes());
    }
    Ok(Raw::texts(codes))
}
