//! A transition matrix as a heat map: how dark a cell is says how probable, and so does the number in it.

use super::{Drawing, number, shortened, width_of};
use cleanest_core::Matrix;
use maud::{Markup, html};

/// Up to this many classes there is a number in each cell.
const NUMBERED: usize = 20;
/// Up to this many classes every cell is drawn; beyond, those of less than a hundredth are left blank.
const WHOLE: usize = 30;
/// Letters of a class name beside the matrix.
const LETTERS: usize = 12;
/// From this probability on, the cell is so dark that its number is light. With the accents of `page.css` and
/// `figure.css` every number has a contrast of 4.5 to its cell, in light and dark.
const DENSE: f64 = 0.73;
const TEXT: f64 = 12.0;

/// Probabilities of labels (columns) for true classes (rows).
#[derive(Clone, Copy, Debug)]
pub struct HeatMap<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// The names of the classes.
    pub names: &'a [String],
    /// The probabilities.
    pub values: &'a Matrix,
    /// Between which bounds each probably lies, where that is known.
    pub bounds: Option<[&'a Matrix; 2]>,
}

/// Where the cells lie.
struct Grid {
    classes: usize,
    cell: f64,
    left: f64,
    top: f64,
    /// What names may take beyond the last column.
    right: f64,
    /// Whether the names above the columns have room to stand upright.
    upright: bool,
}

