//! One image file as pixels of the shape that was asked for.

use crate::guarded::guarded;
use crate::{Error, Limits};
use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::{InnerPixel, U8, U8x3};
use fast_image_resize::{FilterType, PixelTrait, ResizeAlg, ResizeOptions, Resizer};
use image::{ColorType, DynamicImage, ImageDecoder, ImageReader, metadata::Orientation};
use std::io::Cursor;
use std::path::Path;

/// What a worker keeps from one image to the next.
pub(super) struct Decoder {
    resizer: Resizer,
    options: ResizeOptions,
    /// An image before it is brought to its size.
    scratch: Vec<u8>,
}

/// What a file says of its image before it is decoded; turned as a viewer would turn it.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) is_gray: bool,
}

impl Decoder {
    /// A decoder that cuts the middle out of images of another aspect, and averages what it makes smaller.
    pub(super) fn new() -> Self {
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Bilinear))
            .fit_into_destination(Some((0.5, 0.5)))
            .use_alpha(false);
        Self { resizer: Resizer::new(), options, scratch: Vec::new() }
    }

    /// Decodes a file into pixels of the shape height, width, channels.
    pub(super) fn read(
        &mut self,
        path: &Path,
        [height, width, channels]: [usize; 3],
        pixels: &mut [u8],
        limits: &Limits,
    ) -> Result<(), Error> {
        let bytes = bytes(path, limits)?;
        if is_cut_jpeg(&bytes) {
            return Err(Error::Image { path: path.into(), what: "it ends before the image does".into() });
        }
        let mut decoder = decoder(path, Cursor::new(&bytes[..]), limits)?;
        let failed = |what: String| Error::Image { path: path.into(), what };
        let upright = decoder.orientation().unwrap_or(Orientation::NoTransforms) == Orientation::NoTransforms;
        let size = decoder.dimensions();
        let wanted = if channels == 1 { ColorType::L8 } else { ColorType::Rgb8 };
        // Most images are what is wanted but for their size: they are decoded in place, or where they are resized from.
        if upright && decoder.color_type() == wanted {
            if size == (width as u32, height as u32) {
                return guarded(|| decoder.read_image(pixels).map_err(|error| error.to_string()))
                    .map_err(failed);
            }
            let mut raw = std::mem::take(&mut self.scratch);
            raw.resize(decoder.total_bytes() as usize, 0);
            let read =
                guarded(|| decoder.read_image(&mut raw).map_err(|error| error.to_string())).map_err(failed);
            let outcome = read.and_then(|()| self.fit(path, (&raw, size), [height, width, channels], pixels));
            self.scratch = raw;
            return outcome;
        }
        let image = decode(path, decoder)?;
        let raw = if channels == 1 { image.to_luma8().into_raw() } else { image.to_rgb8().into_raw() };
        self.fit(path, (&raw, (image.width(), image.height())), [height, width, channels], pixels)
    }

    /// Brings an image to its size.
    fn fit(
        &mut self,
        path: &Path,
        (raw, size): (&[u8], (u32, u32)),
        [height, width, channels]: [usize; 3],
        pixels: &mut [u8],
    ) -> Result<(), Error> {
        let to = (width as u32, height as u32);
        if size == to {
            pixels.copy_from_slice(raw);
            return Ok(());
        }
        // Each kind of pixel is a program of its own, and long to compile: these two are all there is need of.
        let resized = match channels {
            1 => self.resize::<U8>((raw, size), (pixels, to)),
            _ => self.resize::<U8x3>((raw, size), (pixels, to)),
        };
        resized.map_err(|what| Error::Image { path: path.into(), what })
    }

    /// The same for one kind of pixels.
    fn resize<P: PixelTrait + InnerPixel>(
        &mut self,
        (from, size): (&[u8], (u32, u32)),
        (to, wanted): (&mut [u8], (u32, u32)),
    ) -> Result<(), String> {
        let from =
            TypedImageRef::<P>::from_buffer(size.0, size.1, from).map_err(|error| error.to_string())?;
        let mut to =
            TypedImage::<P>::from_buffer(wanted.0, wanted.1, to).map_err(|error| error.to_string())?;
        self.resizer.resize_typed(&from, &mut to, &self.options).map_err(|error| error.to_string())
    }
}

/// Whether a JPEG stops in the middle of its last scan, which the decoder would fill with gray.
///
/// In the coded pixels no marker can stand by accident, so that the last start of a scan has to be followed by an end
/// of image.
fn is_cut_jpeg(bytes: &[u8]) -> bool {
    const START_OF_SCAN: &[u8] = b"\xff\xda";
    const END_OF_IMAGE: &[u8] = b"\xff\xd9";
    let last = |marker: &[u8]| memchr::memmem::rfind(bytes, marker);
    bytes.starts_with(b"\xff\xd8") && last(END_OF_IMAGE) < last(START_OF_SCAN).or(Some(usize::MAX))
}

/// What the file says of its image.
pub(super) fn about(path: &Path, limits: &Limits) -> Result<About, Error> {
    let file = crate::source::open(path)?;
    let reader = std::io::BufReader::new(file);
    let mut decoder = decoder(path, reader, limits)?;
    let (width, height) = decoder.dimensions();
    let sideways = is_sideways(decoder.orientation().unwrap_or(Orientation::NoTransforms));
    let is_gray = !decoder.color_type().has_color();
    Ok(if sideways {
        About { width: height, height: width, is_gray }
    } else {
        About { width, height, is_gray }
    })
}

fn is_sideways(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

/// The bytes of a file that can hold an image of the allowed size: at most 8 a pixel, and a little more.
fn bytes(path: &Path, limits: &Limits) -> Result<Vec<u8>, Error> {
    let (length, most) =
        (crate::source::length(path)?, limits.pixels.saturating_mul(8).saturating_add(1 << 20));
    if length > most {
        let what = format!("{length} bytes are more than {} pixels need", limits.pixels);
        return Err(Error::Image { path: path.into(), what });
    }
    std::fs::read(path).map_err(|source| Error::io(path, source))
}

/// A decoder chosen by the first bytes of the file, whatever its name.
fn decoder<'a, R: std::io::BufRead + std::io::Seek + 'a>(
    path: &Path,
    reader: R,
    limits: &Limits,
) -> Result<impl ImageDecoder + 'a, Error> {
    let failed = |what: String| Error::Image { path: path.into(), what };
    let mut bounds = image::Limits::no_limits();
    bounds.max_alloc = Some(limits.pixels.saturating_mul(16));
    let open = || {
        let mut reader = ImageReader::new(reader).with_guessed_format().map_err(|error| error.to_string())?;
        reader.limits(bounds);
        reader.into_decoder().map_err(|error| error.to_string())
    };
    let decoder = guarded(open).map_err(failed)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(Error::ZeroSize { path: path.into(), shape: vec![height as usize, width as usize] });
    }
    if u64::from(width) * u64::from(height) > limits.pixels {
        return Err(Error::Pixels { path: path.into(), width, height, limit: limits.pixels });
    }
    Ok(decoder)
}

/// The image, upright.
fn decode(path: &Path, mut decoder: impl ImageDecoder) -> Result<DynamicImage, Error> {
    let decode = || {
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut image = DynamicImage::from_decoder(decoder).map_err(|error| error.to_string())?;
        image.apply_orientation(orientation);
        Ok(image)
    };
    guarded(decode).map_err(|what| Error::Image { path: path.into(), what })
}
