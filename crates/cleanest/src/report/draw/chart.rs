//! Lines and points over an axis.

use super::scale::{Scale, round_range, tick_text};
use super::{Drawing, number, width_of};
use maud::{Markup, html};

const WIDTH: f64 = 335.0;
const HEIGHT: f64 = 246.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 42.0;
const TEXT: f64 = 12.0;
/// Height of a line of the legend.
const LINE: f64 = 17.0;

/// How a series is drawn: what differs in color differs in its strokes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line in the first color.
    Solid,
    /// A broken line in the second color.
    Dashed,
    /// A dotted gray line: something to compare with.
    Dotted,
    /// Points in the first color, sized by how much they stand for.
    Points,
}

/// Numbers that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// How they are drawn.
    pub look: Look,
    /// Their places: x, y.
    pub points: Vec<(f64, f64)>,
    /// How much each point stands for; empty if all are alike.
    pub weights: Vec<f64>,
}

/// Some series over one axis.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// What runs to the right.
    pub across: String,
    /// Whether the numbers are shares, shown in percent, from x and y.
    pub percent: (bool, bool),
    /// The range of y, where it does not follow from the numbers.
    pub range: Option<(f64, f64)>,
    /// Places along x where something begins.
    pub marks: Vec<f64>,
    /// The series.
    pub series: Vec<Series>,
}

impl Series {
    /// A line through points.
    #[must_use]
    pub fn line(name: &str, look: Look, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), look, points, weights: Vec::new() }
    }
}

impl Chart {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let lines = self.legend_rows();
        let top = 32.0 + LINE * lines.len() as f64;
        let all = || self.series.iter().flat_map(|series| &series.points);
        let ends = all().map(|point| point.0).filter(|x| x.is_finite());
        let ends = ends.fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let range = self.range.unwrap_or_else(|| round_range(all().map(|point| point.1), 4));
        let x = Scale::new(ends, (LEFT, WIDTH - RIGHT));
        let y = Scale::new(range, (HEIGHT - BOTTOM, top));
        let body = html! {
            text.ink.title x="0" y="15" font-size="14" { (self.title) }
            (legend(&lines))
            (self.axes(&x, &y))
            @for &mark in &self.marks {
                line.mark x1=(number(x.place(mark))) x2=(number(x.place(mark))) y1=(number(top)) y2=(HEIGHT - BOTTOM) {}
            }
            @for series in &self.series { (drawn(series, &x, &y)) }
        };
        Drawing { width: WIDTH, height: HEIGHT, description: self.description(), body }
    }

    fn axes(&self, x: &Scale, y: &Scale) -> Markup {
        let (across, up) = (x.ticks(4), y.ticks(4));
        let floor = HEIGHT - BOTTOM;
        html! {
            @for &tick in &up {
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(number(y.place(tick))) y2=(number(y.place(tick))) {}
                text.quiet x=(LEFT - 7.0) y=(number(y.place(tick) + 4.0)) font-size="11" text-anchor="end" {
                    (tick_text(tick, &up, self.percent.1))
                }
            }
            line.axis x1=(LEFT) x2=(WIDTH - RIGHT) y1=(floor) y2=(floor) {}
            @for &tick in &across {
                line.axis x1=(number(x.place(tick))) x2=(number(x.place(tick))) y1=(floor) y2=(floor + 4.0) {}
                text.quiet x=(number(x.place(tick))) y=(floor + 17.0) font-size="11" text-anchor="middle" {
                    (tick_text(tick, &across, self.percent.0))
                }
            }
            text.quiet x=((LEFT + WIDTH - RIGHT) / 2.0) y=(HEIGHT - 5.0) font-size=(TEXT) text-anchor="middle" {
                (self.across)
            }
        }
    }

    /// The series in rows that are not wider than the chart; none for a single line without a name.
    fn legend_rows(&self) -> Vec<Vec<(f64, &Series)>> {
        let mut rows: Vec<Vec<(f64, &Series)>> = Vec::new();
        let mut at = WIDTH;
        for series in self.series.iter().filter(|series| !series.name.is_empty()) {
            let width = 30.0 + width_of(&series.name, TEXT) + 14.0;
            if at + width > WIDTH {
                rows.push(Vec::new());
                at = 0.0;
            }
            rows.last_mut().into_iter().for_each(|row| row.push((at, series)));
            at += width;
        }
        rows
    }

    fn description(&self) -> String {
        let end = |series: &Series| {
            let &(x, y) = series.points.last()?;
            let y = if self.percent.1 { format!("{:.1} %", 100.0 * y) } else { format!("{y:.3}") };
            let x = if self.percent.0 { format!("{:.0} %", 100.0 * x) } else { format!("{x}") };
            Some(format!("{} ends at {y} ({} {x})", series.name, self.across))
        };
        let lines = self.series.iter().filter(|series| matches!(series.look, Look::Solid | Look::Dashed));
        let ends: Vec<String> = lines.filter_map(end).collect();
        if ends.is_empty() { self.title.clone() } else { format!("{}: {}", self.title, ends.join("; ")) }
    }
}

/// The class of a series.
fn class(look: Look) -> &'static str {
    match look {
        Look::Solid => "solid",
        Look::Dashed => "dashed",
        Look::Dotted => "dotted",
        Look::Points => "points",
    }
}

fn legend(rows: &[Vec<(f64, &Series)>]) -> Markup {
    html! {
        @for (at, row) in rows.iter().enumerate() {
            @let y = 34.0 + LINE * at as f64;
            @for (x, series) in row {
                @if series.look == Look::Points {
                    circle.points cx=(number(x + 12.0)) cy=(y - 4.0) r="4" {}
                } @else {
                    line class=(class(series.look)) x1=(number(*x)) x2=(number(x + 24.0)) y1=(y - 4.0) y2=(y - 4.0) {}
                }
                text.ink x=(number(x + 30.0)) y=(y) font-size=(TEXT) { (series.name) }
            }
        }
    }
}

fn drawn(series: &Series, x: &Scale, y: &Scale) -> Markup {
    let places: Vec<(f64, f64)> = series
        .points
        .iter()
        .filter(|point| point.0.is_finite() && point.1.is_finite())
        .map(|point| (x.place(point.0), y.place(point.1)))
        .collect();
    if series.look == Look::Points {
        let most = series.weights.iter().copied().fold(1.0, f64::max);
        let radius = |at: usize| 2.5 + 7.0 * (series.weights.get(at).copied().unwrap_or(0.0) / most).sqrt();
        return html! {
            @for (at, (x, y)) in places.iter().enumerate() {
                circle.points cx=(number(*x)) cy=(number(*y)) r=(number(radius(at))) {}
            }
        };
    }
    let line: Vec<String> = places.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    html! {
        polyline class=(class(series.look)) points=(line.join(" ")) {}
        // A line of one point would not be seen.
        @if let [(x, y)] = places[..] { circle.points cx=(number(x)) cy=(number(y)) r="3" {} }
    }
}
