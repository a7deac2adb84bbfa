//! The elements of an array, whatever their type and order, as the numbers that are learnt from.

use crate::dataset::Origin;
use crate::examples::{Example, Examples};
use crate::labels::Labels;
use crate::{Dataset, Error, Limits, Missing, Options, Warning};
use cleanest_core::npy::{Element, Header};
use rayon::prelude::*;
use std::path::Path;

/// An array whose data are at hand and of the length its header says.
pub(crate) struct Array<'a> {
    pub(crate) path: &'a Path,
    pub(crate) header: &'a Header,
}

/// Elements converted by one worker at a time.
const RUN: usize = 1 << 16;

impl Array<'_> {
    /// Every element as a float, the last index running fastest.
    pub(crate) fn floats(&self, data: &[u8], limits: &Limits) -> Result<Vec<f32>, Error> {
        let count: usize = self.header.shape.iter().product();
        let needed = (count * size_of::<f32>()) as u64;
        if needed > limits.memory {
            return Err(Error::Memory { path: self.path.into(), needed, limit: limits.memory });
        }
        let (convert, places) = (self.converter(), self.places());
        let size = self.header.element.size();
        let mut values = vec![0.0; count];
        values.par_chunks_mut(RUN).enumerate().for_each(|(run, chunk)| {
            for (at, value) in chunk.iter_mut().enumerate() {
                let place = places.of(run * RUN + at) * size;
                *value = convert(&data[place..place + size]) as f32;
            }
        });
        Ok(values)
    }

    /// Every element as a whole number; floats that are whole count.
    pub(crate) fn integers<'a>(&'a self, data: &'a [u8]) -> impl Iterator<Item = Result<i64, Error>> + 'a {
        let convert = self.converter();
        let whole = move |(row, bytes): (usize, &[u8])| {
            let found = convert(bytes);
            // Above 2^53 a float no longer tells neighbors apart; no class is called so.
            if found.fract() == 0.0 && found.abs() < 9e15 {
                Ok(found as i64)
            } else {
                Err(Error::FractionalLabel { path: self.path.into(), row: row + 1, found })
            }
        };
        data.chunks_exact(self.header.element.size()).enumerate().map(whole)
    }

    /// Every element as a pixel, the channels of a pixel side by side: as it is if all are in 0 to 255, times 255 if
    /// they are floats and all in 0 to 1.
    pub(crate) fn pixels(&self, data: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
        let values = self.floats(data, limits)?;
        let size: usize = self.header.shape[1..].iter().product();
        let outside = values.par_iter().position_first(|value| !(0.0..=255.0).contains(value));
        if let Some(at) = outside {
            return Err(Error::Pixel { path: self.path.into(), row: at / size + 1, found: values[at] });
        }
        let is_float = matches!(self.header.element, Element::F16 | Element::F32 | Element::F64);
        let unit = is_float && values.par_iter().all(|&value| value <= 1.0);
        let scale = if unit { 255.0 } else { 1.0 };
        let mut pixels: Vec<u8> = values.par_iter().map(|value| (value * scale).round() as u8).collect();
        if self.is_channels_first() {
            pixels = channels_last(&pixels, &self.header.shape);
        }
        Ok(pixels)
    }

    /// Whether images stand as [N, C, H, W]: a second length of 1 or 3, and a last one that is neither.
    pub(crate) fn is_channels_first(&self) -> bool {
        let shape = &self.header.shape;
        shape.len() == 4 && matches!(shape[1], 1 | 3) && !matches!(shape[3], 1 | 3 | 4)
    }

    /// Height, width and channels of the images.
    pub(crate) fn image_shape(&self) -> [usize; 3] {
        match self.header.shape[..] {
            [_, channels, height, width] if self.is_channels_first() => [height, width, channels],
            [_, height, width, channels] => [height, width, channels],
            [_, height, width] => [height, width, 1],
            _ => [1, self.header.shape.iter().skip(1).product(), 1],
        }
    }

    /// How one element becomes a number.
    fn converter(&self) -> fn(&[u8]) -> f64 {
        macro_rules! number {
            ($kind:ty) => {{
                fn little(bytes: &[u8]) -> f64 {
                    <[u8; size_of::<$kind>()]>::try_from(bytes)
                        .map_or(f64::NAN, |b| wide(<$kind>::from_le_bytes(b)))
                }
                fn big(bytes: &[u8]) -> f64 {
                    <[u8; size_of::<$kind>()]>::try_from(bytes)
                        .map_or(f64::NAN, |b| wide(<$kind>::from_be_bytes(b)))
                }
                if self.header.big_endian { big } else { little }
            }};
        }
        match self.header.element {
            Element::Bool | Element::U8 => number!(u8),
            Element::U16 => number!(u16),
            Element::U32 => number!(u32),
            Element::U64 => number!(u64),
            Element::I8 => number!(i8),
            Element::I16 => number!(i16),
            Element::I32 => number!(i32),
            Element::I64 => number!(i64),
            Element::F16 => number!(half::f16),
            Element::F32 => number!(f32),
            Element::F64 => number!(f64),
        }
    }

    fn places(&self) -> Places<'_> {
        Places {
            shape: &self.header.shape,
            fortran: self.header.fortran_order && self.header.shape.len() > 1,
        }
    }
}

