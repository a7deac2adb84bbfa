//! The record of a finished run.

use serde::{Deserialize, Serialize};

/// What was run, on what, and how it ended. Nothing else depends on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    /// Version of the program.
    pub version: String,
    /// The commit it was built from, where whoever built it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The seed of everything that was drawn.
    pub seed: u64,
    /// Where it ran.
    pub device: String,
    /// sha256 of examples, labels and classes as they were trained on.
    pub data: String,
    /// The same of the test set.
    pub test: Option<String>,
    /// Examples that were trained on.
    pub examples: usize,
    /// Parameters of the network.
    pub parameters: usize,
    /// How it ended.
    pub score: Score,
    /// Seconds from the first step, or from the last resume, to the end.
    pub seconds: f64,
    /// Whether the first of its stages was trained by another run, and these seconds are of the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_stage_taken: bool,
    /// When it ended, in seconds since 1970.
    pub finished: u64,
}

/// How a run ended: the last step counts, the best is shown beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Accuracy on the test set after the last step.
    pub accuracy: Option<f64>,
    /// The best accuracy of any evaluation of the last stage.
    pub best_accuracy: Option<f64>,
    /// The step of the best.
    pub best_step: Option<u64>,
    /// The estimated share of wrong labels, by the estimated frequency of the classes.
    pub noise_rate: Option<f64>,
    /// The share that is in fact wrong, where noise was injected.
    pub true_noise_rate: Option<f64>,
    /// The paper's distance between the estimated and the injected transition matrix.
    pub average_tv: Option<f64>,
}
