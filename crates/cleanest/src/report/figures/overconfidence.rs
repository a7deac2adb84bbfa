//! What the toy shows: networks are surer of noisy labels than the truth allows, and anchor points believe them.

use super::toy::{Rows, Toy};
use super::{classes, rows_of};
use crate::Error;
use crate::report::draw::{Chart, Drawing, Hull, Look, Series, Sheet, Simplex};

/// Edges of the histogram of entropies, from 0 to that of three equal probabilities.
const EDGES: usize = 20;

/// True posteriors and those of networks in the triangle, for clean and for noisy labels.
pub(super) fn posteriors(title: &str, seed: u64) -> Result<Drawing, Error> {
    let toy = Toy::new(seed)?;
    let truth = Hull { name: "rows of the true T", rows: rows_of(&toy.truth), is_true: true };
    let panel = |rows: &Rows, hulls: Vec<Hull<'_>>| Some(scatter(&toy, rows, hulls));
    let row = |name: &str, [of_bayes, of_network]: &[Rows; 2], hulls: &[Hull<'_>]| {
        (name.to_owned(), vec![panel(of_bayes, hulls.to_vec()), panel(of_network, hulls.to_vec())])
    };
    let rows = vec![row("clean labels", &toy.clean, &[]), row("noisy labels", &toy.noisy, &[truth])];
    Ok(Sheet { title: title.to_owned(), columns: columns(), rows, width: 330.0 }.draw())
}

/// How entropies are distributed, for the points of each class.
pub(super) fn entropies(title: &str, seed: u64) -> Result<Drawing, Error> {
    let toy = Toy::new(seed)?;
    let chart = |class: u32, [of_bayes, of_network]: &[Rows; 2]| {
        let series = |name: &str, look: Look, rows: &Rows| {
            let here =
                rows.iter().zip(&toy.classes).filter(|(_, at)| **at == class).map(|(row, _)| entropy(row));
            Series::line(name, look, histogram(here))
        };
        let series = vec![series("true", Look::Dashed, of_bayes), series("network", Look::Solid, of_network)];
        Chart {
            title: String::new(),
            across: "entropy".to_owned(),
            percent: (false, true),
            range: Some((0.0, 1.0)),
            marks: Vec::new(),
            series,
        }
        .draw()
    };
    let row = |name: &str, pair: &[Rows; 2]| {
        (name.to_owned(), (0..3).map(|class| Some(chart(class, pair))).collect::<Vec<_>>())
    };
    let rows = vec![row("clean labels", &toy.clean), row("noisy labels", &toy.noisy)];
    Ok(Sheet { title: title.to_owned(), columns: classes().to_vec(), rows, width: 300.0 }.draw())
}

/// The triangle of the true noise, and the one that anchor points of the network span.
pub(super) fn hulls(title: &str, seed: u64) -> Result<Drawing, Error> {
    let toy = Toy::new(seed)?;
    let hulls = || {
        vec![
            Hull { name: "rows of the true T", rows: rows_of(&toy.truth), is_true: true },
            Hull { name: "rows of T by anchor points", rows: rows_of(&toy.estimated), is_true: false },
        ]
    };
    let panels = toy.noisy.iter().map(|rows| Some(scatter(&toy, rows, hulls()))).collect();
    Ok(Sheet {
        title: title.to_owned(),
        columns: columns(),
        rows: vec![(String::new(), panels)],
        width: 330.0,
    }
    .draw())
}

fn columns() -> Vec<String> {
    vec!["by Bayes".to_owned(), "by a network".to_owned()]
}

/// Points in the triangle, each by the class that Bayes holds most probable.
fn scatter(toy: &Toy, rows: &Rows, hulls: Vec<Hull<'_>>) -> Drawing {
    let class = |p: &[f64; 3]| (0..3).fold(0, |best, class| if p[class] > p[best] { class } else { best });
    let points = rows.iter().zip(&toy.clean[0]).map(|(&row, truth)| (row, class(truth))).collect();
    Simplex { title: "", names: classes(), points, hulls }.draw()
}

fn entropy(row: &[f64; 3]) -> f64 {
    row.iter().map(|&p| if p > 0.0 { -p * p.ln() } else { 0.0 }).sum()
}

/// Shares of numbers between edges, as the outline of a histogram.
fn histogram(numbers: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let bins = EDGES - 1;
    let (mut counts, mut whole) = (vec![0.0; bins], 0.0);
    for number in numbers {
        counts[((number / 3_f64.ln() * bins as f64) as usize).min(bins - 1)] += 1.0;
        whole += 1.0;
    }
    let edge = |at: usize| 3_f64.ln() * at as f64 / bins as f64;
    let outline = |(at, &count): (usize, &f64)| {
        let share = count / f64::max(whole, 1.0);
        [(edge(at), share), (edge(at + 1), share)]
    };
    counts.iter().enumerate().flat_map(outline).collect()
}
