//! The most suspicious examples, to look at.

use super::evidence::{Evidence, Line};
use super::facts::Facts;
use super::thumbnail::Thumbnail;
use super::words::{bar, count, name, probability};
use crate::audit::Suspect;
use crate::run::names;
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Examples that are shown; the list has them all.
const MOST: usize = 200;
/// Of those, so many from the top of the list; the others are the first of each confusion, so that all are seen.
const TOP: usize = 100;
/// Bytes of examples after which no more are shown, so that the page opens at once.
const LARGEST: usize = 2_500_000;

/// Which suspects are shown: the most suspicious ones, and the first of each pair of label and suggestion, beginning
/// with the pairs that are seen most often.
pub(super) fn chosen(suspects: &[Suspect]) -> Vec<Suspect> {
    let pair = |suspect: &Suspect| (suspect.given, suspect.suggested);
    let mut sizes: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    suspects.iter().for_each(|suspect| *sizes.entry(pair(suspect)).or_default() += 1);
    let mut seen: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mut order = |(at, suspect): (usize, &Suspect)| {
        let of_pair = seen.entry(pair(suspect)).or_default();
        *of_pair += 1;
        let turn = if at < TOP { 0 } else { *of_pair };
        (turn, Reverse(sizes[&pair(suspect)]), at)
    };
    let mut order: Vec<_> = suspects.iter().enumerate().map(&mut order).collect();
    order.sort_unstable();
    let mut places: Vec<usize> = order.into_iter().take(MOST).map(|(.., at)| at).collect();
    places.sort_unstable();
    places.into_iter().map(|at| suspects[at].clone()).collect()
}

pub(super) fn section(facts: &Facts<'_>) -> Markup {
    if facts.suspects.is_empty() {
        return html! { p { "No label is suspicious enough to be listed." } };
    }
    let (entries, is_shown) = entries(facts, &facts.suspects);
    let shown = &facts.suspects[..entries.len()];
    html! {
        p {
            @if shown.len() < facts.audit.listed {
                (count(shown.len())) " of " (count(facts.audit.listed)) ", most suspicious first: the top of the list, "
                "and the first of each confusion. All are in " a href=(names::SUSPECTS) { (names::SUSPECTS) } "."
            } @else { "All of them, most suspicious first." }
            @if !is_shown { " " (why_not_shown(facts)) }
        }
        (filter(facts, shown))
        @if is_shown { ol.gallery { @for entry in &entries { (entry) } } }
        @else { (table(&entries)) }
        p { button type="button" id="more" hidden {} }
        p.nothing hidden { "None of these examples has that label and that suggestion." }
    }
}

/// An entry for each example, with its picture or its numbers where they are at hand.
fn entries(facts: &Facts<'_>, top: &[Suspect]) -> (Vec<Markup>, bool) {
    let Some(data) = facts.data else {
        return (top.iter().map(|suspect| row(facts, suspect)).collect(), false);
    };
    let evidence = Evidence::new(data, top);
    let mut bytes = 0;
    let fits = |card: &Markup| {
        bytes += card.0.len();
        bytes <= LARGEST
    };
    let card = |suspect| card(facts, suspect, Thumbnail::of(data, suspect.row), evidence.as_ref());
    (top.iter().map(card).take_while(fits).collect(), true)
}

