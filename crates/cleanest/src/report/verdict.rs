//! The verdict in one sentence, and what to do about it.

use super::facts::Facts;
use super::words::{about, count, doubted, percent, plural, share};
use crate::audit::ListSize;
use crate::run::names;
use maud::{Markup, html};

/// Warnings that are told one by one.
const WARNINGS: usize = 5;

pub(super) fn section(facts: &Facts<'_>) -> Markup {
    html! {
        h1 id="verdict-heading" { (sentence(facts)) }
        (doubt(facts))
        (warnings(facts))
        (next(facts))
    }
}

/// About 412 ± 30 of 1,437 labels are wrong, 28.7 %.
fn sentence(facts: &Facts<'_>) -> Markup {
    let (wrong, examples) = (facts.audit.wrong, facts.audit.examples);
    if wrong.high < 0.5 {
        return html! { "Probably none of " (count(examples)) " labels is wrong." };
    }
    let verb = if wrong.expected.round() == 1.0 { "is" } else { "are" };
    html! {
        "About " strong { (doubted(wrong)) } " of " (count(examples)) " labels " (verb) " wrong, "
        strong { (percent(share(wrong.expected, examples as f64))) } "."
    }
}

/// What stands behind the sentence, and what is known to be true.
fn doubt(facts: &Facts<'_>) -> Markup {
    let audit = &facts.audit;
    html! {
        p.lead {
            "The number lies between " (about(audit.wrong.low)) " and " (about(audit.wrong.high))
            " with a probability of " (format!("{:.0}", 100.0 * audit.level)) "\u{a0}%, as far as the model is right."
            @if let Some(score) = &audit.score {
                " In truth " (plural(score.wrong, "label is", "labels are")) " wrong"
                ", which is " (if score.wrong_covered { "within" } else { "outside" }) " these bounds."
            }
        }
    }
}

/// What is to be known before the numbers are trusted.
fn warnings(facts: &Facts<'_>) -> Markup {
    let warnings = facts.audit.warnings();
    let more = warnings.len().saturating_sub(WARNINGS);
    html! {
        @for warning in warnings.iter().take(WARNINGS) { p.warning { strong { "Note: " } (warning) "." } }
        @if more > 0 { p.warning { "And " (plural(more, "such note more", "such notes more")) "." } }
    }
}

/// How far down the list one has to go.
fn next(facts: &Facts<'_>) -> Markup {
    if facts.audit.listed == 0 {
        return html! {};
    }
    let sizes = &facts.audit.to_check;
    html! {
        div.next {
            div {
                h2 { "What to do next" }
                p {
                    "Look at the suspects, most suspicious first: " a href="#suspects" { "the top of the list" }
                    " is below, and all " (count(facts.audit.listed)) " are in "
                    a href=(names::SUSPECTS) { (names::SUSPECTS) }
                    " beside this page, each with the label it should have."
                }
                p {
                    "To change the surest labels at once, " code { "cleanest audit --fix relabel --above 0.95" }
                    " writes a table of cleaned labels; " code { "--fix drop" } " leaves those examples out."
                }
            }
            @if !sizes.is_empty() { table.steps {
                caption { "How much of the list to check" }
                thead { tr {
                    th scope="col" .number { "Wrong labels found" }
                    th scope="col" .number { "Check the first" }
                    th scope="col" .number { "Of all" }
                } }
                tbody { @for size in sizes { (step(size, facts.audit.examples)) } }
            } }
        }
    }
}

fn step(size: &ListSize, examples: usize) -> Markup {
    html! {
        tr {
            th scope="row" .number { (format!("{:.0}", 100.0 * size.share)) "\u{a0}%" }
            td.number { (count(size.examples)) }
            td.number { (percent(share(size.examples as f64, examples as f64))) }
        }
    }
}
