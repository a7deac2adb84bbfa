//! The data of a run: read, split, noise injected.

use super::Config;
use crate::Error;
use crate::train::Shared;
use cleanest_core::noise::{Transition, corrupt};
use cleanest_data::{Dataset, Labels, Options, Part, Parts, Shape, Standardization};
use serde::{Deserialize, Serialize};

/// The share of a set that is kept for testing where noise is injected and no test set is given.
const TEST_SHARE: f64 = 0.2;
/// Larger images are brought to a square of this side, unless another size is asked for.
const LONGEST_SIDE: u32 = 64;

/// The data of a run, as they are learnt from.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Examples with the labels as given, or as corrupted.
    pub train: Dataset,
    /// The labels before noise was injected.
    pub clean: Option<Vec<u32>>,
    /// The noise that was injected.
    pub truth: Option<Transition>,
    /// Examples with clean labels to test on.
    pub test: Option<Dataset>,
    /// The first stage, where the run has it in common with others of the process.
    pub first_stage: Option<Shared>,
}

impl Prepared {
    /// Reads the data a configuration asks for.
    pub fn open(config: &Config) -> Result<Self, Error> {
        Self::of(read(config)?, config)
    }

    /// Splits what was read and injects the noise; the examples are shared with whoever else holds them.
    pub fn of(read: Parts, config: &Config) -> Result<Self, Error> {
        let Parts { train, test } = read;
        let split = test.is_none() && (config.noise.is_some() || config.test_share.is_some());
        let (train, test) = if split {
            let (train, test) = train.split(config.test_share.unwrap_or(TEST_SHARE), config.seed)?;
            (train, Some(test))
        } else {
            (train, test)
        };
        let Some(noise) = &config.noise else {
            return Ok(Self { test, ..Self::plain(train) });
        };
        let classes = train.labels().classes().clone();
        let truth = noise.transition(classes.len(), config.seed)?.with_names(classes.names().to_vec())?;
        let drawn = corrupt(train.labels().indices(), &truth, config.seed)?;
        let train = train.with_labels(Labels::new(drawn.noisy, classes));
        Ok(Self { clean: Some(drawn.clean), truth: Some(truth), test, ..Self::plain(train) })
    }

    /// A training set of which nothing more is known.
    #[must_use]
    pub fn plain(train: Dataset) -> Self {
        Self { train, clean: None, truth: None, test: None, first_stage: None }
    }
}

/// The files of a configuration as they are, before anything is drawn.
pub(super) fn read(config: &Config) -> Result<Parts, Error> {
    let longest_side = config.read.longest_side.or(Some(LONGEST_SIDE));
    let options = Options { longest_side, ..config.read.clone() };
    let Parts { train, test } = Parts::open(&config.data, &options)?;
    let Some(path) = &config.test else { return Ok(Parts { train, test }) };
    let test = match train.open_like(path, Part::Test, &options) {
        Err(cleanest_data::Error::NoTestPart { .. }) => train.open_like(path, Part::Train, &options),
        other => other,
    };
    Ok(Parts { train, test: Some(test?) })
}

/// How an example becomes the input of the network: kept with the model, for prediction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputSpec {
    /// How files are read to come out like the training set.
    pub read: Options,
    /// Height, width and channels of an image, or the length of a row.
    pub shape: Vec<usize>,
    /// The names of the classes, in the order of the logits.
    pub classes: Vec<String>,
    /// What brings the numbers to mean 0 and deviation 1.
    pub standardization: Standardization,
}

impl InputSpec {
    /// The inputs of a run with this training set.
    #[must_use]
    pub fn of(config: &Config, train: &Dataset) -> Self {
        let shape = match train.shape() {
            Shape::Image { height, width, channels } => vec![height, width, channels],
            Shape::Row(length) => vec![length],
        };
        Self {
            read: train.options_like(&config.read),
            shape,
            classes: train.labels().classes().names().to_vec(),
            standardization: config.standardization.clone().unwrap_or_else(|| Standardization::of(train)),
        }
    }
}
