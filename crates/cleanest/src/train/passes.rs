//! A network for a run, and passes over a set that learn nothing.

use super::kept::input;
use super::placing::place;
use crate::Error;
use crate::experiment::Config;
use cleanest_core::Matrix;
use cleanest_core::methods::maths::Softmax;
use cleanest_data::{Augment, BatchSettings, Batches, Course, Dataset, Shape, Standardization};
use cleanest_engine::cpu::{self, Algorithm};
use cleanest_engine::cuda::{self, Precision, Selection};
use cleanest_engine::peers::{Group, part};
use cleanest_engine::{Architecture, Device, Kept, Mode, Model, ModelOptions, Network, Optimizer};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Examples that are taken through the network at a time when nothing is learnt.
const CHUNK: usize = 512;
/// The same for examples that a GPU has: it takes them in batches by itself.
const KEPT_CHUNK: usize = 1 << 14;

/// Makes the networks of a run.
#[derive(Clone, Debug)]
pub struct Architect {
    architecture: Architecture,
    batch: usize,
    optimizer: Optimizer,
    algorithm: Algorithm,
    weights: Option<PathBuf>,
    device: Device,
    precision: Precision,
    selection: Selection,
}

impl Architect {
    /// For a resolved configuration, inputs of this shape, and so many classes.
    pub fn new(config: &Config, shape: Shape, classes: usize) -> Result<Self, Error> {
        let input = match shape {
            Shape::Image { height, width, channels } => {
                cleanest_engine::Shape::image(height, width, channels)
            }
            Shape::Row(length) => cleanest_engine::Shape::row(length),
        };
        let mut options = ModelOptions::new(input, classes);
        if let Some(hidden) = &config.hidden {
            options.hidden.clone_from(hidden);
        }
        Ok(Self {
            architecture: config.model.parse::<Model>()?.build(&options)?,
            batch: config.batch.unwrap_or(CHUNK),
            optimizer: config.optimizer()?,
            algorithm: if config.convolution == "direct" { Algorithm::Direct } else { Algorithm::Auto },
            weights: config.weights.clone(),
            device: place(config.device.parse()?).0,
            precision: config.precision.parse()?,
            selection: config.mode.parse()?,
        })
    }

    /// The same for one of so many workers: its networks are planned for a part of the batch.
    #[must_use]
    pub(super) fn of_workers(self, workers: usize) -> Self {
        Self { batch: self.batch.div_ceil(workers), ..self }
    }

    /// How many parameters the network has.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.architecture.parameter_count()
    }

    /// The model by name.
    pub(super) fn name(&self) -> String {
        self.architecture.name().to_owned()
    }

    /// The layer that tells the classes apart.
    pub(super) fn last_layer(&self) -> String {
        let last = self.architecture.parameters().pop().map(|spec| spec.name).unwrap_or_default();
        last.rsplit_once('.').map_or(last.clone(), |(layer, _)| layer.to_owned())
    }

    /// The file its networks begin with, if there is one.
    pub(super) fn weights(&self) -> Option<&Path> {
        self.weights.as_deref()
    }

    /// Refuses weights that do not fit.
    pub fn check_weights(&self) -> Result<(), Error> {
        if self.weights.is_some() { self.begin(0, &mut |_| {}).map(|_| ()) } else { Ok(()) }
    }

    /// Where its networks run.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Where its networks run, for the record: the device, and on a GPU what decides about the bits.
    pub fn description(&self) -> Result<String, Error> {
        let Device::Cuda(ordinal) = self.device else {
            return Ok(format!("cpu, {} threads", rayon::current_num_threads()));
        };
        let (name, versions) = cuda::available(ordinal)?;
        let (precision, selection) = (self.precision, self.selection);
        Ok(format!("cuda:{ordinal}, {name}, {precision}, {selection}, {versions}"))
    }

    /// A fresh network.
    pub fn network(&self, seed: u64) -> Result<Box<dyn Network>, Error> {
        if let Device::Cuda(ordinal) = self.device {
            let settings = cuda::Settings {
                ordinal,
                batch: self.batch,
                seed,
                optimizer: self.optimizer,
                precision: self.precision,
                selection: self.selection,
                ..cuda::Settings::default()
            };
            return Ok(cuda::network(&self.architecture, &settings)?);
        }
        let settings = cpu::Settings {
            batch: self.batch,
            seed,
            optimizer: self.optimizer,
            convolution: self.algorithm,
            ..cpu::Settings::default()
        };
        Ok(cpu::network(&self.architecture, &settings)?)
    }
}

