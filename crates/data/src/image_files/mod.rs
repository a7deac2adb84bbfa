//! Image files: found, decoded on all cores, and brought to one size.

mod decode;
mod listing;
mod shape;

pub(crate) use listing::{Listing, image_in, inside, is_image};

use crate::dataset::{Origin, Quarantined};
use crate::examples::Examples;
use crate::storage::Bytes;
use crate::{Error, Options, Warning};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The images that could be read.
pub(crate) struct Decoded {
    pub(crate) examples: Examples,
    pub(crate) origin: Origin,
    /// Which of the files they are.
    pub(crate) kept: Vec<u32>,
    pub(crate) quarantine: Vec<Quarantined>,
    pub(crate) warnings: Vec<Warning>,
}

/// Decodes the files, which are named from the folder, in their order.
pub(crate) fn decode(folder: &Path, files: &[PathBuf], options: &Options) -> Result<Decoded, Error> {
    let (mut broken, shape, resized) = shape::of(folder, files, options)?;
    let size: usize = shape.iter().product();
    let needed = (files.len() as u64).saturating_mul(size as u64);
    if needed > options.limits.memory {
        return Err(Error::Memory { path: folder.into(), needed, limit: options.limits.memory });
    }
    let mut pixels = vec![0; files.len() * size];
    let places = pixels.par_chunks_exact_mut(size).zip(files).zip(&broken);
    let failures = AtomicUsize::new(broken.iter().flatten().count());
    let decode = |decoder: &mut decode::Decoder,
                  ((place, file), known): ((&mut [u8], &PathBuf), &Option<String>)| {
        // Once too many are broken the rest need not be looked at.
        if known.is_some() || failures.load(Ordering::Relaxed) > options.limits.quarantine {
            return Some(known.clone().unwrap_or_default());
        }
        let error = decoder.read(&folder.join(file), shape, place, &options.limits).err()?;
        failures.fetch_add(1, Ordering::Relaxed);
        Some(error.to_string())
    };
    broken = places.map_init(decode::Decoder::new, decode).collect();
    let quarantine = quarantine(folder, files, &broken, options)?;
    let kept: Vec<u32> = (0..files.len() as u32).filter(|&at| broken[at as usize].is_none()).collect();
    close_up(&mut pixels, &kept, size);
    let names = kept.iter().map(|&at| files[at as usize].to_string_lossy().into_owned()).collect();
    let mut warnings: Vec<Warning> = resized.into_iter().collect();
    if !quarantine.is_empty() {
        warnings.push(Warning::Quarantined { count: quarantine.len() });
    }
    let examples = Examples::images(shape, Bytes::Owned(pixels));
    Ok(Decoded { examples, origin: Origin::Files(names), kept, quarantine, warnings })
}

/// The files that could not be read, unless they are too many.
fn quarantine(
    folder: &Path,
    files: &[PathBuf],
    broken: &[Option<String>],
    options: &Options,
) -> Result<Vec<Quarantined>, Error> {
    let reasons = files.iter().zip(broken).filter_map(|(file, reason)| Some((file, reason.clone()?)));
    let list: Vec<Quarantined> =
        reasons.map(|(file, reason)| Quarantined { path: folder.join(file), reason }).collect();
    let limit = options.limits.quarantine;
    match list.iter().find(|file| !file.reason.is_empty()) {
        Some(first) if list.len() > limit || list.len() == files.len() => Err(Error::Quarantine {
            path: folder.into(),
            limit: limit.min(files.len() - 1),
            first: first.reason.clone(),
        }),
        _ => Ok(list),
    }
}

/// Moves the examples that are kept to the front, and forgets the others.
fn close_up(pixels: &mut Vec<u8>, kept: &[u32], size: usize) {
    for (to, &from) in kept.iter().enumerate() {
        if to != from as usize {
            pixels.copy_within(from as usize * size..(from as usize + 1) * size, to * size);
        }
    }
    pixels.truncate(kept.len() * size);
}