fn why_not_shown(facts: &Facts<'_>) -> &'static str {
    if facts.config.is_some() {
        "The data were not at hand when this page was made, so that the examples are named but not shown."
    } else {
        "The audit was given probabilities and labels, not the examples themselves: they are named but not shown."
    }
}

/// What the script shows: without it there is nothing to choose.
fn filter(facts: &Facts<'_>, shown: &[Suspect]) -> Markup {
    let choice = |label: &str, id: &str, classes: BTreeSet<u32>| {
        html! {
            label for=(id) { (label) }
            select id=(id) {
                option value="" { "any" }
                @for class in classes { option value=(class) { (facts.name(class)) } }
            }
        }
    };
    html! {
        form.filter id="filter" hidden {
            span { (choice("Label given", "given", shown.iter().map(|suspect| suspect.given).collect())) }
            span { (choice("Suggested", "suggested", shown.iter().map(|suspect| suspect.suggested).collect())) }
            span { input type="checkbox" id="clear"; label for="clear" { "Without those too close to call" } }
            button type="reset" { "Show all" }
            output id="shown" for="given suggested clear" {}
        }
    }
}

/// An example to look at.
fn card(
    facts: &Facts<'_>,
    suspect: &Suspect,
    picture: Option<Thumbnail>,
    evidence: Option<&Evidence<'_>>,
) -> Markup {
    let lines = evidence.map(|evidence| evidence.lines(suspect)).unwrap_or_default();
    let kind = if picture.is_some() { "card" } else { "card row" };
    html! {
        li class=(kind) data-given=(suspect.given) data-suggested=(suspect.suggested)
            data-abstains=(suspect.abstains) {
            @if let Some(picture) = picture {
                img class=[picture.is_tiny().then_some("tiny")] src=(picture.address)
                    alt={ "Example " (suspect.source) } width=(picture.size.0) height=(picture.size.1);
            }
            div.said {
                p.labels {
                    span.given { span.hidden { "Given " } (name(facts.name(suspect.given))) }
                    span.arrow aria-hidden="true" { "→" }
                    strong { span.hidden { "suggested " } (name(facts.name(suspect.suggested))) }
                }
                p.chance {
                    (bar(suspect.p_wrong)) span { "P(wrong) " (probability(suspect.p_wrong)) }
                }
                p.quiet {
                    "suggestion " (probability(suspect.p_suggested))
                    @if suspect.abstains { " " (close()) }
                }
                @if !lines.is_empty() { (numbers(facts, suspect, &lines)) }
                p.source { (source(suspect)) }
            }
        }
    }
}

/// What is usual for the label and for the suggestion, beside what the example has.
fn numbers(facts: &Facts<'_>, suspect: &Suspect, lines: &[Line]) -> Markup {
    html! {
        table.numbers {
            thead { tr {
                th scope="col" { "Column" }
                th scope="col" .number { "here" }
                th scope="col" .number { "usual for " (name(facts.name(suspect.given))) }
                th scope="col" .number { "usual for " (name(facts.name(suspect.suggested))) }
            } }
            tbody { @for line in lines { tr {
                th scope="row" { (name(&line.name)) }
                td.number { @if let Some(value) = &line.value { strong { (name(value)) } } @else { em { "missing" } } }
                td.number { (name(&line.given)) }
                td.number { (name(&line.suggested)) }
            } } }
        }
    }
}

/// The examples by their names alone.
fn table(entries: &[Markup]) -> Markup {
    html! {
        div.wide role="region" aria-label="Table of the suspects" tabindex="0" {
            table.suspects {
                thead { tr {
                    th scope="col" { "Example" }
                    th scope="col" { "Given" }
                    th scope="col" { "Suggested" }
                    th scope="col" .number { "P(wrong)" }
                    th scope="col" .number { "Suggestion right" }
                } }
                tbody { @for entry in entries { (entry) } }
            }
        }
    }
}

fn row(facts: &Facts<'_>, suspect: &Suspect) -> Markup {
    html! {
        tr data-given=(suspect.given) data-suggested=(suspect.suggested) data-abstains=(suspect.abstains) {
            th scope="row" { (source(suspect)) }
            td { (name(facts.name(suspect.given))) }
            td { strong { (name(facts.name(suspect.suggested))) } @if suspect.abstains { " " (close()) } }
            td.number { (bar(suspect.p_wrong)) " " (probability(suspect.p_wrong)) }
            td.number { (probability(suspect.p_suggested)) }
        }
    }
}

/// Where the example came from: a file by its name, a row by its number.
fn source(suspect: &Suspect) -> Markup {
    let is_row = suspect.source.bytes().all(|letter| letter.is_ascii_digit());
    html! { @if is_row { "row " } (name(&suspect.source)) }
}

fn close() -> Markup {
    html! { span.close { "too close to call" } }
}