/// The probabilities the network gives to the classes of every example, in evaluation mode and without augmentation.
pub fn predict(
    network: &mut dyn Network,
    set: &Dataset,
    standardization: &Standardization,
) -> Result<Matrix, Error> {
    Pass::plain((set, None), standardization).over(network, 0..set.len())
}

/// A pass over a set in evaluation mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass<'a> {
    set: &'a Dataset,
    /// Where the network keeps the set, if it does.
    kept: Option<Kept>,
    standardization: &'a Standardization,
    /// How images are varied.
    augment: Augment,
    /// Seed of their crops.
    seed: u64,
}

impl<'a> Pass<'a> {
    /// A pass that sees the examples as they are.
    pub(super) fn plain(
        (set, kept): (&'a Dataset, Option<Kept>),
        standardization: &'a Standardization,
    ) -> Self {
        Self { set, kept, standardization, augment: Augment::default(), seed: 0 }
    }

    /// The same with images varied as in training: which crop one gets follows from the seed and its row.
    pub(super) fn varied(self, augment: Augment, seed: u64) -> Self {
        Self { augment, seed, ..self }
    }

    /// The probabilities of some examples.
    fn over(&self, network: &mut dyn Network, rows: Range<usize>) -> Result<Matrix, Error> {
        let settings = BatchSettings {
            size: if self.kept.is_some() { KEPT_CHUNK } else { CHUNK },
            course: Course::Once { rows, seed: self.seed },
            augment: self.augment,
            standardization: self.standardization.clone(),
            worker: (0, 1),
        };
        let batches = match self.kept {
            Some(_) => Batches::by_rows(self.set, settings)?,
            None => Batches::new(self.set, settings)?,
        };
        let (mut logits, mut softmax, mut crops) = (Matrix::default(), Softmax::default(), Vec::new());
        let (mut columns, mut classes) = (1, Vec::new());
        for batch in batches {
            let input = input(self.kept, &batch, self.augment, &mut crops);
            let found = network.forward(&input, Mode::Evaluate)?;
            columns = found.columns();
            widened(found, &mut logits);
            softmax.of(&logits);
            classes.extend_from_slice(softmax.probabilities().values());
        }
        Ok(Matrix::from_vec(columns, classes))
    }

    /// The probabilities of all examples where several workers have the network: each takes a part of the set.
    pub(super) fn together(&self, group: &dyn Group, network: &mut dyn Network) -> Result<Matrix, Error> {
        let (examples, size) = (self.set.len(), group.size());
        if size == 1 {
            return self.over(network, 0..examples);
        }
        let classes = self.set.labels().classes().len();
        let own = part(examples, group.rank(), size);
        let found = if own.is_empty() { Matrix::default() } else { self.over(network, own)? };
        let mine: Vec<u8> = found.values().iter().flat_map(|p| p.to_le_bytes()).collect();
        let lengths: Vec<usize> =
            (0..size).map(|rank| 8 * classes * part(examples, rank, size).len()).collect();
        let all = group.gather_known(&mine, &lengths);
        let values =
            all.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        Ok(Matrix::from_vec(classes, values.collect()))
    }
}

/// The logits of the engine as the methods take them.
pub(super) fn widened(logits: &cleanest_engine::Matrix, wide: &mut Matrix) {
    wide.reshape(logits.rows(), logits.columns());
    wide.values_mut().iter_mut().zip(logits.values()).for_each(|(wide, &logit)| *wide = f64::from(logit));
}

/// The gradient of the methods as the engine takes it.
pub(super) fn narrowed(gradient: &Matrix, narrow: &mut cleanest_engine::Matrix) {
    narrow.resize(gradient.rows(), gradient.columns());
    narrow.values_mut().iter_mut().zip(gradient.values()).for_each(|(narrow, &slope)| *narrow = slope as f32);
}
