//! Several figures in rows and columns, as one.

use super::{Drawing, number};
use maud::{PreEscaped, html};

const TEXT: f64 = 13.0;
const GAP: f64 = 14.0;
const LEFT: f64 = 118.0;
const TOP: f64 = 52.0;

/// Figures in rows and columns, each row and column with its name.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// What stands above it.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with its name; none where there is nothing to show.
    pub rows: Vec<(String, Vec<Option<Drawing>>)>,
    /// How wide a column is.
    pub width: f64,
}

impl Sheet {
    /// Draws it: every figure as wide as its column.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let scaled = |drawing: &Drawing| drawing.height * self.width / drawing.width;
        let height = |(_, cells): &(String, Vec<Option<Drawing>>)| {
            cells.iter().flatten().map(scaled).fold(0.0, f64::max) + GAP
        };
        let left = if self.rows.iter().all(|(name, _)| name.is_empty()) { 0.0 } else { LEFT };
        let x = |column: usize| left + column as f64 * (self.width + GAP);
        let mut y = TOP;
        let mut body = String::new();
        for row in &self.rows {
            let whole = height(row);
            let markup = html! {
                text.ink x="0" y=(number(y + whole / 2.0)) font-size=(TEXT) { (row.0) }
                @for (column, drawing) in row.1.iter().enumerate() {
                    @if let Some(drawing) = drawing {
                        svg x=(number(x(column))) y=(number(y)) width=(number(self.width)) height=(number(scaled(drawing)))
                            viewBox={ "0 0 " (number(drawing.width)) " " (number(drawing.height)) } {
                            (drawing.body)
                        }
                    }
                }
            };
            body += &markup.into_string();
            y += whole;
        }
        let head = html! {
            text.ink.title x="0" y="16" font-size="15" { (self.title) }
            @for (column, name) in self.columns.iter().enumerate() {
                text.ink x=(number(x(column) + self.width / 2.0)) y=(TOP - 9.0) font-size=(TEXT) text-anchor="middle" {
                    (name)
                }
            }
        };
        let shown = self.rows.iter().flat_map(|(_, cells)| cells.iter().flatten());
        let parts: Vec<&str> = shown.map(|drawing| drawing.description.as_str()).collect();
        Drawing {
            width: x(self.columns.len()) - GAP,
            height: y,
            description: format!("{}: {}", self.title, parts.join("; ")),
            body: PreEscaped(head.into_string() + &body),
        }
    }
}
