//! The run folder: the only thing that passes between commands. `docs/reference/run-folder.md` specifies it.

mod about;
mod agree;
pub(crate) mod files;
mod finish;
mod folder;
mod many;
mod predictions;
mod reopen;

pub use about::{About, Score};
pub use files::write_atomically;
pub use finish::Finished;
pub use folder::RunFolder;
pub use many::{RunState, Swept, Watcher, sweep};
pub use predictions::Predictions;

/// The names of what a run folder holds.
pub mod names {
    /// The settings, nothing left open.
    pub const CONFIG: &str = "config.toml";
    /// sha256 of what is trained on, so that a run is not resumed on something else.
    pub const DATA: &str = "data.json";
    /// How an example becomes an input.
    pub const INPUT: &str = "input.json";
    /// A line for each evaluation, and for some steps between.
    pub const METRICS: &str = "metrics.jsonl";
    /// The estimated transition matrix.
    pub const TRANSITION: &str = "transition.json";
    /// The same, for a spreadsheet.
    pub const TRANSITION_CSV: &str = "transition.csv";
    /// The injected noise, where it is known.
    pub const TRUTH: &str = "truth.json";
    /// The network.
    pub const MODEL: &str = "model.safetensors";
    /// p(true class | x) of every training example.
    pub const PROBABILITIES: &str = "probabilities.npy";
    /// What the audit found.
    pub const AUDIT: &str = "audit.json";
    /// The examples whose labels are suspicious, most suspicious first, for a spreadsheet.
    pub const SUSPECTS: &str = "suspects.csv";
    /// The same, for programs.
    pub const SUSPECTS_PARQUET: &str = "suspects.parquet";
    /// The same as tasks for Label Studio, where asked for.
    pub const LABEL_STUDIO: &str = "label-studio.json";
    /// The labels with the surest mistakes dropped or put right, where asked for.
    pub const CLEANED: &str = "cleaned.csv";
    /// The page to look at.
    pub const REPORT: &str = "report.html";
    /// p(true class | x) of every training example, as the audit took it.
    pub const POSTERIORS: &str = "posteriors.npy";
    /// While a run is not complete: the networks that were trained on parts of the data.
    pub const FOLDS: &str = "folds";
    /// The record: version, data, scores. Written last: a folder that has it is complete.
    pub const ABOUT: &str = "about.json";
    /// Why the run failed when it was last tried, if a sweep tried it.
    pub const FAILURE: &str = "failure.txt";
    /// Where a run goes on from after it was cut.
    pub const CHECKPOINTS: &str = "checkpoints";
}
