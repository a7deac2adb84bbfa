//! The embedded digits: 1,797 real ones of 8 x 8 pixels, always at hand.
//!
//! "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, 1998; `digits/ATTRIBUTION.md` says more.

use super::Format;
use crate::examples::Examples;
use crate::labels::{Classes, Labels};
use crate::storage::Bytes;
use crate::{Dataset, Error, Labeling, Options, Part};
use std::io::Read as _;
use std::path::Path;

const PACKED: &[u8] = include_bytes!("../digits/digits.deflate");
const COUNT: usize = 1797;
const SIDE: usize = 8;
/// A pixel of the published set counts up to so many dark points.
const DARKEST: u32 = 16;

pub(super) const FORMAT: Format = Format {
    name: "digits",
    about: "1,797 handwritten digits of 8 x 8 pixels that come with the program: write `digits`",
    recognizes: |path| path == Path::new("digits"),
    has_test: |_| false,
    self_contained: false,
    read,
};

fn read(path: &Path, _: Part, options: &Options) -> Result<Dataset, Error> {
    let mut bytes = Vec::with_capacity(COUNT * (SIDE * SIDE + 1));
    flate2::read::DeflateDecoder::new(PACKED)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Compressed { path: path.into(), source })?;
    let classes = bytes.split_off(COUNT * SIDE * SIDE);
    for pixel in &mut bytes {
        *pixel = ((u32::from(*pixel) * 255 + DARKEST / 2) / DARKEST) as u8;
    }
    let labels = match options.labeling {
        Labeling::Absent => Labels::absent(options)?,
        Labeling::Required => Labels::new(classes.into_iter().map(u32::from).collect(), Classes::numbered(10))
            .listed_as(path, options.classes.as_deref())?,
    };
    Ok(Dataset::new(FORMAT.name, Examples::images([SIDE, SIDE, 1], Bytes::Owned(bytes)), labels))
}
