//! What a user can say about the data.

use crate::features::Feature;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How a path is to be read; the defaults fit what is usually found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Column of a table that holds the labels; `label`, `labels`, `class`, `target` or `y` when none is named.
    pub label: Option<String>,
    /// File with the labels of examples that come without.
    pub labels: Option<PathBuf>,
    /// Whether there have to be labels.
    pub labeling: Labeling,
    /// Names of the classes in their order, needed where some are absent from the data.
    pub classes: Option<Vec<String>>,
    /// Order in which the classes of CIFAR are numbered.
    pub class_order: ClassOrder,
    /// Which of the two labels of CIFAR-100 is meant.
    pub granularity: Granularity,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Columns that are not to be learnt from.
    pub ignore: Vec<String>,
    /// Features of the training set, when another set has to have the same.
    pub features: Option<Vec<Feature>>,
    /// Height and width of the images; without it their own, if they agree.
    pub image_size: Option<[u32; 2]>,
    /// How long a side of the images may be where no size is asked for; without it, 224 where theirs disagree.
    pub longest_side: Option<u32>,
    /// Color of the images.
    pub color: Color,
    /// What is refused for its size.
    pub limits: Limits,
}

/// Whether a set has to come with labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labeling {
    /// A set without labels is refused.
    #[default]
    Required,
    /// Labels are not looked for.
    Absent,
}

/// How the classes of CIFAR are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassOrder {
    /// As in the published files.
    #[default]
    Published,
    /// As in the experiments of the paper: similar classes stand side by side, where pair noise confuses them.
    Paper,
}

/// Which label of CIFAR-100 is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// One of 100 classes.
    #[default]
    Fine,
    /// One of 20 groups of five classes.
    Coarse,
}

/// What becomes of a missing value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// It is an error that names row and column.
    #[default]
    Error,
    /// Its row is left out.
    Drop,
    /// It stands at the mean of its column.
    Mean,
}

/// The channels of images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    /// Gray if every image is gray, else red, green and blue.
    #[default]
    Auto,
    /// One channel.
    Gray,
    /// Three channels.
    Rgb,
}

/// Which part of a set that is published in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What is learnt from; the whole set where there are no parts.
    Train,
    /// What is tested on.
    Test,
}

/// What is refused for its size, so that no file can take the machine down.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Pixels of one image.
    pub pixels: u64,
    /// Bytes that a compressed file may expand to.
    pub decompressed: u64,
    /// Examples of a set.
    pub rows: usize,
    /// Bytes of one row of text.
    pub row_bytes: usize,
    /// Different texts in a column that is one-hot encoded.
    pub categories: usize,
    /// Images that may be broken before the reading stops.
    pub quarantine: usize,
    /// Bytes of examples held in memory.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pixels: 100_000_000,
            decompressed: 16 << 30,
            rows: 100_000_000,
            row_bytes: 16 << 20,
            categories: 64,
            quarantine: 100,
            memory: 64 << 30,
        }
    }
}
