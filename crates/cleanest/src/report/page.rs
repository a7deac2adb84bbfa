//! The page as a whole.

use super::draw::printable;
use super::facts::Facts;
use super::words::{day, name};
use super::{classes, curves, gallery, made, meaning, noise, score, verdict};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The text of the page.
pub(super) fn page(facts: &Facts<'_>) -> String {
    let sections = sections(facts);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content={ "cleanest " (facts.audit.version) };
                link rel="icon" href="data:,";
                title { "Labels of " (facts.title()) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#verdict" { "Skip to the verdict" }
                (header(facts, &sections))
                main { @for section in &sections { (section.body) } }
                footer { p { "Made by cleanest " (facts.audit.version) ". This page loads nothing from elsewhere." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    printable(&page.into_string())
}

/// A part of the page, and how it is found.
struct Section {
    id: &'static str,
    name: &'static str,
    body: Markup,
}

/// What the page consists of, in its order; what there is nothing to say about is left out.
fn sections(facts: &Facts<'_>) -> Vec<Section> {
    let parts = [
        ("verdict", "Verdict", Some(verdict::section(facts))),
        ("noise", "How labels go wrong", Some(noise::section(facts))),
        ("classes", "Classes", Some(classes::section(facts))),
        ("suspects", "Suspects", Some(gallery::section(facts))),
        ("training", "Training", curves::section(facts)),
        ("score", "Against the truth", score::section(facts)),
        ("meaning", "What the numbers mean", Some(meaning::section(facts))),
        ("made", "How it was made", Some(made::section(facts))),
    ];
    let wrapped = |(id, name, body): (&'static str, &'static str, Option<Markup>)| {
        let heading = format!("{id}-heading");
        let body = body?;
        let body = html! {
            section id=(id) aria-labelledby=(heading) {
                // The verdict is the heading of the page itself.
                @if id != "verdict" { h2 id=(heading) { (name) } }
                (body)
            }
        };
        Some(Section { id, name, body })
    };
    parts.into_iter().filter_map(wrapped).collect()
}

fn header(facts: &Facts<'_>, sections: &[Section]) -> Markup {
    let method = facts.config.as_ref().map(|config| config.method.as_str());
    let finished = facts.about.as_ref().map(|about| day(about.finished));
    html! {
        header {
            p.kicker {
                strong { "Label report" }
                span { (name(&facts.title())) }
                @if let Some(method) = method { span { (method) } }
                @if let Some(finished) = &finished { time { (finished) } }
            }
            nav aria-label="Sections" {
                ul { @for section in sections { li { a href={ "#" (section.id) } { (section.name) } } } }
            }
        }
    }
}

/// Nothing is loaded, nothing runs but the script above, nothing is sent anywhere.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let (style, script) = (hash(STYLE), hash(SCRIPT));
    format!(
        "default-src 'none'; img-src data:; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
    )
}
