//! What a user sees of a sweep: one bar for all of it on a terminal, a line for each finished run elsewhere.

use cleanest::Error;
use cleanest::experiment::Sweep;
use cleanest::run::{About, RunState, Watcher};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shows a sweep on stderr.
#[derive(Debug)]
pub(crate) struct Board {
    names: Vec<String>,
    costs: Vec<u64>,
    quiet: bool,
    bar: Option<ProgressBar>,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The share of each run that was done in this sweep.
    shares: Vec<f64>,
    /// Runs that ended, well or not.
    ended: usize,
    /// Steps that are to be done in this sweep.
    steps: u64,
    /// What was said already: data warn in every run that reads them.
    said: Vec<String>,
}

impl Board {
    /// As the place stderr leads to allows, unless quiet is asked for.
    pub(crate) fn new(plan: &Sweep, quiet: bool) -> Self {
        let is_left = |run: &cleanest::experiment::Planned| {
            RunState::of(&plan.out.join(&run.name)) != RunState::Complete
        };
        let left: Vec<bool> = plan.runs.iter().map(is_left).collect();
        let left = |run: usize| left[run];
        let costs: Vec<u64> = plan.runs.iter().map(|run| run.cost).collect();
        let steps = (0..costs.len()).filter(|&run| left(run)).map(|run| costs[run]).sum();
        let ended = (0..costs.len()).filter(|&run| !left(run)).count();
        let state = State { shares: vec![0.0; costs.len()], ended, steps, said: Vec::new() };
        if !quiet && ended > 0 {
            eprintln!("{ended} of {} runs are complete already", costs.len());
        }
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent} %  {eta} left  {msg}");
            ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        let names = plan.runs.iter().map(|run| run.name.clone()).collect();
        Self { names, costs, quiet, bar, begun: Instant::now(), state: Mutex::new(state) }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// A line about a run, above the bar if there is one.
    fn say(&self, line: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }

    /// Notes that a run ended; how many have, of how many, and how long the rest will take.
    fn ended(&self, run: usize) -> (String, String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.shares[run] = 1.0;
        state.ended += 1;
        let place = format!("[{}/{}]", state.ended, self.names.len());
        let done = self.done(&state);
        let seconds = self.begun.elapsed().as_secs_f64() * (state.steps as f64 - done) / done.max(1.0);
        let left =
            if state.ended == self.names.len() { String::new() } else { format!("  {} left", told(seconds)) };
        (place, left)
    }

    /// Steps done in this sweep.
    fn done(&self, state: &State) -> f64 {
        state.shares.iter().zip(&self.costs).map(|(share, &cost)| share * cost as f64).sum()
    }
}

impl Watcher for Board {
    fn progress(&self, run: usize, share: f64) {
        let Some(bar) = &self.bar else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.shares[run] = share;
        bar.set_position(self.done(&state) as u64);
        bar.set_message(format!("{}/{} runs  {}", state.ended, self.names.len(), self.names[run]));
    }

    fn finished(&self, run: usize, about: &About) {
        let (place, left) = self.ended(run);
        let mut line = format!("{place} {}", self.names[run]);
        if let Some(accuracy) = about.score.accuracy {
            let _ = write!(line, "  accuracy {:.2} %", 100.0 * accuracy);
        }
        if let Some(error) = about.score.average_tv {
            let _ = write!(line, "  average TV {:.2}", 100.0 * error);
        }
        let _ = write!(line, "  {:.1} s{left}", about.seconds);
        self.say(&line);
    }

    fn failed(&self, run: usize, error: &Error) {
        let (place, left) = self.ended(run);
        self.say(&format!("{place} {}  failed: {error}{left}", self.names[run]));
    }

    fn note(&self, _run: usize, sentence: &str) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.said.iter().any(|said| said == sentence) {
                return;
            }
            state.said.push(sentence.to_owned());
        }
        self.say(sentence);
    }
}

/// A time in its two largest units.
fn told(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_secs();
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}
