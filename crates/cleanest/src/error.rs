//! Every mistake that can be made with a run.

use std::path::{Path, PathBuf};

/// What went wrong with a run, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Error {
    #[error(transparent)]
    Core(#[from] cleanest_core::Error),
    #[error(transparent)]
    Data(#[from] cleanest_data::Error),
    #[error(transparent)]
    Engine(#[from] cleanest_engine::Error),

    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("`{}`: {problem}", path.display())]
    Malformed { path: PathBuf, problem: String },
    #[error("`{}`: {problem}", path.display())]
    InConfig { path: PathBuf, problem: Box<Error> },
    #[error("`{}` already holds something", .0.display())]
    Occupied(PathBuf),
    #[error("`{}` is a file, where a folder is to be made", .0.display())]
    IsAFile(PathBuf),
    #[error("there is no `{}`", .0.display())]
    NoRun(PathBuf),
    #[error("`{}` is not a run folder: it has no `{missing}`", path.display())]
    NotARun { path: PathBuf, missing: &'static str },
    #[error("`{}` is complete: there is nothing to resume", .0.display())]
    Complete(PathBuf),
    #[error("`{}` is not complete: it has no `{missing}`", path.display())]
    Incomplete { path: PathBuf, missing: &'static str },
    #[error("`{}` was not audited: it has no `audit.json`", .0.display())]
    NotAudited(PathBuf),
    #[error("about {:.1} % of the labels are wrong, more than the {:.1} % that are allowed", 100.0 * rate, 100.0 * limit)]
    TooNoisy { rate: f64, limit: f64 },
    #[error("the data of `{}` are not those it was trained on: sha256 {found}, not {expected}", path.display())]
    OtherData { path: PathBuf, expected: String, found: String },

    #[error("the data of `{}` were given from Python and are in no file", .0.display())]
    InMemory(PathBuf),

    #[error("`{}` cannot hold predictions: its name ends in none of .npy, .csv, .parquet", .0.display())]
    Predictions(PathBuf),

    #[error("not the bytes of an audit of this version")]
    NotAState,
    #[error("the parts are of pass {found} and pass {expected} of an audit")]
    OtherPass { expected: usize, found: usize },
    #[error("the parts are not of one audit: they did not begin with the same state")]
    OtherAudit,
    #[error("pass {pass} of the audit saw {seen} examples, expected {}", if *expected == 0 { "some".to_owned() } else { expected.to_string() })]
    PassSaw { pass: usize, seen: u64, expected: u64 },
    #[error(
        "in the last pass the examples of different parts are told apart by their numbers, which are not given"
    )]
    Numbering,

    #[error("figure `{figure}`: {problem}")]
    Figure { figure: String, problem: String },
    #[error("no key is called `{name}`")]
    UnknownKey { name: String, nearest: Option<String> },
    #[error("`{key}`: {problem}")]
    Value { key: String, problem: String },
    #[error("`{0}` is not of the form `key=value`")]
    Assignment(String),
    #[error("`{key}` must be {expected}: {found}")]
    Range { key: &'static str, expected: &'static str, found: String },

    #[error("`{}` was made with `{key}` {made}, and {asked} is asked for", path.display())]
    OtherSettings { path: PathBuf, key: String, made: String, asked: String },
    #[error("{failed} of {runs} runs failed")]
    RunsFailed { failed: usize, runs: usize },
    #[error("interrupted with {complete} of {runs} runs complete; the same command goes on")]
    SweepInterrupted { complete: usize, runs: usize, signal: i32 },

    #[error("{worker} {problem}")]
    Worker { worker: String, problem: String },
    #[error("`batch` is {batch}: expected an example or more for each of {workers} workers")]
    ManyWorkers { batch: usize, workers: usize },

    #[error("the loss is {loss} at step {step}, with learning rate {rate:e} and rows {rows}")]
    NotFinite { loss: f64, step: u64, rate: f64, rows: String },
    #[error("parameter `{name}` is not finite after step {step}")]
    NotFiniteParameter { name: String, step: u64 },
    #[error("interrupted at step {step}, after a checkpoint")]
    Interrupted { step: u64, signal: i32 },
}

impl Error {
    /// The cure, where one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Core(error) => error.hint(),
            Self::Data(error) => error.hint(),
            Self::Engine(error) => error.hint(),
            Self::InConfig { problem, .. } => problem.hint(),
            Self::Occupied(path) => Some(format!(
                "name another folder with --out, or go on with `cleanest resume {}`",
                path.display()
            )),
            Self::IsAFile(_) => Some("name another folder with --out".to_owned()),
            Self::Incomplete { path, .. } => {
                Some(format!("finish it with `cleanest resume {}`", path.display()))
            }
            Self::NotAudited(path) => Some(format!("audit it with `cleanest audit {}`", path.display())),
            Self::InMemory(path) => Some(format!(
                "in Python, `find_label_issues()` lists the suspects and `fit` trains anew; \
                with the labels in a file, `cleanest audit {} --labels FILE`",
                path.display()
            )),
            Self::OtherData { path, .. } => Some(format!(
                "put them back, or train anew; a finished run judges other labels of the same examples by \
                `cleanest audit {} --labels FILE`",
                path.display()
            )),
            Self::OtherSettings { path, .. } => Some(format!(
                "name another folder with --out, or remove `{}`, or ask for what it was made with",
                path.display()
            )),
            Self::RunsFailed { .. } => Some("the same command tries them again, and nothing else".to_owned()),
            Self::UnknownKey { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::NotFinite { .. } | Self::NotFiniteParameter { .. } => {
                Some("lower the learning rate: --set schedule.rate=...".to_owned())
            }
            _ => None,
        }
    }

    /// Whether what was asked has to be mended, rather than the machine it was asked of.
    #[must_use]
    pub fn is_wrong_use(&self) -> bool {
        match self {
            Self::Core(error) => error.is_wrong_use(),
            Self::Data(error) => error.is_wrong_use(),
            Self::Engine(error) => error.is_wrong_use(),
            Self::Write { .. }
            | Self::NotFinite { .. }
            | Self::NotFiniteParameter { .. }
            | Self::Worker { .. }
            | Self::TooNoisy { .. }
            | Self::RunsFailed { .. }
            | Self::SweepInterrupted { .. }
            | Self::Interrupted { .. } => false,
            Self::InConfig { problem, .. } => problem.is_wrong_use(),
            _ => true,
        }
    }

    /// The signal that ended it, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self {
            Self::Interrupted { signal, .. } | Self::SweepInterrupted { signal, .. } => Some(*signal),
            _ => None,
        }
    }

    pub(crate) fn write(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Write { path: path.to_owned(), source }
    }

    pub(crate) fn read(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }
}
