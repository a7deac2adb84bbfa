//! Numbers brought to mean 0 and deviation 1, by constants that are kept with the model.

use crate::{Dataset, Error, Example, Shape};
use rayon::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

/// Rows that are summed up together; fixed, so that sums do not depend on the number of workers.
const RUN: usize = 1024;

/// A mean and a deviation for each channel of an image (whose pixels are first divided by 255) or number of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardization {
    /// What is subtracted.
    #[serde(serialize_with = "decimals")]
    pub mean: Vec<f32>,
    /// What the difference is divided by; never 0.
    #[serde(serialize_with = "decimals")]
    pub deviation: Vec<f32>,
}

/// Numbers as people write them: 0.2023, also in formats that know double precision alone and would have it 0.2022999972.
fn decimals<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer
        .collect_seq(numbers.iter().map(|number| number.to_string().parse().unwrap_or(f64::from(*number))))
}

/// Constants by name: those of the paper's experiments.
const NAMED: [(&str, &[f32], &[f32]); 3] = [
    ("mnist", &[0.0], &[1.0]),
    ("cifar-10", &[0.4914, 0.4822, 0.4465], &[0.2023, 0.1994, 0.2010]),
    ("cifar-100", &[0.5071, 0.4867, 0.4408], &[0.2675, 0.2565, 0.2761]),
];

impl Standardization {
    /// The names that [`Standardization::named`] knows.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        NAMED.iter().map(|row| row.0).collect()
    }

    /// The constants of the paper for a set: `mnist` (pixels are only divided by 255), `cifar-10` or `cifar-100`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let row = NAMED.iter().find(|row| row.0 == name)?;
        Some(Self { mean: row.1.to_vec(), deviation: row.2.to_vec() })
    }

    /// Constants that change nothing, for so many channels.
    #[must_use]
    pub fn none(channels: usize) -> Self {
        Self { mean: vec![0.0; channels], deviation: vec![1.0; channels] }
    }

    /// The constants of a training set; missing numbers do not count, and what never varies keeps deviation 1.
    #[must_use]
    pub fn of(set: &Dataset) -> Self {
        let channels = set.shape().channels();
        let starts: Vec<usize> = (0..set.len()).step_by(RUN).collect();
        let rows = |first: usize| first..(first + RUN).min(set.len());
        let total = |of: &(dyn Fn(usize, f64) -> f64 + Sync)| {
            let part = |&first: &usize| Sums::over(set, rows(first), channels, of);
            let parts: Vec<Sums> = starts.par_iter().map(part).collect();
            parts.iter().fold(Sums::zero(channels), Sums::plus)
        };
        let sums = total(&|_, value| value);
        let mean: Vec<f64> = sums.mean();
        // The second pass sums squares of differences: the first alone would cancel where the mean is large.
        let spread = total(&|channel, value| (value - mean[channel]).powi(2)).mean();
        let deviation = spread.iter().map(|variance| variance.sqrt() as f32);
        Self {
            mean: mean.iter().map(|&mean| mean as f32).collect(),
            deviation: deviation.map(|deviation| if deviation > 0.0 { deviation } else { 1.0 }).collect(),
        }
    }

    /// Checks that there is a constant for each channel or number of `shape`.
    pub fn check(&self, shape: Shape) -> Result<(), Error> {
        let (expected, found) = (shape.channels(), self.mean.len());
        if found == expected && self.deviation.len() == expected {
            return Ok(());
        }
        Err(Error::Constants { expected, found })
    }

    /// The value of each pixel in each channel.
    pub(crate) fn table(&self) -> Vec<[f32; 256]> {
        let channel = |(mean, deviation): (&f32, &f32)| {
            std::array::from_fn(|pixel| (pixel as f32 / 255.0 - mean) / deviation)
        };
        self.mean.iter().zip(&self.deviation).map(channel).collect()
    }

    /// Writes the standardized row; a missing number stands at the mean, which is 0.
    pub fn row(&self, row: &[f32], out: &mut [f32]) {
        for (((out, value), mean), deviation) in out.iter_mut().zip(row).zip(&self.mean).zip(&self.deviation)
        {
            *out = if value.is_nan() { 0.0 } else { (value - mean) / deviation };
        }
    }
}

/// Sums over channels, and over how many numbers each.
struct Sums {
    sum: Vec<f64>,
    count: Vec<u64>,
}

impl Sums {
    fn zero(channels: usize) -> Self {
        Self { sum: vec![0.0; channels], count: vec![0; channels] }
    }

    fn over(
        set: &Dataset,
        rows: std::ops::Range<usize>,
        channels: usize,
        of: &(dyn Fn(usize, f64) -> f64 + Sync),
    ) -> Self {
        let mut sums = Self::zero(channels);
        for row in rows {
            match set.example(row) {
                Example::Row(values) => {
                    let known = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
                    known.for_each(|(at, &value)| sums.add(at, of(at, f64::from(value))));
                }
                Example::Image(pixels) => {
                    let numbers = pixels.iter().enumerate();
                    numbers.for_each(|(at, &pixel)| {
                        sums.add(at % channels, of(at % channels, f64::from(pixel) / 255.0));
                    });
                }
            }
        }
        sums
    }

    fn add(&mut self, channel: usize, value: f64) {
        self.sum[channel] += value;
        self.count[channel] += 1;
    }

    fn plus(mut self, other: &Self) -> Self {
        self.sum.iter_mut().zip(&other.sum).for_each(|(sum, more)| *sum += more);
        self.count.iter_mut().zip(&other.count).for_each(|(count, more)| *count += more);
        self
    }

    fn mean(&self) -> Vec<f64> {
        self.sum.iter().zip(&self.count).map(|(sum, &count)| sum / count.max(1) as f64).collect()
    }
}
