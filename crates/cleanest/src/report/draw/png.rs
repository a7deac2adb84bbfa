//! The same figure in pixels.

use super::Drawing;
use resvg::{tiny_skia, usvg};
use std::io::{Error, Result};
use std::sync::Arc;

/// Pixels for one of the page, so that a figure is sharp on paper too.
const SCALE: f32 = 3.0;
/// No figure is longer than this, whatever its scale.
const LONGEST: f32 = 8000.0;
/// The scripts the font that comes with the program has: Latin, Greek and Cyrillic lie before this letter, and
/// punctuation in a block of its own.
const AFTER_CYRILLIC: char = '\u{530}';

impl Drawing {
    /// The bytes of a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let svg = self.to_svg();
        let options = usvg::Options {
            fontdb: Arc::new(fonts(&svg)),
            font_family: "Noto Sans".to_owned(),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&svg, &options).map_err(Error::other)?;
        let size = tree.size();
        let scale = SCALE.min(LONGEST / size.width().max(size.height()));
        let pixels = |length: f32| (length * scale).ceil() as u32;
        let mut picture = tiny_skia::Pixmap::new(pixels(size.width()), pixels(size.height()))
            .ok_or_else(|| Error::other("the figure has no size"))?;
        resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut picture.as_mut());
        picture.encode_png().map_err(Error::other)
    }
}

/// The font that comes with the program, so that a figure looks the same on every machine; names in other scripts than
/// it has take those of the machine.
fn fonts(svg: &str) -> usvg::fontdb::Database {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(ttf_noto_sans::REGULAR.to_vec());
    let is_strange = |letter: char| letter >= AFTER_CYRILLIC && !('\u{2000}'..='\u{22ff}').contains(&letter);
    if svg.chars().any(is_strange) {
        fonts.load_system_fonts();
    }
    fonts
}
