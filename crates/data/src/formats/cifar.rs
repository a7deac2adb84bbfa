//! CIFAR-10 and CIFAR-100 in their binary version: records of one or two label bytes and three planes of 32 x 32.

use super::Format;
use crate::class_order;
use crate::examples::Examples;
use crate::labels::{Classes, Labels};
use crate::source;
use crate::storage::Bytes;
use crate::{ClassOrder, Dataset, Error, Granularity, Labeling, Limits, Options, Part};
use rayon::prelude::*;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;
const PIXELS: usize = 3 * PLANE;
/// Records a worker reads at a time: small enough for its cache.
const RUN: usize = 128;

pub(super) const FORMAT: Format = Format {
    name: "cifar",
    about: "the folder cifar-10-batches-bin or cifar-100-binary, as unpacked",
    recognizes: |path| Layout::of(path, Part::Train).is_some(),
    has_test: |path| Layout::of(path, Part::Test).is_some(),
    self_contained: true,
    read,
};

/// The files of one part, and how their records are built.
struct Layout {
    files: Vec<PathBuf>,
    /// Files of class names, one for each label byte.
    names: &'static [&'static str],
    /// How many classes each label byte can name.
    classes: &'static [u8],
}

impl Layout {
    /// The layout of a part of the folder, if it is one of the two sets and all files are there.
    fn of(folder: &Path, part: Part) -> Option<Self> {
        let batches = match part {
            Part::Train => (1..=5).map(|batch| folder.join(format!("data_batch_{batch}.bin"))).collect(),
            Part::Test => vec![folder.join("test_batch.bin")],
        };
        let ten = Self { files: batches, names: &["batches.meta.txt"], classes: &[10] };
        let file = if part == Part::Train { "train.bin" } else { "test.bin" };
        let names = &["coarse_label_names.txt", "fine_label_names.txt"];
        let hundred = Self { files: vec![folder.join(file)], names, classes: &[20, 100] };
        let other = folder.join(if part == Part::Train { "test.bin" } else { "train.bin" });
        let known = folder.join(names[1]).is_file() || other.is_file();
        if ten.files.iter().any(|file| file.is_file()) {
            Some(ten)
        } else {
            (hundred.files[0].is_file() && known).then_some(hundred)
        }
    }

    /// Label bytes before the pixels of a record.
    fn label_bytes(&self) -> usize {
        self.classes.len()
    }

    fn record(&self) -> usize {
        self.label_bytes() + PIXELS
    }
}

fn read(path: &Path, part: Part, options: &Options) -> Result<Dataset, Error> {
    let layout = Layout::of(path, part).ok_or_else(|| Error::NoTestPart { path: path.into() })?;
    let runs = layout.files.iter().map(|file| runs(file, layout.record())).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<Run<'_>> = runs.into_iter().flatten().collect();
    let count: usize = runs.iter().map(|run| run.records).sum();
    check_size(path, count, &options.limits)?;
    let mut pixels = vec![0; count * PIXELS];
    let places = split(&mut pixels, &runs);
    let read = |(run, place): (&Run<'_>, &mut [u8])| run.read(&layout, place);
    let labels = runs.par_iter().zip(places).map(read).collect::<Result<Vec<_>, _>>()?;
    let examples = Examples::images([SIDE, SIDE, 3], Bytes::Owned(pixels));
    let labels = match options.labeling {
        Labeling::Absent => Labels::absent(options)?,
        Labeling::Required => self::labels(path, &layout, &labels.concat(), options)?
            .listed_as(path, options.classes.as_deref())?,
    };
    Ok(Dataset::new(FORMAT.name, examples, labels))
}

fn check_size(path: &Path, count: usize, limits: &Limits) -> Result<(), Error> {
    let needed = (count * PIXELS) as u64;
    if count > limits.rows {
        return Err(Error::TooManyRows { path: path.into(), limit: limits.rows });
    }
    if needed > limits.memory {
        return Err(Error::Memory { path: path.into(), needed, limit: limits.memory });
    }
    Ok(())
}

/// Some records of a file that are read together.
struct Run<'a> {
    file: &'a Path,
    first: usize,
    records: usize,
}

/// The records of a file in runs; its length is a whole number of them.
fn runs(file: &Path, record: usize) -> Result<Vec<Run<'_>>, Error> {
    let found = source::length(file)?;
    if found == 0 || !found.is_multiple_of(record as u64) {
        return Err(Error::Records { path: file.into(), record, found });
    }
    let count = (found / record as u64) as usize;
    let run = |first: usize| Run { file, first, records: RUN.min(count - first) };
    Ok((0..count).step_by(RUN).map(run).collect())
}

