//! A set of examples with their labels.

use crate::examples::{Example, Examples, Shape};
use crate::features::Feature;
use crate::fingerprint::Fingerprint;
use crate::{Error, Labels, Options, Part, Warning, formats};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Examples, their labels, and where they came from.
///
/// Copies and parts share the examples: they cost no more than their row numbers.
#[derive(Clone, Debug)]
pub struct Dataset {
    format: &'static str,
    examples: Arc<Examples>,
    /// Which of the examples these are; all in their order when there is none.
    view: Option<Arc<[u32]>>,
    labels: Arc<Labels>,
    origin: Arc<Origin>,
    features: Arc<[Feature]>,
    quarantine: Arc<[Quarantined]>,
    warnings: Arc<[Warning]>,
    fingerprint: Arc<OnceLock<Fingerprint>>,
    /// sha256 of the examples alone: the same whatever their labels become.
    digests: Arc<OnceLock<Vec<[u8; 32]>>>,
}

/// Where the examples stood before they were read.
#[derive(Debug, Default)]
pub(crate) enum Origin {
    /// Example i is row i of its file.
    #[default]
    InOrder,
    /// Rows of a file, some left out.
    Rows(Vec<u32>),
    /// A file each, named from the folder.
    Files(Vec<String>),
}

/// Where one example stood before it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// A row of the file, the first being 0.
    Row(usize),
    /// A file, named from the folder that was opened.
    File(&'a str),
}

/// A file that could not be read and was left out.
#[derive(Clone, Debug)]
pub struct Quarantined {
    /// The file.
    pub path: PathBuf,
    /// Why it could not be read.
    pub reason: String,
}

impl Dataset {
    /// Reads what is at `path`: its training part, or the whole where it has no parts.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        formats::of(path)?.read(path, Part::Train, options)
    }

    /// Reads a set that has to fit this one: the same classes, the same features, the same shape.
    pub fn open_like(&self, path: &Path, part: Part, options: &Options) -> Result<Self, Error> {
        let options = self.options_like(options);
        let other = formats::of(path)?.read(path, part, &options)?;
        let (expected, found) = (self.shape(), other.shape());
        if expected == found {
            return Ok(other);
        }
        Err(Error::Unlike { path: path.into(), expected: expected.to_string(), found: found.to_string() })
    }

    /// What has to be asked so that another set comes out like this one.
    #[must_use]
    pub fn options_like(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.classes = Some(self.labels.classes().names().to_vec()).filter(|names| !names.is_empty());
        if !self.features.is_empty() {
            options.features = Some(self.features.to_vec());
        }
        if let Shape::Image { height, width, channels } = self.shape() {
            options.image_size = Some([height as u32, width as u32]);
            options.color = if channels == 1 { crate::Color::Gray } else { crate::Color::Rgb };
        }
        options
    }

    /// A set of examples and as many labels, or none.
    pub(crate) fn new(format: &'static str, examples: Examples, labels: Labels) -> Self {
        debug_assert!(labels.is_empty() || labels.len() == examples.len());
        let warnings = labels.warnings();
        Self {
            format,
            examples: Arc::new(examples),
            view: None,
            labels: Arc::new(labels),
            origin: Arc::default(),
            features: Arc::default(),
            quarantine: Arc::default(),
            warnings: warnings.into(),
            fingerprint: Arc::default(),
            digests: Arc::default(),
        }
    }

    pub(crate) fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Arc::new(origin);
        self
    }

    pub(crate) fn with_features(mut self, features: Vec<Feature>) -> Self {
        self.features = features.into();
        self
    }

    pub(crate) fn with_quarantine(mut self, quarantine: Vec<Quarantined>) -> Self {
        self.quarantine = quarantine.into();
        self
    }

    pub(crate) fn with_warnings(mut self, more: Vec<Warning>) -> Self {
        self.warnings = self.warnings.iter().cloned().chain(more).collect();
        self
    }

    /// The same examples with other labels: noise injected, or labels corrected.
    ///
    /// # Panics
    /// If there are not as many labels as examples.
    #[must_use]
    pub fn with_labels(&self, labels: Labels) -> Self {
        assert_eq!(labels.len(), self.len(), "a label for each example");
        Self { labels: Arc::new(labels), fingerprint: Arc::default(), ..self.clone() }
    }

    /// Some of the examples, in the order of `rows`.
    ///
    /// # Panics
    /// If a row is beyond the last.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Self {
        let view = rows.iter().map(|&row| self.index(row as usize) as u32).collect();
        let labels = if self.is_labeled() { self.labels.select(rows) } else { (*self.labels).clone() };
        Self {
            view: Some(view),
            labels: Arc::new(labels),
            fingerprint: Arc::default(),
            digests: Arc::default(),
            ..self.clone()
        }
    }

    /// Where a row of this set stands among the examples.
    fn index(&self, row: usize) -> usize {
        self.view.as_ref().map_or(row, |view| view[row] as usize)
    }

    /// The name of the format it was read from.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// How many examples there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.view.as_ref().map_or(self.examples.len(), |view| view.len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of every example.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.examples.shape()
    }

    /// One example.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn example(&self, row: usize) -> Example<'_> {
        self.examples.at(self.index(row))
    }

    /// The examples as they lie in memory, if this set is all of them in their order.
    #[must_use]
    pub fn examples(&self) -> Option<&Examples> {
        if self.view.is_none() { Some(&self.examples) } else { None }
    }

    /// The labels; none if the set was opened without.
    #[must_use]
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Whether the examples have labels.
    #[must_use]
    pub fn is_labeled(&self) -> bool {
        !self.labels.is_empty()
    }

    /// What each number of a row means; empty where nothing says so.
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Where an example stood before it was read, as a list of suspects names it.
    #[must_use]
    pub fn source(&self, row: usize) -> Source<'_> {
        let index = self.index(row);
        match &*self.origin {
            Origin::InOrder => Source::Row(index),
            Origin::Rows(rows) => Source::Row(rows[index] as usize),
            Origin::Files(names) => Source::File(&names[index]),
        }
    }

    /// Files that were left out because they could not be read.
    #[must_use]
    pub fn quarantine(&self) -> &[Quarantined] {
        &self.quarantine
    }

    /// What a user should know before trusting a result.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The sha256 that stands for examples, labels and classes in a record; computed when first asked for.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        *self.fingerprint.get_or_init(|| Fingerprint::of(self))
    }

    /// What [`Fingerprint`] makes of the examples, computed when first asked for.
    pub(crate) fn digests(&self, of: impl FnOnce() -> Vec<[u8; 32]>) -> &[[u8; 32]] {
        self.digests.get_or_init(of)
    }
}

/// A training set and, where the files hold one, its test set.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What is learnt from.
    pub train: Dataset,
    /// What is tested on.
    pub test: Option<Dataset>,
}

impl Parts {
    /// Reads what is at `path`, both parts side by side where it has two.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let format = formats::of(path)?;
        if !format.has_test(path) {
            return Ok(Self { train: format.read(path, Part::Train, options)?, test: None });
        }
        if format.is_self_contained() {
            let (train, test) = rayon::join(
                || format.read(path, Part::Train, options),
                || format.read(path, Part::Test, options),
            );
            let (train, test) = (train?, test?);
            // A class that is absent from one part would shift the numbers of the others.
            if train.labels.classes() == test.labels.classes() {
                return Ok(Self { train, test: Some(test) });
            }
        }
        let train = format.read(path, Part::Train, options)?;
        let test = Some(train.open_like(path, Part::Test, options)?);
        Ok(Self { train, test })
    }
}
