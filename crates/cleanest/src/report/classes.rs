//! Class by class: how many there are, how many labels of it are wrong, how many of it have another label.

use super::facts::Facts;
use super::words::{about, bar, bounds, count, name, percent, share};
use crate::audit::{ClassRecord, Estimate};
use maud::{Markup, html};

/// More classes than this are cut in two: those with the most wrong labels, and the others.
const SHOWN: usize = 30;
const WORST: usize = 20;

pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let mut classes: Vec<&ClassRecord> = facts.audit.classes.iter().collect();
    let is_cut = classes.len() > SHOWN;
    if is_cut {
        classes.sort_by(|a, b| b.wrong.expected.total_cmp(&a.wrong.expected));
    }
    let (first, others) = classes.split_at(if is_cut { WORST } else { classes.len() });
    html! {
        p {
            "Noise " strong { "in" } ": of the examples that have the label, those of another class. Noise "
            strong { "out" } ": of the examples of the class, those that have another label."
            @if is_cut { " These are the " (WORST) " classes with the most wrong labels." }
        }
        (table(first))
        @if is_cut { details { summary { "The other " (others.len()) " classes" } (table(others)) } }
    }
}

fn table(classes: &[&ClassRecord]) -> Markup {
    html! {
        div.wide role="region" aria-label="Table of the classes" tabindex="0" {
            table {
                thead {
                    tr {
                        th scope="col" rowspan="2" { "Class" }
                        th scope="col" rowspan="2" .number { "Labels given" }
                        th scope="col" rowspan="2" .number { "Truly of it, about" }
                        th scope="colgroup" colspan="3" .group { "Noise in: labels that are wrong" }
                        th scope="colgroup" colspan="3" .group { "Noise out: examples with another label" }
                    }
                    tr {
                        @for _ in 0..2 {
                            th scope="col" .number { "about" }
                            th scope="col" .number { "probably" }
                            th scope="col" .number { "share" }
                        }
                    }
                }
                tbody { @for class in classes { (row(class)) } }
            }
        }
    }
}

fn row(class: &ClassRecord) -> Markup {
    html! {
        tr {
            th scope="row" { (name(&class.name)) }
            td.number { (count(class.given)) }
            td.number { (about(class.true_examples)) }
            (noise(class.wrong, class.given as f64))
            (noise(class.missed, class.true_examples))
        }
    }
}

fn noise(part: Estimate, whole: f64) -> Markup {
    let share = share(part.expected, whole).clamp(0.0, 1.0);
    html! {
        td.number { (about(part.expected)) }
        td.number.quiet { (bounds(part)) }
        td.number {
            (bar(share)) " " (percent(share))
        }
    }
}
