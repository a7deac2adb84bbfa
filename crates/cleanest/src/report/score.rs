//! How the audit did, where the truth is known.

use super::draw::{Chart, Look, Series};
use super::facts::Facts;
use super::words::{count, percent};
use crate::audit::AuditScore;
use maud::{Markup, html};

pub(super) fn section(facts: &Facts<'_>) -> Option<Markup> {
    let score = facts.audit.score.as_ref()?;
    Some(html! {
        p { "The true labels are known here, so that what was found can be held against them." }
        div.figures {
            div { (numbers(score)) }
            div { (precision(score)) }
            figure {
                (calibration(score).draw().inline())
                figcaption.quiet {
                    "On the diagonal, of the examples said to be wrong with 70\u{a0}%, 70\u{a0}% are. A larger point "
                    "stands for more examples."
                }
            }
        }
    })
}

fn numbers(score: &AuditScore) -> Markup {
    let line = |what: &str, number: String| html! { tr { th scope="row" { (what) } td.number { (number) } } };
    html! {
        table.facts {
            caption { "The list and its suggestions" }
            tbody {
                (line("Labels that are wrong", count(score.wrong)))
                (line("Average precision of the ranking", format!("{:.3}", score.average_precision)))
                (line("Right suggestions, of the wrong labels", percent(score.suggestions_right)))
                (line("Right labels, as given", percent(score.right_before)))
                (line("Right labels, after every suggestion", percent(score.right_after)))
                (line("Calibration error of P(wrong)", format!("{:.3}", score.calibration_error)))
                @if let Some(covered) = score.transition_covered {
                    (line("Entries of T within their intervals", percent(covered)))
                }
            }
        }
    }
}

fn precision(score: &AuditScore) -> Markup {
    html! {
        table.facts {
            caption { "Wrong labels at the top of the list" }
            thead { tr { th scope="col" { "Of the first" } th scope="col" .number { "are wrong" } } }
            tbody { @for at in &score.precision_at {
                tr { th scope="row" { (count(at.examples)) } td.number { (percent(at.precision)) } }
            } }
        }
    }
}

fn calibration(score: &AuditScore) -> Chart {
    let bins: Vec<_> = score.calibration.iter().filter(|bin| bin.examples > 0).collect();
    let points = Series {
        name: "bins of examples".to_owned(),
        look: Look::Points,
        points: bins.iter().map(|bin| (bin.expected, bin.wrong)).collect(),
        weights: bins.iter().map(|bin| bin.examples as f64).collect(),
    };
    let ideal = Series::line("as it should be", Look::Dotted, vec![(0.0, 0.0), (1.0, 1.0)]);
    Chart {
        title: "Calibration: share that is wrong".to_owned(),
        across: "P(wrong), as said".to_owned(),
        percent: (true, true),
        range: Some((0.0, 1.0)),
        marks: Vec::new(),
        series: vec![ideal, points],
    }
}
