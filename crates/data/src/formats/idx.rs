//! IDX, the format of MNIST and its family: a magic number, the lengths, then bytes; all big-endian, often gzip.

use super::Format;
use crate::examples::{Examples, map};
use crate::labels::{Classes, Labels, Raw, read_beside};
use crate::source::{Stream, failure};
use crate::storage::Bytes;
use crate::{Dataset, Error, Labeling, Limits, Options, Part};
use std::path::{Path, PathBuf};

/// Bytes in one dimension: labels.
const LABELS: u32 = 0x0801;
/// Bytes in three dimensions: gray images.
const GRAY: u32 = 0x0803;
/// Bytes in four dimensions: images with channels.
const CHANNELS: u32 = 0x0804;

pub(super) const FORMAT: Format = Format {
    name: "idx",
    about: "the files of MNIST and its family: a folder with the published four, or one file of images, plain or gzip",
    recognizes: |path| if path.is_dir() { pair(path, Part::Train).is_some() } else { is_idx(path) },
    has_test: |path| path.is_dir() && pair(path, Part::Test).is_some(),
    self_contained: true,
    read,
};

fn read(path: &Path, part: Part, options: &Options) -> Result<Dataset, Error> {
    let published = if path.is_dir() { pair(path, part) } else { None };
    let (images, beside) = published.unwrap_or_else(|| (path.to_path_buf(), options.labels.clone()));
    let (examples, count) = read_images(&images, &options.limits)?;
    let labels = match (options.labeling, beside) {
        (Labeling::Absent, _) => Labels::absent(options)?,
        (_, None) => return Err(Error::Unlabeled { path: path.into() }),
        (_, Some(file)) => {
            let labels = read_beside(&file, count, options)?;
            if options.classes.is_none() { every_class(labels) } else { labels }
        }
    };
    Ok(Dataset::new(FORMAT.name, examples, labels))
}

/// Labels that are whole numbers below ten belong to ten classes, even if some are absent from a part.
fn every_class(labels: Labels) -> Labels {
    const USUAL: u8 = 10;
    let Some(names) = labels.classes().integers() else { return labels };
    if labels.classes().len() >= USUAL.into() || names.iter().any(|name| !(0..i64::from(USUAL)).contains(name)) {
        return labels;
    }
    let indices = labels.indices().iter().map(|&index| names[index as usize] as u32).collect();
    Labels::new(indices, Classes::numbered(USUAL.into()))
}

/// The images and the labels of a part, under the names they are published by.
fn pair(folder: &Path, part: Part) -> Option<(PathBuf, Option<PathBuf>)> {
    let start = if part == Part::Train { "train" } else { "t10k" };
    let find = |kind: &str, rank: u8| {
        let names = ["-", "."].map(|dot| format!("{start}-{kind}{dot}idx{rank}-ubyte"));
        let files = names.iter().flat_map(|name| [folder.join(name), folder.join(format!("{name}.gz"))]);
        files.into_iter().find(|file| file.is_file())
    };
    Some((find("images", 3)?, find("labels", 1)))
}

/// Whether a file is IDX, by its name or by the magic number it begins with.
pub(crate) fn is_idx(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let named = name.ends_with("-ubyte") || name.contains(".idx");
    path.is_file() && (named || begins_with_magic(path).unwrap_or(false))
}

fn begins_with_magic(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    let mut stream = Stream::open(path, &Limits::default())?;
    stream.read_up_to(4, &mut start).map_err(|source| failure(path, source))?;
    Ok([LABELS, GRAY, CHANNELS].iter().any(|magic| start == magic.to_be_bytes()))
}

/// What a file says of itself.
struct Header {
    /// The lengths of all dimensions.
    lengths: Vec<u32>,
    /// Bytes that follow the header.
    bytes: u64,
    /// Bytes of the header.
    start: u64,
}

impl Header {
    fn read(path: &Path, stream: &mut Stream, magics: (&[u32], &'static str)) -> Result<Self, Error> {
        let magic = word(path, stream, 0)?;
        if !magics.0.contains(&magic) {
            return Err(Error::Magic { path: path.into(), expected: magics.1, found: magic });
        }
        let rank = u64::from(magic & 0xff);
        let lengths = (1..=rank).map(|at| word(path, stream, at * 4)).collect::<Result<Vec<u32>, _>>()?;
        let bytes = lengths.iter().try_fold(1_u64, |product, &length| product.checked_mul(length.into()));
        let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or_else(|| Error::Overflow { path: path.into(), shape: lengths.clone() })?;
        Ok(Self { lengths, bytes, start: 4 + 4 * rank })
    }

    /// The bytes after the header: all of them, and none besides.
    fn body(&self, path: &Path, stream: &mut Stream, limits: &Limits) -> Result<Vec<u8>, Error> {
        if self.bytes > limits.memory {
            return Err(Error::Memory { path: path.into(), needed: self.bytes, limit: limits.memory });
        }
        let mut bytes = Vec::new();
        let read = stream.read_up_to(self.bytes, &mut bytes).map_err(|source| failure(path, source))?;
        let expected = self.start + self.bytes;
        if read < self.bytes {
            let found = self.start + read;
            return Err(Error::Truncated { path: path.into(), what: "examples", expected, found });
        }
        if !stream.is_at_end().map_err(|source| failure(path, source))? {
            return Err(Error::Trailing { path: path.into(), expected });
        }
        Ok(bytes)
    }
}

fn word(path: &Path, stream: &mut Stream, at: u64) -> Result<u32, Error> {
    let mut bytes = Vec::with_capacity(4);
    let read = stream.read_up_to(4, &mut bytes).map_err(|source| failure(path, source))?;
    let word = <[u8; 4]>::try_from(&bytes[..]);
    let truncated = |_| Error::Truncated { path: path.into(), what: "header", expected: at + 4, found: at + read };
    word.map(u32::from_be_bytes).map_err(truncated)
}

/// The images of a file and how many they are; a plain file is mapped, not copied.
fn read_images(path: &Path, limits: &Limits) -> Result<(Examples, usize), Error> {
    let mut stream = Stream::open(path, limits)?;
    let header = Header::read(path, &mut stream, (&[GRAY, CHANNELS], "0x00000803 or 0x00000804 for images"))?;
    let lengths: Vec<usize> = header.lengths.iter().map(|&length| length as usize).collect();
    let shape = [lengths[1], lengths[2], lengths.get(3).copied().unwrap_or(1)];
    if shape.contains(&0) {
        return Err(Error::ZeroSize { path: path.into(), shape: shape.to_vec() });
    }
    if lengths[0] > limits.rows {
        return Err(Error::TooManyRows { path: path.into(), limit: limits.rows });
    }
    let end = header.start + header.bytes;
    let pixels = if stream.is_plain {
        let found = stream.at_most;
        if found > end {
            return Err(Error::Trailing { path: path.into(), expected: end });
        }
        map(path, header.start as usize..end as usize)?
    } else {
        Bytes::Owned(header.body(path, &mut stream, limits)?)
    };
    Ok((Examples::images(shape, pixels), lengths[0]))
}

/// The labels of a file.
pub(crate) fn labels(path: &Path, options: &Options) -> Result<Raw, Error> {
    let mut stream = Stream::open(path, &options.limits)?;
    let header = Header::read(path, &mut stream, (&[LABELS], "0x00000801 for labels"))?;
    let bytes = header.body(path, &mut stream, &options.limits)?;
    Raw::integers(bytes.into_iter().map(|byte| Ok(i64::from(byte))))
}
