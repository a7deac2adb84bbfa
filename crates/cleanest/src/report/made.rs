//! How the run was made: enough to make it again.

use super::facts::Facts;
use super::words::{count, day, duration, name};
use crate::audit::{Posterior, Provenance};
use maud::{Markup, html};

/// Warnings about the data that are shown.
const WARNINGS: usize = 5;

pub(super) fn section(facts: &Facts<'_>) -> Markup {
    html! {
        dl.made { @for (what, value) in lines(facts) { div { dt { (what) } dd { (value) } } } }
        @if let Some(data) = facts.data {
            @for warning in data.warnings().iter().take(WARNINGS) { p.warning { strong { "Note: " } (warning) "." } }
        }
        @if let Some(settings) = &facts.settings {
            details {
                summary { "Every setting (config.toml)" }
                pre tabindex="0" { (settings) }
            }
        }
    }
}

fn lines(facts: &Facts<'_>) -> Vec<(&'static str, Markup)> {
    let mut lines = vec![("Version", html! { "cleanest " (facts.audit.version) })];
    if let Some(config) = &facts.config {
        lines.push(("Data", name(&config.data.display().to_string())));
        if let Some(test) = &config.test {
            lines.push(("Test data", name(&test.display().to_string())));
        }
        if let Some(noise) = &config.noise {
            lines.push(("Noise injected", html! { (noise) }));
        }
        lines.push(("Method", html! { (config.method) }));
        lines.push(("Model", html! { (config.model) }));
        if let Some(steps) = config.steps {
            lines.push(("Steps", html! { (count(steps as usize)) }));
        }
        lines.push(("Seed", html! { (config.seed) }));
    }
    lines.push(("Examples audited", html! { (count(facts.audit.examples)) }));
    lines.push(("Probabilities", provenance(facts)));
    if let Some(about) = &facts.about {
        lines.push(("Parameters", html! { (count(about.parameters)) }));
        lines.push(("Device", html! { (about.device) }));
        lines.push(("Training took", html! { (duration(about.seconds)) }));
        lines.push(("Finished", html! { (day(about.finished)) }));
        lines.push(("sha256 of the data", html! { code { (about.data) } }));
        if let Some(test) = &about.test {
            lines.push(("sha256 of the test data", html! { code { (test) } }));
        }
    }
    lines
}

fn provenance(facts: &Facts<'_>) -> Markup {
    let of = match facts.audit.posterior {
        Posterior::Clean => "of the true class",
        Posterior::Noisy => "of the label as given",
    };
    html! {
        @match &facts.audit.probabilities {
            Provenance::Folds { folds } => { (folds) " folds" }
            Provenance::RunningMean => { "mean over the second half of the steps" }
            Provenance::Final => { "network after the last step" }
            Provenance::File { path } => { (name(path)) }
        }
        ", " (of)
    }
}
