//! What a set looks like, before anything is learnt from it.

use crate::{Dataset, Example, Shape, Source};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

/// Groups of conflicting duplicates that are listed; the rest are counted.
const LISTED: usize = 10;

/// A set in numbers, as `cleanest inspect` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The format it was read from.
    pub format: &'static str,
    /// How many examples there are.
    pub examples: usize,
    /// The shape of each.
    pub shape: Vec<usize>,
    /// The classes, and how many examples each has; empty for a set without labels.
    pub classes: Vec<ClassCount>,
    /// Examples that are the same, number by number.
    pub duplicates: Duplicates,
    /// What is odd about it.
    pub warnings: Vec<String>,
    /// Files that could not be read.
    pub quarantine: Vec<String>,
    /// The sha256 that stands for it.
    pub fingerprint: String,
}

/// A class and how many examples it has.
#[derive(Clone, Debug, Serialize)]
pub struct ClassCount {
    /// Its name.
    pub name: String,
    /// Its examples.
    pub examples: usize,
}

/// Examples that are the same.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Duplicates {
    /// Examples that stand there before, under any label.
    pub copies: usize,
    /// Groups of equal examples whose labels differ: one of them at least is wrong.
    pub conflicting_groups: usize,
    /// Examples in those groups.
    pub conflicting_examples: usize,
    /// The first groups.
    pub conflicts: Vec<Conflict>,
}

/// Equal examples with different labels.
#[derive(Clone, Debug, Serialize)]
pub struct Conflict {
    /// Where they stood: file names, or rows counted from 0.
    pub examples: Vec<String>,
    /// What each is said to be.
    pub labels: Vec<String>,
}

impl Summary {
    /// Looks at every example of the set.
    #[must_use]
    pub fn of(set: &Dataset) -> Self {
        let names = set.labels().classes().names();
        let counts = set.labels().counts();
        let count = |(name, examples): (&String, usize)| ClassCount { name: name.clone(), examples };
        Self {
            format: set.format(),
            examples: set.len(),
            shape: match set.shape() {
                Shape::Image { height, width, channels } => vec![height, width, channels],
                Shape::Row(width) => vec![width],
            },
            classes: names.iter().zip(counts).map(count).collect(),
            duplicates: duplicates(set),
            warnings: set.warnings().iter().map(ToString::to_string).collect(),
            quarantine: set.quarantine().iter().map(|file| file.reason.clone()).collect(),
            fingerprint: set.fingerprint().to_string(),
        }
    }
}

/// Finds equal examples: candidates by a hash, then number by number.
fn duplicates(set: &Dataset) -> Duplicates {
    let hashes: Vec<u64> = (0..set.len()).into_par_iter().map(|row| hash(set.example(row))).collect();
    let mut groups: HashMap<u64, Vec<u32>> = HashMap::with_capacity(set.len());
    for (row, hash) in hashes.into_iter().enumerate() {
        groups.entry(hash).or_default().push(row as u32);
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().filter(|rows| rows.len() > 1).collect();
    groups.sort_unstable();
    let mut found = Duplicates::default();
    for equal in groups.into_iter().flat_map(|rows| truly_equal(set, rows)) {
        found.copies += equal.len() - 1;
        let labels: Vec<u32> =
            equal.iter().filter_map(|&row| set.labels().indices().get(row as usize).copied()).collect();
        if labels.iter().any(|label| label != &labels[0]) {
            found.conflicting_groups += 1;
            found.conflicting_examples += equal.len();
            if found.conflicts.len() < LISTED {
                found.conflicts.push(conflict(set, &equal, &labels));
            }
        }
    }
    found
}

fn conflict(set: &Dataset, rows: &[u32], labels: &[u32]) -> Conflict {
    let place = |&row: &u32| match set.source(row as usize) {
        Source::Row(row) => row.to_string(),
        Source::File(name) => name.to_owned(),
    };
    let name = |&label: &u32| set.labels().classes().names()[label as usize].clone();
    Conflict { examples: rows.iter().map(place).collect(), labels: labels.iter().map(name).collect() }
}

/// Rows of one hash in groups that are equal in every number.
fn truly_equal(set: &Dataset, rows: Vec<u32>) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for row in rows {
        let same =
            |group: &&mut Vec<u32>| bits_equal(set.example(group[0] as usize), set.example(row as usize));
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn bytes(example: Example<'_>) -> &[u8] {
    match example {
        Example::Image(pixels) => pixels,
        Example::Row(values) => bytemuck::cast_slice(values),
    }
}

fn bits_equal(first: Example<'_>, second: Example<'_>) -> bool {
    bytes(first) == bytes(second)
}

fn hash(example: Example<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes(example));
    hasher.finish()
}
