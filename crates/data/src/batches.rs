//! Batches, the next one prepared while the current one trains.

use crate::augment::Crop;
use crate::order::Order;
use crate::{Augment, Dataset, Error, Example, Shape, Standardization};
use cleanest_core::random::Stream;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// What a batch is made of.
#[derive(Clone, Debug)]
pub struct BatchSettings {
    /// Examples in a batch; the last of an epoch may have fewer.
    pub size: usize,
    /// Which examples come, and when.
    pub course: Course,
    /// How images are varied.
    pub augment: Augment,
    /// How numbers are standardized.
    pub standardization: Standardization,
    /// Which worker prepares them, and of how many: each prepares its part of every batch.
    pub worker: (usize, usize),
}

/// Which examples come, when, and what their crops are drawn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// All of them, epoch after epoch without end, in an order that is drawn anew for each.
    Training {
        /// Seed of the order and of the crops.
        seed: u64,
        /// The step of the first batch: 0, or where a run goes on.
        first_step: u64,
    },
    /// Some of them, once, in the order of the set.
    Once {
        /// Which of them.
        rows: Range<usize>,
        /// Seed of the crops, which do not depend on the batch an image is in.
        seed: u64,
    },
}

/// Some examples, ready to be learnt from.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The step it belongs to, counted from the start of the run.
    pub step: u64,
    /// Which rows of the set these are, those of all workers.
    pub rows: Vec<u32>,
    /// Which of them are this worker's; a short batch may have none for it.
    pub own: Range<usize>,
    /// Their labels; empty where the set has none.
    pub labels: Vec<u32>,
    /// The numbers of what this worker computes, example after example; of an image row by row, the channels of a pixel
    /// side by side.
    pub values: Vec<f32>,
    /// What is learnt from of each of these images, where that has still to be cut out; else nothing.
    pub crops: Vec<Crop>,
}

impl Batch {
    /// The places of what this worker computes: its own, or the first of all where it has none, so that it can go
    /// through the motions.
    #[must_use]
    pub fn computed(&self) -> Range<usize> {
        if self.own.is_empty() { 0..1 } else { self.own.clone() }
    }
}

/// The batches of a set, prepared on a thread of their own.
///
/// Those of training never end.
#[derive(Debug)]
pub struct Batches {
    source: Source,
}

/// Where batches come from.
#[derive(Debug)]
enum Source {
    /// A thread that prepares them.
    Thread(Receiver<Batch>),
    /// Here and now: rows and crops are drawn sooner than a thread is woken.
    Here { preparation: Box<Preparation>, order: Order, steps: Range<u64> },
}

impl Batches {
    /// Starts to prepare the batches of `set`.
    pub fn new(set: &Dataset, settings: BatchSettings) -> Result<Self, Error> {
        settings.standardization.check(set.shape())?;
        let order = settings.order(set.len());
        // One batch is ready and one in the making: more would only hold memory.
        let (sender, ready) = sync_channel(1);
        let set = set.clone();
        std::thread::Builder::new()
            .name("batches".into())
            .spawn(move || Preparation::new(set, settings).run(order, &sender))
            .map_err(Error::Thread)?;
        Ok(Self { source: Source::Thread(ready) })
    }

    /// The same batches by their rows and crops alone, for a device that has the examples and cuts them itself.
    pub fn by_rows(set: &Dataset, settings: BatchSettings) -> Result<Self, Error> {
        settings.standardization.check(set.shape())?;
        let order = settings.order(set.len());
        let steps = settings.steps(&order);
        let preparation = Box::new(Preparation::new(set.clone(), settings));
        Ok(Self { source: Source::Here { preparation, order, steps } })
    }
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        match &mut self.source {
            Source::Thread(ready) => ready.recv().ok(),
            Source::Here { preparation, order, steps } => {
                let step = steps.next()?;
                Some(preparation.rows(step, order.rows(step)))
            }
        }
    }
}

