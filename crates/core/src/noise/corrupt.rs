//! Drawing noisy labels.

use super::Transition;
use crate::Error;
use crate::random::{Stream, pick};

/// Labels as they are given, with the true ones beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoisyLabels {
    /// What is true.
    pub clean: Vec<u32>,
    /// What is given.
    pub noisy: Vec<u32>,
}

impl NoisyLabels {
    /// How many of the labels are in fact wrong.
    #[must_use]
    pub fn wrong(&self) -> usize {
        self.clean.iter().zip(&self.noisy).filter(|(clean, noisy)| clean != noisy).count()
    }

    /// The share of labels that are in fact wrong.
    #[must_use]
    pub fn realized_rate(&self) -> f64 {
        if self.clean.is_empty() { 0.0 } else { self.wrong() as f64 / self.clean.len() as f64 }
    }
}

/// Draws a noisy label for each clean one, independently of all others.
///
/// The draw for an example depends on the seed and its place alone, so that the first thousand labels of a set are
/// corrupted alike whether or not more follow.
pub fn corrupt(clean: &[u32], transition: &Transition, seed: u64) -> Result<NoisyLabels, Error> {
    let classes = transition.classes();
    let stream = Stream::new(seed, "corrupt", 0);
    let draw = |(row, &label): (usize, &u32)| {
        if label as usize >= classes {
            return Err(Error::Label { row, label, classes });
        }
        Ok(pick(transition.row(label as usize), stream.uniform_at(row as u32)) as u32)
    };
    let noisy = clean.iter().enumerate().map(draw).collect::<Result<_, _>>()?;
    Ok(NoisyLabels { clean: clean.to_vec(), noisy })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    #[test]
    fn labels_follow_the_rows_of_the_matrix() {
        let transition = "pair2:0.3,0.2".parse::<Noise>().unwrap().transition(5, 0).unwrap();
        let clean: Vec<u32> = (0..100_000).map(|row| row % 5).collect();
        let labels = corrupt(&clean, &transition, 42).unwrap();
        assert_eq!(labels.clean, clean);
        let mut counts = [[0_u32; 5]; 5];
        for (clean, noisy) in labels.clean.iter().zip(&labels.noisy) {
            counts[*clean as usize][*noisy as usize] += 1;
        }
        for (class, counts) in counts.iter().enumerate() {
            for (label, &count) in counts.iter().enumerate() {
                let share = transition.row(class)[label];
                let error = (share * (1.0 - share) / 20_000.0).sqrt();
                let seen = f64::from(count) / 20_000.0;
                assert!((seen - share).abs() <= 4.0 * error, "({class}, {label}): {seen} for {share}");
            }
        }
        assert!((labels.realized_rate() - 0.44).abs() < 4.0 * (0.44 * 0.56 / 100_000_f64).sqrt());
    }

    #[test]
    fn a_seed_gives_the_same_labels_and_a_longer_set_the_same_beginning() {
        let transition = "symmetric:0.5".parse::<Noise>().unwrap().transition(3, 0).unwrap();
        let labels = |n: usize, seed| corrupt(&vec![1; n], &transition, seed).unwrap().noisy;
        assert_eq!(labels(100, 1), labels(100, 1));
        assert_eq!(labels(100, 1), labels(200, 1)[..100]);
        assert_ne!(labels(100, 1), labels(100, 2));
    }

    #[test]
    fn a_label_that_is_no_class_is_named_with_its_row() {
        let error = corrupt(&[0, 1, 7], &Transition::identity(3), 0).unwrap_err();
        assert_eq!(error.to_string(), "label 7 in row 2 (from 0) is not a class: there are 3, from 0");
    }
}