/// The place of each run in the pixels.
fn split<'a>(mut pixels: &'a mut [u8], runs: &[Run<'_>]) -> Vec<&'a mut [u8]> {
    let mut places = Vec::with_capacity(runs.len());
    for run in runs {
        let (place, rest) = pixels.split_at_mut(run.records * PIXELS);
        places.push(place);
        pixels = rest;
    }
    places
}

impl Run<'_> {
    /// Reads the records, sets the pixels with their channels side by side, and gives the label bytes.
    fn read(&self, layout: &Layout, pixels: &mut [u8]) -> Result<Vec<u8>, Error> {
        let failed = |error| Error::io(self.file, error);
        let record = layout.record();
        let mut file = source::open(self.file)?;
        file.seek(SeekFrom::Start((self.first * record) as u64)).map_err(failed)?;
        let mut bytes = vec![0; self.records * record];
        file.read_exact(&mut bytes).map_err(failed)?;
        let mut labels = Vec::with_capacity(self.records * layout.label_bytes());
        for (at, (record, image)) in bytes.chunks_exact(record).zip(pixels.chunks_exact_mut(PIXELS)).enumerate() {
            let (label, planes) = record.split_at(layout.label_bytes());
            for (&found, &classes) in label.iter().zip(layout.classes) {
                if found >= classes {
                    let (path, row) = (self.file.into(), self.first + at + 1);
                    return Err(Error::LabelRange { path, row, found: found.into(), classes: classes.into() });
                }
            }
            labels.extend_from_slice(label);
            interleave(planes, image);
        }
        Ok(labels)
    }
}

/// Three planes become pixels of three bytes.
fn interleave(planes: &[u8], image: &mut [u8]) {
    let (red, rest) = planes.split_at(PLANE);
    let (green, blue) = rest.split_at(PLANE);
    for (((pixel, r), g), b) in image.chunks_exact_mut(3).zip(red).zip(green).zip(blue) {
        pixel[0] = *r;
        pixel[1] = *g;
        pixel[2] = *b;
    }
}

/// The labels that were asked for, in the order of classes that was asked for.
fn labels(path: &Path, layout: &Layout, bytes: &[u8], options: &Options) -> Result<Labels, Error> {
    let level = match options.granularity {
        Granularity::Fine => layout.classes.len() - 1,
        Granularity::Coarse if layout.classes.len() == 1 => {
            let found = "no coarse labels".to_owned();
            return Err(Error::Unlike { path: path.into(), expected: "coarse labels".into(), found });
        }
        Granularity::Coarse => 0,
    };
    let width = layout.label_bytes();
    let indices: Vec<u32> = bytes.chunks_exact(width).map(|label| u32::from(label[level])).collect();
    let names = class_names(&path.join(layout.names[level]), layout.classes[level].into(), &options.limits)?;
    let order = match (options.class_order, options.granularity) {
        (ClassOrder::Published, _) | (_, Granularity::Coarse) => None,
        (ClassOrder::Paper, _) if width == 1 => class_order::cifar_10(&names),
        (ClassOrder::Paper, _) => Some(class_order::cifar_100(&superclasses(path, bytes)?)),
    };
    let labels = Labels::new(indices, Classes::new(names)?);
    match (options.class_order, options.granularity, order) {
        (ClassOrder::Paper, Granularity::Fine, None) => Err(Error::ClassOrder { path: path.into() }),
        (_, _, Some(order)) => Ok(class_order::reorder(&labels, &order)),
        _ => Ok(labels),
    }
}

/// The coarse class of each fine class, as the records have them.
fn superclasses(path: &Path, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut coarse = vec![None; 100];
    for (at, label) in bytes.chunks_exact(2).enumerate() {
        let (second, fine) = (label[0], label[1]);
        let first = *coarse[usize::from(fine)].get_or_insert(second);
        if first != second {
            return Err(Error::Superclass { path: path.into(), record: at + 1, fine, first, second });
        }
    }
    let known: Option<Vec<u8>> = coarse.into_iter().collect();
    known.ok_or_else(|| Error::ClassOrder { path: path.into() })
}

/// The names in a meta file, one a line; numbers where there is no such file.
fn class_names(file: &Path, expected: usize, limits: &Limits) -> Result<Vec<String>, Error> {
    if !file.is_file() {
        return Ok(Classes::numbered(expected).names().to_vec());
    }
    let text = source::whole(file, limits)?;
    let text = String::from_utf8(text).map_err(|error| {
        let row = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&byte| byte == b'\n').count();
        Error::Utf8 { path: file.into(), row, column: "name".into() }
    })?;
    let names: Vec<String> = text.lines().map(str::trim).filter(|name| !name.is_empty()).map(Into::into).collect();
    if names.len() != expected {
        return Err(Error::ClassNames { path: file.into(), expected, found: names.len() });
    }
    Ok(names)
}