impl BatchSettings {
    /// The order in which a set of so many examples is gone through.
    #[must_use]
    pub fn order(&self, examples: usize) -> Order {
        match &self.course {
            Course::Training { seed, .. } => Order::shuffled(examples, self.size, *seed),
            Course::Once { rows, .. } => Order::sequential(rows.clone(), self.size),
        }
    }

    /// The examples of a batch that are this worker's: parts differ by at most one.
    fn own(&self, batch: usize) -> Range<usize> {
        let (rank, size) = self.worker;
        let (base, extra) = (batch / size, batch % size);
        let start = rank * base + rank.min(extra);
        start..start + base + usize::from(rank < extra)
    }

    /// The steps there are: those of training never end.
    fn steps(&self, order: &Order) -> Range<u64> {
        match self.course {
            Course::Training { first_step, .. } => first_step..u64::MAX,
            Course::Once { .. } => 0..order.steps_per_epoch(),
        }
    }

    /// What the crops of a step are drawn from.
    fn crops(&self, step: u64) -> Stream {
        match self.course {
            Course::Training { seed, .. } => Augment::stream(seed, step),
            Course::Once { seed, .. } => Augment::stream_once(seed),
        }
    }
}

/// Turns rows into batches.
#[derive(Debug)]
struct Preparation {
    set: Dataset,
    settings: BatchSettings,
    /// The standardized value of each pixel in each channel.
    table: Vec<[f32; 256]>,
}

impl Preparation {
    fn new(set: Dataset, settings: BatchSettings) -> Self {
        let table = match set.shape() {
            Shape::Image { .. } => settings.standardization.table(),
            Shape::Row(_) => Vec::new(),
        };
        Self { set, settings, table }
    }

    /// Sends batches until nobody takes them any more.
    fn run(&self, mut order: Order, sender: &SyncSender<Batch>) {
        for step in self.settings.steps(&order) {
            if sender.send(self.batch(step, order.rows(step))).is_err() {
                return;
            }
        }
    }

    /// Rows, labels and crops.
    fn rows(&self, step: u64, rows: &[u32]) -> Batch {
        let labels = self.set.labels().indices();
        let labels = if labels.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| labels[row as usize]).collect()
        };
        let stream = self.settings.crops(step);
        let varied =
            self.settings.augment != Augment::default() && matches!(self.set.shape(), Shape::Image { .. });
        let own = self.settings.own(rows.len());
        let batch = Batch { step, rows: rows.to_vec(), own, labels, values: Vec::new(), crops: Vec::new() };
        let crop = |&row: &u32| self.settings.augment.draw(&stream, row);
        let crops = if varied { rows[batch.computed()].iter().map(crop).collect() } else { Vec::new() };
        Batch { crops, ..batch }
    }

    /// The same with the numbers of the examples.
    fn batch(&self, step: u64, rows: &[u32]) -> Batch {
        let size = self.set.shape().size();
        let batch = self.rows(step, rows);
        let rows = &rows[batch.computed()];
        let mut values = vec![0.0; rows.len() * size];
        let mut crops = batch.crops.iter();
        let mut varied = vec![0; size];
        for (&row, values) in rows.iter().zip(values.chunks_exact_mut(size)) {
            match self.set.example(row as usize) {
                Example::Row(numbers) => self.settings.standardization.row(numbers, values),
                Example::Image(pixels) => match crops.next() {
                    None => self.pixels(pixels, values),
                    Some(&crop) => {
                        self.settings.augment.apply(crop, pixels, self.set.shape(), &mut varied);
                        self.pixels(&varied, values);
                    }
                },
            }
        }
        Batch { values, crops: Vec::new(), ..batch }
    }

    fn pixels(&self, pixels: &[u8], values: &mut [f32]) {
        let channels = self.table.len();
        for (pixel, values) in pixels.chunks_exact(channels).zip(values.chunks_exact_mut(channels)) {
            for ((value, byte), table) in values.iter_mut().zip(pixel).zip(&self.table) {
                *value = table[usize::from(*byte)];
            }
        }
    }
}
