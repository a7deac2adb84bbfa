//! A set cut in parts, each with its share of every class.

use crate::{Dataset, Error};
use cleanest_core::random::Stream;

impl Dataset {
    /// Splits off a test set: about `share` of the examples of each class, chosen by the seed.
    ///
    /// A class with a single example keeps it for training. Both parts keep the order of the whole.
    pub fn split(&self, share: f64, seed: u64) -> Result<(Self, Self), Error> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::Share(share));
        }
        let mut is_test = vec![false; self.len()];
        for (class, mut rows) in self.rows_by_class().into_iter().enumerate() {
            Stream::new(seed, "split", class as u64).shuffle(&mut rows);
            let count = (rows.len() as f64 * share).round() as usize;
            let count = count.min(rows.len().saturating_sub(1));
            rows[..count].iter().for_each(|&row| is_test[row as usize] = true);
        }
        let part = |test: bool| -> Vec<u32> {
            (0..self.len() as u32).filter(|&row| is_test[row as usize] == test).collect()
        };
        Ok((self.select(&part(false)), self.select(&part(true))))
    }

    /// The fold of each example, 0 to `count` - 1: of every class, each fold has as many as the others, or one more.
    pub fn folds(&self, count: usize, seed: u64) -> Result<Vec<u32>, Error> {
        if count < 2 || count > self.len() {
            return Err(Error::Folds { found: count, examples: self.len() });
        }
        let mut folds = vec![0; self.len()];
        let mut next = 0;
        for (class, mut rows) in self.rows_by_class().into_iter().enumerate() {
            Stream::new(seed, "folds", class as u64).shuffle(&mut rows);
            for row in rows {
                folds[row as usize] = next as u32;
                next = (next + 1) % count;
            }
        }
        Ok(folds)
    }

    /// The rows of each class; all in one where there are no labels.
    fn rows_by_class(&self) -> Vec<Vec<u32>> {
        if !self.is_labeled() {
            return vec![(0..self.len() as u32).collect()];
        }
        let mut rows = vec![Vec::new(); self.labels().classes().len()];
        for (row, &class) in self.labels().indices().iter().enumerate() {
            rows[class as usize].push(row as u32);
        }
        rows
    }
}
