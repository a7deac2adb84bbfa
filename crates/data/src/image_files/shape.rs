//! The one shape that all images of a folder are brought to.

use super::decode::{About, about};
use crate::{Color, Error, Options, Warning};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Sides of images that are not asked for are at most this long.
const LONGEST_SIDE: u32 = 224;

/// Why each file is broken, if it is.
type Broken = Vec<Option<String>>;

/// Height, width and channels; what is known to be broken; and what to say if images change their size.
pub(super) fn of(
    folder: &Path,
    files: &[PathBuf],
    options: &Options,
) -> Result<(Broken, [usize; 3], Option<Warning>), Error> {
    if let (Some([height, width]), Some(channels)) = (options.image_size, channels(options.color)) {
        check_size(folder, [height, width])?;
        return Ok((vec![None; files.len()], [height as usize, width as usize, channels], None));
    }
    let look = |file: &PathBuf| about(&folder.join(file), &options.limits).map_err(|error| error.to_string());
    let found: Vec<Result<About, String>> = files.par_iter().map(look).collect();
    let good: Vec<About> = found.iter().filter_map(|about| about.as_ref().ok()).copied().collect();
    let gray = !good.is_empty() && good.iter().all(|about| about.is_gray);
    let channels = channels(options.color).unwrap_or(if gray { 1 } else { 3 });
    let (size, warning) = common_size(&good, options);
    check_size(folder, size)?;
    let broken = found.into_iter().map(Result::err).collect();
    Ok((broken, [size[0] as usize, size[1] as usize, channels], warning))
}

fn channels(color: Color) -> Option<usize> {
    match color {
        Color::Auto => None,
        Color::Gray => Some(1),
        Color::Rgb => Some(3),
    }
}

fn check_size(folder: &Path, [height, width]: [u32; 2]) -> Result<(), Error> {
    if height == 0 || width == 0 {
        return Err(Error::ZeroSize { path: folder.into(), shape: vec![height as usize, width as usize] });
    }
    Ok(())
}

/// The size all images have, or a square as long as the median short side, up to a limit.
fn common_size(images: &[About], options: &Options) -> ([u32; 2], Option<Warning>) {
    let (asked, longest) = (options.image_size, options.longest_side);
    let mut sizes: Vec<[u32; 2]> = images.iter().map(|image| [image.height, image.width]).collect();
    sizes.sort_unstable_by_key(|&[height, width]| (u64::from(height) * u64::from(width), height));
    let mut sides: Vec<u32> = sizes.iter().map(|&[height, width]| height.min(width)).collect();
    sides.sort_unstable();
    sizes.dedup();
    if let (None, [size]) = (asked, &sizes[..])
        && longest.is_none_or(|longest| size[0].max(size[1]) <= longest)
    {
        return (*size, None);
    }
    let side = sides.get(sides.len() / 2).copied().unwrap_or(1).min(longest.unwrap_or(LONGEST_SIDE));
    let size = asked.unwrap_or([side, side]);
    let text = |size: Option<&[u32; 2]>| {
        size.map(|[height, width]| format!("{height} x {width}")).unwrap_or_default()
    };
    let warning = (asked.is_none() && !sizes.is_empty()).then(|| Warning::Resized {
        sizes: sizes.len(),
        smallest: text(sizes.first()),
        largest: text(sizes.last()),
        size: text(Some(&size)),
    });
    (size, warning)
}
