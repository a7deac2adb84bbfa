//! Figures as SVG: data in, a drawing out. They know nothing of runs, so that any figure can be made with them.
//!
//! A drawing has no colors of its own, only classes. The page gives them colors for light and dark; a file of its own
//! carries `figure.css`.

mod chart;
mod heat_map;
mod png;
mod scale;
mod sheet;
mod simplex;

pub use chart::{Chart, Look, Series};
pub use heat_map::HeatMap;
pub use sheet::Sheet;
pub use simplex::{Hull, Simplex};

use maud::{Markup, PreEscaped, html};

/// White around a figure that is a file of its own.
const MARGIN: f64 = 12.0;

/// A figure.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Its width in pixels of the page.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub description: String,
    /// The elements of it.
    pub(crate) body: Markup,
}

impl Drawing {
    /// The figure as a part of a page.
    pub(crate) fn inline(&self) -> Markup {
        let view = format!("0 0 {} {}", number(self.width), number(self.height));
        html! {
            svg.figure viewBox=(view) width=(number(self.width)) height=(number(self.height))
                role="img" aria-label=(self.description) {
                (self.body)
            }
        }
    }

    /// The figure as a file of its own, on white.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let size = |length: f64| number(length + 2.0 * MARGIN);
        let (width, height, edge) = (size(self.width), size(self.height), number(-MARGIN));
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" class="figure" width=(width) height=(height)
                viewBox={ (edge) " " (edge) " " (width) " " (height) } role="img" aria-label=(self.description) {
                style { (PreEscaped(include_str!("figure.css"))) }
                rect.paper x=(edge) y=(edge) width=(width) height=(height) {}
                (self.body)
            }
        };
        printable(&svg.into_string()) + "\n"
    }
}

/// Text without the characters that neither XML nor HTML may hold, whatever file they came from.
pub(crate) fn printable(text: &str) -> String {
    let forbidden = |letter: char| {
        matches!(letter, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
            || matches!(letter, '\u{fffe}' | '\u{ffff}')
    };
    text.chars().map(|letter| if forbidden(letter) { '\u{fffd}' } else { letter }).collect()
}

/// A coordinate: two digits behind the point are finer than any screen.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A name that fits beside a figure.
fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

/// About how wide a text is, at this size of its letters.
fn width_of(text: &str, size: f64) -> f64 {
    // Digits and small letters of most fonts are a little wider than half their size; those of East Asia are square.
    text.chars().map(|letter| if letter < '\u{1100}' { 0.58 } else { 1.0 }).sum::<f64>() * size
}
