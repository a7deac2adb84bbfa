//! How labels go wrong: the transition matrix, and the classes that are confused most.

use super::draw::HeatMap;
use super::facts::{Facts, matrix};
use super::words::{about, name, percent};
use maud::{Markup, html};

/// Confusions that are told in words.
const TOLD: usize = 8;
/// Up to this many classes every entry stands in the table of intervals; beyond, the largest ones.
const WHOLE: usize = 20;
/// Entries off the diagonal that a table of many classes has.
const LARGEST: usize = 60;

pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let record = &facts.audit.transition;
    let [values, low, high] = [&record.expected, &record.low, &record.high].map(|rows| matrix(rows));
    let estimated =
        HeatMap { title: "Estimated", names: &facts.names, values: &values, bounds: Some([&low, &high]) };
    html! {
        p {
            "A row is a true class, a column the label its examples are given; a cell is the share of the row in "
            "percent. Without noise only the diagonal would be filled."
            @if let Some(error) = average_tv(facts) {
                " Estimated and true rows differ by " strong { (percent(error)) }
                " on average (the average total variation)."
            }
        }
        div.figures {
            figure { (estimated.draw().inline()) }
            @if let Some(truth) = &facts.truth {
                @let drawn = HeatMap { title: "True", names: &facts.names, values: truth.matrix(), bounds: None };
                figure { (drawn.draw().inline()) }
            }
        }
        (confusions(facts))
        (intervals(facts))
    }
}

/// The paper's distance of the shown matrix to the true one.
fn average_tv(facts: &Facts<'_>) -> Option<f64> {
    let truth = facts.truth.as_ref()?;
    let pairs = facts.audit.transition.expected.iter().zip(truth.matrix().iter_rows());
    let differences = pairs.flat_map(|(ours, theirs)| ours.iter().zip(theirs)).map(|(a, b)| (a - b).abs());
    Some(0.5 * differences.sum::<f64>() / truth.classes() as f64)
}

/// Every pair of different classes, the largest number of examples first.
fn pairs(facts: &Facts<'_>) -> Vec<(usize, usize)> {
    let classes = facts.names.len();
    let mut pairs: Vec<(usize, usize)> = (0..classes)
        .flat_map(|from| (0..classes).map(move |to| (from, to)))
        .filter(|(a, b)| a != b)
        .collect();
    let joint = &facts.audit.joint;
    pairs.sort_by(|a, b| joint[b.0][b.1].total_cmp(&joint[a.0][a.1]));
    pairs
}

/// The largest confusions in words, each a way into the gallery.
fn confusions(facts: &Facts<'_>) -> Markup {
    let (joint, record) = (&facts.audit.joint, &facts.audit.transition);
    let told: Vec<(usize, usize)> =
        pairs(facts).into_iter().filter(|&(from, to)| joint[from][to] >= 0.5).take(TOLD).collect();
    let listed = |from: usize, to: usize| {
        let pair = (to as u32, from as u32);
        facts.suspects.iter().any(|suspect| (suspect.given, suspect.suggested) == pair)
    };
    html! {
        h3 { "Confused most" }
        @if told.is_empty() { p { "No two classes are confused." } }
        ol.confusions {
            @for (from, to) in told {
                li {
                    strong { (name(&facts.names[from])) } " is labeled " strong { (name(&facts.names[to])) }
                    " in about " (about(joint[from][to])) " of " (about(joint[from].iter().sum())) " cases, "
                    (percent(record.expected[from][to]))
                    span.quiet {
                        " (probably " (percent(record.low[from][to])) " to " (percent(record.high[from][to])) ")"
                    }
                    @if listed(from, to) {
                        " " a.show href="#suspects" data-given=(to) data-suggested=(from) {
                            "show"
                            span.hidden { " those labeled " (facts.names[to]) " that look like " (facts.names[from]) }
                        }
                    }
                }
            }
        }
    }
}

/// The entries of T with their bounds: what the heat map shows, to be read or copied.
fn intervals(facts: &Facts<'_>) -> Markup {
    let classes = facts.names.len();
    let record = &facts.audit.transition;
    let level = format!("{:.0}\u{a0}%", 100.0 * facts.audit.level);
    let entries: Vec<(usize, usize)> = if classes <= WHOLE {
        (0..classes).flat_map(|from| (0..classes).map(move |to| (from, to))).collect()
    } else {
        pairs(facts).into_iter().take(LARGEST).collect()
    };
    let truth = facts.truth.as_ref();
    html! {
        details {
            summary {
                @if classes <= WHOLE { "Every entry with its interval (" (level) ")" }
                @else { "The " (LARGEST) " largest confusions with their intervals (" (level) ")" }
            }
            div.wide role="region" aria-label="Table of the transition matrix" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "True class" }
                        th scope="col" { "Label given" }
                        th scope="col" .number { "Estimated" }
                        th scope="col" .number { "Probably" }
                        @if truth.is_some() { th scope="col" .number { "True" } }
                    } }
                    tbody { @for (from, to) in entries { tr {
                        th scope="row" { (name(&facts.names[from])) }
                        td { (name(&facts.names[to])) }
                        td.number { (percent(record.expected[from][to])) }
                        td.number.quiet { (percent(record.low[from][to])) " to " (percent(record.high[from][to])) }
                        @if let Some(truth) = truth { td.number { (percent(truth.row(from)[to])) } }
                    } } }
                }
            }
        }
    }
}
