//! An image of a data set as an image of the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cleanest_data::{Dataset, Example, Shape};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, GrayImage, ImageFormat, RgbImage};
use std::io::Cursor;

/// The longest side of a thumbnail; the page shows it at this size.
const LONGEST: u32 = 128;
/// Images of up to this side are shown pixel by pixel, and packed without loss: PNG.
const TINY: u32 = 32;
const JPEG_QUALITY: u8 = 82;

/// An image in the page.
pub(super) struct Thumbnail {
    /// Its bytes as an address.
    pub(super) address: String,
    /// Width and height.
    pub(super) size: (u32, u32),
}

impl Thumbnail {
    /// The picture of an example, if it is one.
    pub(super) fn of(data: &Dataset, row: usize) -> Option<Self> {
        let (Shape::Image { height, width, channels }, true) = (data.shape(), row < data.len()) else {
            return None;
        };
        let Example::Image(pixels) = data.example(row) else { return None };
        let picture = picture(pixels, (width as u32, height as u32), channels)?;
        let size = (picture.width(), picture.height());
        let is_tiny = size.0.max(size.1) <= TINY;
        let mut bytes = Vec::new();
        if is_tiny {
            picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
        } else {
            picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY)).ok()?;
        }
        let kind = if is_tiny { "png" } else { "jpeg" };
        Some(Self { address: format!("data:image/{kind};base64,{}", STANDARD.encode(bytes)), size })
    }

    /// Whether its pixels are to be seen as squares.
    pub(super) fn is_tiny(&self) -> bool {
        self.size.0.max(self.size.1) <= TINY
    }
}

/// Gray or color; of channels that are neither, the first as gray.
fn picture(pixels: &[u8], (width, height): (u32, u32), channels: usize) -> Option<DynamicImage> {
    let picture = if channels == 3 {
        DynamicImage::ImageRgb8(RgbImage::from_raw(width, height, pixels.to_vec())?)
    } else {
        let first = pixels.iter().step_by(channels.max(1)).copied().collect();
        DynamicImage::ImageLuma8(GrayImage::from_raw(width, height, first)?)
    };
    Some(if width.max(height) > LONGEST { picture.thumbnail(LONGEST, LONGEST) } else { picture })
}