/// Where the elements stand in the file.
struct Places<'a> {
    shape: &'a [usize],
    fortran: bool,
}

impl Places<'_> {
    /// The place of the element that is number `index` when the last index runs fastest.
    fn of(&self, mut index: usize) -> usize {
        if !self.fortran {
            return index;
        }
        let (mut place, mut stride) = (0, self.shape.iter().product::<usize>());
        for &length in self.shape.iter().rev() {
            stride /= length.max(1);
            place += index % length * stride;
            index /= length;
        }
        place
    }
}

/// A number as a 64-bit float; the widest integers lose their last digits.
fn wide<T: Widen>(value: T) -> f64 {
    value.widen()
}

trait Widen {
    fn widen(self) -> f64;
}

macro_rules! widen {
    ($($kind:ty),+) => {
        $(impl Widen for $kind {
            #[allow(clippy::cast_lossless)]
            fn widen(self) -> f64 { self as f64 }
        })+
    };
}

widen!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl Widen for half::f16 {
    fn widen(self) -> f64 {
        self.to_f64()
    }
}

/// Images [N, C, H, W] as [N, H, W, C].
fn channels_last(pixels: &[u8], shape: &[usize]) -> Vec<u8> {
    let (channels, plane) = (shape[1], shape[2] * shape[3]);
    let mut turned = vec![0; pixels.len()];
    let images = turned.par_chunks_exact_mut(channels * plane).zip(pixels.par_chunks_exact(channels * plane));
    images.for_each(|(to, from)| {
        for (channel, values) in from.chunks_exact(plane).enumerate() {
            for (pixel, value) in to.chunks_exact_mut(channels).zip(values) {
                pixel[channel] = *value;
            }
        }
    });
    turned
}

/// The set, once its numbers are known to be finite, or missing ones were dealt with as asked.
pub(crate) fn checked(
    format: &'static str,
    path: &Path,
    (examples, labels): (Examples, Labels),
    options: &Options,
) -> Result<Dataset, Error> {
    let count = examples.len();
    let odd = |row: &usize| match examples.at(*row) {
        Example::Image(_) => false,
        Example::Row(values) => values.iter().any(|value| !value.is_finite()),
    };
    let odd: Vec<usize> = (0..count).into_par_iter().filter(odd).collect();
    let mut missing = 0;
    for &row in &odd {
        let Example::Row(values) = examples.at(row) else { continue };
        if let Some(column) = values.iter().position(|value| value.is_infinite()) {
            let (column, found) = ((column + 1).to_string(), values[column].to_string());
            return Err(Error::NotFinite { path: path.into(), row: row + 1, column, found });
        }
        if options.missing == Missing::Error {
            let column = values.iter().position(|value| value.is_nan()).map_or(0, |column| column + 1);
            return Err(Error::Missing { path: path.into(), row: row + 1, column: column.to_string() });
        }
        missing += values.iter().filter(|value| value.is_nan()).count();
    }
    let set = Dataset::new(format, examples, labels);
    if odd.is_empty() {
        return Ok(set);
    }
    if options.missing == Missing::Mean {
        return Ok(set.with_warnings(vec![Warning::Filled { count: missing }]));
    }
    let mut left_out = odd.iter().peekable();
    let kept: Vec<u32> =
        (0..count).filter(|row| left_out.next_if_eq(&row).is_none()).map(|row| row as u32).collect();
    Ok(set
        .with_origin(Origin::InOrder)
        .select(&kept)
        .with_warnings(vec![Warning::Dropped { count: odd.len() }]))
}
