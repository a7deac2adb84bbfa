//! What a user sees of a run while it goes on: a bar on a terminal, a line now and then elsewhere.

use cleanest::train::{Observer, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::io::IsTerminal as _;

/// Lines that are written over a whole run where there is no terminal.
const LINES: u64 = 10;

/// Shows a run on stderr.
#[derive(Debug)]
pub(crate) enum Shown {
    /// On a terminal.
    Bar {
        /// The bar.
        bar: ProgressBar,
        /// The estimated noise rate, when it was last known.
        noise: Option<f64>,
    },
    /// Elsewhere.
    Lines {
        /// The estimated noise rate, when it was last known.
        noise: Option<f64>,
    },
    /// Not at all, but for what must be read.
    Quiet,
    /// Not at all: the first worker shows the whole.
    Silent,
}

impl Shown {
    /// For one of several workers, of whom the first shows the whole.
    pub(crate) fn to(first: bool, quiet: bool) -> Self {
        if first { Self::new(quiet) } else { Self::Silent }
    }

    /// As the place stderr leads to allows, unless quiet is asked for.
    pub(crate) fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines { noise: None };
        }
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {per_sec:.1}  {eta} left  {msg}");
        let bar = ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self::Bar { bar, noise: None }
    }
}

impl Observer for Shown {
    fn step(&mut self, progress: &Progress<'_>) {
        let seen = progress.transition.map(cleanest_core::noise::Transition::noise_rate);
        match self {
            Self::Quiet | Self::Silent => {}
            Self::Bar { bar, noise } => {
                *noise = seen.or(*noise);
                bar.set_length(progress.steps);
                bar.set_position(progress.step);
                bar.set_message(facts(progress, *noise));
                if progress.step == progress.steps {
                    bar.finish_and_clear();
                }
            }
            Self::Lines { noise } => {
                *noise = seen.or(*noise);
                let tenth = |step: u64| step * LINES / progress.steps;
                if tenth(progress.step) != tenth(progress.step - 1) {
                    eprintln!("step {}/{}  {}", progress.step, progress.steps, facts(progress, *noise));
                }
            }
        }
    }

    fn remark(&mut self, sentence: &str) {
        if !matches!(self, Self::Quiet | Self::Silent) {
            self.note(sentence);
        }
    }

    fn note(&mut self, sentence: &str) {
        match self {
            Self::Bar { bar, .. } => bar.suspend(|| eprintln!("{sentence}")),
            Self::Silent => {}
            _ => eprintln!("{sentence}"),
        }
    }
}

fn facts(progress: &Progress<'_>, noise: Option<f64>) -> String {
    let mut text = format!("loss {:.3}", progress.loss);
    if let Some(accuracy) = progress.accuracy {
        let _ = write!(text, "  accuracy {:.1} %", 100.0 * accuracy);
    }
    if let Some(noise) = noise {
        let _ = write!(text, "  noise {:.1} %", 100.0 * noise);
    }
    text
}