impl HeatMap<'_> {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let grid = self.grid();
        let side = grid.cell * grid.classes as f64;
        let (width, height) = (grid.left + (side + grid.right).max(210.0), grid.top + side + 50.0);
        let body = html! {
            text.ink.title x=(number(grid.left)) y="16" font-size="14" { (self.title) }
            rect.frame x=(number(grid.left)) y=(number(grid.top)) width=(number(side)) height=(number(side)) {}
            @for row in 0..grid.classes {
                @for column in 0..grid.classes { (self.cell(&grid, row, column)) }
            }
            @for class in (0..grid.classes).step_by(grid.stride()) { (self.names_of(&grid, class)) }
            text.quiet x=(number(grid.left + side / 2.0)) y=(number(grid.top + side + 18.0)) font-size=(TEXT)
                text-anchor="middle" { "label given" }
            (sideways(14.0, grid.top + side / 2.0))
            (legend(grid.left, grid.top + side + 30.0, grid.shade()))
        };
        Drawing { width, height, description: self.description(), body }
    }

    /// Draws its cells alone, in a square, to be one of many.
    #[must_use]
    pub fn bare(&self) -> Drawing {
        const SIDE: f64 = 160.0;
        let classes = self.values.rows().max(1);
        let cell = SIDE / classes as f64;
        let shade: fn(f64) -> f64 = if classes > WHOLE { f64::sqrt } else { |value| value };
        let body = html! {
            rect.frame x="0" y="0" width=(number(SIDE)) height=(number(SIDE)) {}
            @for row in 0..classes {
                @for column in (0..classes).filter(|&column| self.values[(row, column)] >= 0.005) {
                    rect.heat x=(number(column as f64 * cell)) y=(number(row as f64 * cell)) width=(number(cell))
                        height=(number(cell)) fill-opacity=(number(shade(self.values[(row, column)]))) {}
                }
            }
        };
        Drawing { width: SIDE, height: SIDE, description: self.description(), body }
    }

    fn grid(&self) -> Grid {
        let classes = self.values.rows();
        let cell = match classes {
            0..=4 => 56.0,
            5..=12 => 36.0,
            13..=NUMBERED => 28.0,
            21..=WHOLE => 16.0,
            _ => (400.0 / classes as f64).max(2.0),
        };
        let widest =
            self.names.iter().map(|name| width_of(&shortened(name, LETTERS), TEXT)).fold(0.0, f64::max);
        let upright = widest <= cell - 4.0;
        let (above, right) = if upright { (16.0, 4.0) } else { (0.72 * widest + 16.0, 0.72 * widest) };
        Grid { classes, cell, left: 30.0 + widest, top: 26.0 + above, right, upright }
    }

    fn cell(&self, grid: &Grid, row: usize, column: usize) -> Markup {
        let value = self.values[(row, column)];
        if grid.classes > WHOLE && value < 0.01 {
            return html! {};
        }
        let (x, y) = (grid.left + column as f64 * grid.cell, grid.top + row as f64 * grid.cell);
        let gap = if grid.cell > 8.0 { 1.0 } else { 0.0 };
        let size = number(grid.cell - gap);
        let tone = if value >= DENSE { "on-dense" } else { "on-faint" };
        html! {
            rect.heat x=(number(x + gap / 2.0)) y=(number(y + gap / 2.0)) width=(size) height=(size)
                fill-opacity=(number((grid.shade())(value))) {
                title { (self.said(row, column)) }
            }
            @if grid.classes <= NUMBERED && value >= 0.005 {
                text class=(tone) x=(number(x + grid.cell / 2.0)) y=(number(y + grid.cell / 2.0 + 4.0))
                    font-size=(TEXT) text-anchor="middle" { (format!("{:.0}", 100.0 * value)) }
            }
        }
    }

    /// A cell in words.
    fn said(&self, row: usize, column: usize) -> String {
        let percent = |matrix: &Matrix| format!("{:.1}", 100.0 * matrix[(row, column)]);
        let bounds = self.bounds.map_or(String::new(), |[low, high]| {
            format!(" (probably {} to {} %)", percent(low), percent(high))
        });
        format!(
            "true {}, labeled {}: {} %{bounds}",
            self.names[row],
            self.names[column],
            percent(self.values)
        )
    }

    /// The name of a class at its row and above its column.
    fn names_of(&self, grid: &Grid, class: usize) -> Markup {
        let name = shortened(&self.names[class], LETTERS);
        let middle = (class as f64 + 0.5) * grid.cell;
        let (x, y) = (grid.left + middle, grid.top - 7.0);
        let turned = (!grid.upright).then(|| format!("rotate(-45 {} {})", number(x), number(y)));
        html! {
            text.ink x=(number(grid.left - 7.0)) y=(number(grid.top + middle + 4.0)) font-size=(TEXT)
                text-anchor="end" { (name) }
            text.ink x=(number(x)) y=(number(y)) font-size=(TEXT) transform=[&turned]
                text-anchor=(if grid.upright { "middle" } else { "start" }) { (name) }
        }
    }

    fn description(&self) -> String {
        let classes = self.values.rows();
        let mean = (0..classes).map(|class| self.values[(class, class)]).sum::<f64>() / classes.max(1) as f64;
        format!(
            "{}: heat map of {classes} true classes by {classes} labels; on average a class keeps its label in {:.1} %",
            self.title,
            100.0 * mean
        )
    }
}

impl Grid {
    /// Every how many classes there is room for a name.
    fn stride(&self) -> usize {
        ((TEXT + 4.0) / self.cell).ceil() as usize
    }

    /// How dark a probability is: of many classes each confusion is small, and would not be seen in proportion.
    fn shade(&self) -> fn(f64) -> f64 {
        if self.classes > WHOLE { f64::sqrt } else { |value| value }
    }
}

fn sideways(x: f64, y: f64) -> Markup {
    let turned = format!("rotate(-90 {} {})", number(x), number(y));
    html! {
        text.quiet x=(number(x)) y=(number(y)) font-size=(TEXT) text-anchor="middle" transform=(turned) {
            "true class"
        }
    }
}

/// Which shade is which probability.
fn legend(x: f64, y: f64, shade: fn(f64) -> f64) -> Markup {
    html! {
        text.quiet x=(number(x)) y=(number(y + 10.0)) font-size="11" { "0 %" }
        @for at in 0..=10 {
            rect.heat x=(number(x + 28.0 + 12.0 * f64::from(at))) y=(number(y)) width="12" height="12"
                fill-opacity=(number(shade(f64::from(at) / 10.0))) {}
        }
        text.quiet x=(number(x + 166.0)) y=(number(y + 10.0)) font-size="11" { "100 %" }
    }
}
