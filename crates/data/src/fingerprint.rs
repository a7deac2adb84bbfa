//! A number that stands for a set: the same examples, labels and classes give the same, on every machine.

use crate::{Dataset, Example};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Examples hashed by one worker at a time are about this many bytes.
const CHUNK: usize = 1 << 20;

/// A sha256.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Fingerprint {
    /// The sha256 of the shape, of the sha256 of each run of examples, of the labels and of the class names.
    ///
    /// The runs are cut by the shape alone, so that any number of workers comes to the same.
    pub(crate) fn of(set: &Dataset) -> Self {
        let width = match set.shape() {
            crate::Shape::Image { .. } => 1,
            crate::Shape::Row(_) => size_of::<f32>(),
        };
        let run = (CHUNK / (set.shape().size() * width).max(1)).max(1);
        let runs = set.digests(|| {
            let starts: Vec<usize> = (0..set.len()).step_by(run).collect();
            starts.par_iter().map(|&first| hash(set, first, (first + run).min(set.len()))).collect()
        });
        let mut whole = Sha256::new();
        whole.update(format!("cleanest-data 1\n{}\n{}\n", set.shape(), set.len()));
        for digest in runs {
            whole.update(digest);
        }
        for label in set.labels().indices() {
            whole.update(label.to_le_bytes());
        }
        for name in set.labels().classes().names() {
            whole.update((name.len() as u64).to_le_bytes());
            whole.update(name);
        }
        Self(whole.finalize().into())
    }
}

/// The sha256 of some examples one after the other.
fn hash(set: &Dataset, first: usize, end: usize) -> [u8; 32] {
    let mut sum = Sha256::new();
    for row in first..end {
        match set.example(row) {
            Example::Image(pixels) => sum.update(pixels),
            Example::Row(values) if cfg!(target_endian = "little") => {
                sum.update(bytemuck::cast_slice(values));
            }
            Example::Row(values) => values.iter().for_each(|value| sum.update(value.to_le_bytes())),
        }
    }
    sum.finalize().into()
}
