//! Distributions over three classes as points of a triangle, and the triangles that the rows of transition matrices
//! span in it: the paper's Figures 2 and 3.

use super::{Drawing, number, shortened};
use maud::{Markup, html};

const SIDE: f64 = 380.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 54.0;
const TEXT: f64 = 13.0;
/// More points than this would only hide each other.
const MOST: usize = 2000;

/// Distributions over three classes.
#[derive(Clone, Debug)]
pub struct Simplex<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// The names of the classes.
    pub names: [String; 3],
    /// Distributions, each with the class its point is drawn for.
    pub points: Vec<([f64; 3], usize)>,
    /// Triangles that rows of transition matrices span.
    pub hulls: Vec<Hull<'a>>,
}

/// The convex hull of three distributions.
#[derive(Clone, Copy, Debug)]
pub struct Hull<'a> {
    /// What it is.
    pub name: &'a str,
    /// Its corners.
    pub rows: [[f64; 3]; 3],
    /// Whether it is what was estimated or what is known to be true: a full or a broken line.
    pub is_true: bool,
}

impl Simplex<'_> {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let height = SIDE * 3_f64.sqrt() / 2.0;
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let stride = self.points.len().div_ceil(MOST).max(1);
        let body = html! {
            text.ink.title x="0" y="16" font-size="14" { (self.title) }
            polygon.frame points=(polygon(&corners)) {}
            @for (point, class) in self.points.iter().step_by(stride) { (mark(place(point), *class, 2.4)) }
            @for hull in &self.hulls {
                polygon class=(if hull.is_true { "hull true" } else { "hull" }) points=(polygon(&hull.rows)) {}
                @for (class, row) in hull.rows.iter().enumerate() { (mark(place(row), class, 5.0)) }
            }
            @for (class, corner) in corners.iter().enumerate() { (self.name(class, place(corner))) }
            (self.legend(TOP + height + 50.0))
        };
        let legend = 20.0 * (self.hulls.len() + 1) as f64;
        Drawing {
            width: SIDE + 2.0 * LEFT,
            height: TOP + height + 44.0 + legend,
            description: self.description(),
            body,
        }
    }

    fn name(&self, class: usize, (x, y): (f64, f64)) -> Markup {
        let y = if class == 2 { y - 14.0 } else { y + 24.0 };
        let name = shortened(&self.names[class], 16);
        html! {
            (mark((x - 0.29 * TEXT * name.chars().count() as f64 - 9.0, y - 4.0), class, 4.0))
            text.ink x=(number(x)) y=(number(y)) font-size=(TEXT) text-anchor="middle" { (name) }
        }
    }

    fn legend(&self, top: f64) -> Markup {
        html! {
            @for (at, hull) in self.hulls.iter().enumerate() {
                @let y = top + 20.0 * at as f64;
                line class=(if hull.is_true { "hull true" } else { "hull" }) x1=(LEFT) x2=(LEFT + 30.0)
                    y1=(number(y)) y2=(number(y)) {}
                text.ink x=(LEFT + 38.0) y=(number(y + 4.0)) font-size=(TEXT) { (hull.name) }
            }
            @let y = top + 20.0 * self.hulls.len() as f64;
            @if !self.points.is_empty() {
                @for class in 0..3_u8 { (mark((LEFT + 4.0 + 11.0 * f64::from(class), y), usize::from(class), 3.0)) }
                text.ink x=(LEFT + 38.0) y=(number(y + 4.0)) font-size=(TEXT) {
                    "an example, by its most probable class"
                }
            }
        }
    }

    fn description(&self) -> String {
        let hulls: Vec<&str> = self.hulls.iter().map(|hull| hull.name).collect();
        format!(
            "{}: {} examples in the triangle of {}; {}",
            self.title,
            self.points.len(),
            self.names.join(", "),
            hulls.join(", ")
        )
    }
}

/// The classes at the left, the right and the top.
fn place(point: &[f64; 3]) -> (f64, f64) {
    let height = SIDE * 3_f64.sqrt() / 2.0;
    (LEFT + SIDE * (point[1] + point[2] / 2.0), TOP + height * (1.0 - point[2]))
}

fn polygon(corners: &[[f64; 3]]) -> String {
    let text = |corner: &[f64; 3]| {
        let (x, y) = place(corner);
        format!("{},{}", number(x), number(y))
    };
    corners.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Each class has a shape beside its color: a disk, a square, a triangle.
fn mark((x, y): (f64, f64), class: usize, size: f64) -> Markup {
    let corner = |dx: f64, dy: f64| format!("{},{}", number(x + size * dx), number(y + size * dy));
    html! {
        @match class {
            0 => circle.class-0 cx=(number(x)) cy=(number(y)) r=(number(size)) {},
            1 => rect.class-1 x=(number(x - 0.9 * size)) y=(number(y - 0.9 * size))
                width=(number(1.8 * size)) height=(number(1.8 * size)) {},
            _ => polygon.class-2
                points={ (corner(0.0, -1.25)) " " (corner(1.1, 0.7)) " " (corner(-1.1, 0.7)) } {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn without_noise_the_hull_is_the_whole_triangle() {
        let hulls = vec![Hull { name: "T", rows: CORNERS, is_true: false }];
        let names = ["a", "b", "c"].map(str::to_owned);
        let svg = Simplex { title: "", names, points: Vec::new(), hulls }.draw().to_svg();
        assert_eq!(svg.matches(&format!("points=\"{}\"", polygon(&CORNERS))).count(), 2);
    }

    #[test]
    fn all_sides_are_alike_and_what_is_unknown_lies_in_the_middle() {
        let [a, b, c] = [0, 1, 2].map(|corner| place(&CORNERS[corner]));
        let length = |(x, y): (f64, f64), (u, v): (f64, f64)| (x - u).hypot(y - v);
        assert!((length(a, b) - length(b, c)).abs() < 1e-9 && (length(b, c) - length(c, a)).abs() < 1e-9);
        let middle = place(&[1.0 / 3.0; 3]);
        assert!((length(middle, a) - length(middle, c)).abs() < 1e-9);
    }
}
