//! What follows from the data where a user asks for nothing.
//!
//! At the sizes of the paper the paper's values; for other data what small experiments found to work: counts that
//! outlive the first epochs, a memory of a few of them, and no more epochs than it takes.

use super::Config;
use super::config::merged;
use crate::Error;
use cleanest_data::{Augment, Dataset, Shape, Standardization};
use cleanest_engine::{Adam, Optimizer, Schedule, Sgd};
use serde_json::{Value, json};

/// A set with fewer examples than this is small.
const SMALL: usize = 20_000;

/// Networks that judge what they were not trained on, where they are small.
const FOLDS: usize = 5;

/// Images with a longer side than this are too large for the network of small sets.
const SMALL_SIDE: usize = 64;

/// Which of the paper's experiments a set belongs to, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regime {
    /// Gray images of 28 x 28, as many as MNIST has.
    Mnist,
    /// Color images of 32 x 32, as many as CIFAR has.
    Cifar,
    /// Anything else, many examples.
    Large,
    /// Anything else.
    Small,
}

impl Regime {
    fn of(set: &Dataset) -> Self {
        match set.shape() {
            _ if set.len() < SMALL => Self::Small,
            Shape::Image { height: 28, width: 28, channels: 1 } => Self::Mnist,
            Shape::Image { height: 32, width: 32, channels: 3 } => Self::Cifar,
            _ => Self::Large,
        }
    }
}

impl Config {
    /// The same run with nothing left open: everything that was not asked for follows from the training set.
    pub fn resolved(&self, train: &Dataset) -> Result<Self, Error> {
        let regime = Regime::of(train);
        let mut config = self.clone();
        if config.model == "auto" {
            config.model = model(regime, train.shape()).into();
        }
        let batch = *config.batch.get_or_insert(batch(regime, train.len()));
        let epochs = 17 * train.len().div_ceil(batch) as u64;
        let steps = *config.steps.get_or_insert(steps(regime, &config.model, epochs));
        let quick =
            regime == Regime::Small && matches!(config.model.as_str(), "linear" | "mlp" | "mnist-cnn");
        config.folds.get_or_insert(if quick && config.audit { FOLDS.min(train.len() / 2) } else { 0 });
        config.hidden.get_or_insert_with(|| if regime == Regime::Small { vec![128] } else { vec![256, 256] });
        config.optimizer = merged(&config.optimizer, &optimizer(regime))?;
        config.schedule = merged(&config.schedule, &schedule(regime, steps))?;
        config.optimizer()?.check()?;
        config.schedule()?;
        config.standardization.get_or_insert_with(|| {
            Standardization::named(train.format()).unwrap_or_else(|| match regime {
                Regime::Mnist => Standardization::none(1),
                _ => Standardization::of(train),
            })
        });
        let augment = if regime == Regime::Cifar { Augment::PAPER } else { Augment::default() };
        config.augment.get_or_insert(augment);
        config.complete_method(regime, steps, batch, train.labels().classes().len())?;
        Ok(config)
    }

    /// Fills the settings of the method that depend on the size of the data.
    fn complete_method(
        &mut self,
        regime: Regime,
        steps: u64,
        batch: usize,
        classes: usize,
    ) -> Result<(), Error> {
        let wanted: Vec<(&str, Value)> = match (self.method.as_str(), regime) {
            ("tvd", Regime::Mnist) => vec![("prior", json!(10.0)), ("final_pass", json!(false))],
            ("tvd", Regime::Cifar) => vec![("prior", json!(100.0)), ("final_pass", json!(false))],
            ("tvd", Regime::Large) => vec![("prior", json!(100.0)), ("final_pass", json!(true))],
            ("tvd", Regime::Small) => {
                // A memory of a sixth of the run, in which a row of counts settles at about fifty.
                let keep = 1.0 - (6.0 / steps as f64).min(0.5);
                let weight = 50.0 * (1.0 - keep) * classes as f64 / batch as f64;
                vec![
                    ("prior", json!(50.0)),
                    ("keep", json!(keep)),
                    ("weight", json!(weight)),
                    ("final_pass", json!(true)),
                ]
            }
            ("known-t", _) => self.noise.iter().map(|noise| ("noise", json!(noise))).collect(),
            _ => Vec::new(),
        };
        let key = self.method.replace('-', "_");
        let settings = self.methods.entry(key).or_insert_with(|| json!({}));
        for (name, value) in wanted {
            if let Some(settings) = settings.as_object_mut() {
                settings.entry(name).or_insert(value);
            }
        }
        self.choice().map(|_| ())
    }
}

fn optimizer(regime: Regime) -> Optimizer {
    match regime {
        Regime::Cifar => Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 }),
        _ => Optimizer::Adam(Adam::default()),
    }
}

fn schedule(regime: Regime, steps: u64) -> Schedule {
    match regime {
        Regime::Cifar => Schedule::Triangle { rate: 0.1, warm_up: (steps / 10).max(1), steps },
        Regime::Mnist | Regime::Large => Schedule::Exponential { rate: 1e-3, factor: 0.1, steps },
        Regime::Small => Schedule::Exponential { rate: 1.5e-3, factor: 0.1, steps },
    }
}

/// Small sets of images get a small network: a residual one takes twelve times as long and knows them little better.
fn model(regime: Regime, shape: Shape) -> &'static str {
    match shape {
        Shape::Row(_) => "mlp",
        Shape::Image { height: 28, width: 28, .. } => "mnist-cnn",
        Shape::Image { height, width, .. } if height < 28 || width < 28 => "mlp",
        Shape::Image { height, width, .. } if regime == Regime::Small && height.max(width) <= SMALL_SIDE => {
            "mnist-cnn"
        }
        Shape::Image { .. } => "resnet18",
    }
}

fn batch(regime: Regime, examples: usize) -> usize {
    match regime {
        Regime::Small => 256.min(examples.div_ceil(4)).max(1),
        _ => 512,
    }
}

/// The paper's 2,000 steps on MNIST are 17 epochs, and its 4,000 on CIFAR 41. Others get 17 epochs, but networks of linear
/// layers at least 600 steps, which is too few for them to memorize the labels of a small set, and too many for convolutions.
fn steps(regime: Regime, model: &str, epochs: u64) -> u64 {
    match regime {
        Regime::Mnist => 2000,
        Regime::Cifar => 4000,
        Regime::Small if !matches!(model, "linear" | "mlp") => epochs,
        Regime::Large | Regime::Small => epochs.max(600),
    }
}
