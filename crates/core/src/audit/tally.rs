//! The second pass under Bayes: expected counts, and how far they may be off.

use super::{Block, Channel, Probability, Verdict};
use crate::Matrix;
use crate::noise::Dirichlet;
use crate::stats::normal_quantile;

/// Parts of the unit interval in which P(wrong) is counted, to say how long a list must be.
const BINS: usize = 4096;

/// By how much the estimated share of wrong labels deviates from the true one where a model, and not chance, is to blame,
/// and the model is a good one: over 35 runs with injected noise on the digits the root of the mean square is 0.0080,
/// chance included (`results/audit`).
pub const MODEL_ERROR: f64 = 0.0075;

/// How much more it deviates where the model doubts: this much times the mean doubt over the root of the number of
/// examples of a class, measured over some hundred runs with injected noise (`results/audit`).
const ERROR_PER_DOUBT: f64 = 2.5;

/// Sums over p(true class | x, given label).
#[derive(Clone, Debug)]
pub struct Tally {
    /// Σ r_k over the examples of label y.
    joint: Matrix,
    /// Σ r_k (1 - r_k): what chance alone lets the sum above vary by.
    variance: Matrix,
    /// Σ r_k r_y: how it moves with the noise matrix.
    shared: Matrix,
    /// Σ (1 - max p): how unsure the model is of the true classes, labels apart.
    doubt: f64,
    bins: Vec<(u64, f64)>,
}

/// How many labels are expected to be wrong, and between which bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Expected number.
    pub expected: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Tally {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        let zeros = Matrix::zeros(classes, classes);
        let bins = vec![(0, 0.0); BINS];
        Self { joint: zeros.clone(), variance: zeros.clone(), shared: zeros, doubt: 0.0, bins }
    }

    /// Counts a block.
    pub fn count<P: Probability>(&mut self, block: &Block<'_, P>, channel: &Channel) {
        let mut posterior = vec![0.0; block.classes()];
        for (_, row, label) in block.rows() {
            channel.posterior(row, label, &mut posterior);
            let wrong = Verdict::of(&posterior, label).wrong;
            self.doubt += 1.0 - row.iter().fold(0.0, |most: f64, p| most.max(p.wide()));
            let label = label as usize;
            let own = posterior[label];
            let sums = self.joint.row_mut(label).iter_mut().zip(self.variance.row_mut(label));
            for ((&r, (joint, variance)), shared) in
                posterior.iter().zip(sums).zip(self.shared.row_mut(label))
            {
                *joint += r;
                *variance += r * (1.0 - r);
                *shared += r * own;
            }
            let bin = &mut self.bins[((wrong * BINS as f64) as usize).min(BINS - 1)];
            bin.0 += 1;
            bin.1 += wrong;
        }
    }

    /// Takes over what another has counted.
    pub fn merge(&mut self, other: &Self) {
        let add = |mine: &mut Matrix, theirs: &Matrix| {
            mine.values_mut().iter_mut().zip(theirs.values()).for_each(|(a, b)| *a += b);
        };
        add(&mut self.joint, &other.joint);
        add(&mut self.variance, &other.variance);
        add(&mut self.shared, &other.shared);
        self.doubt += other.doubt;
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
    }

    /// The expected number of examples of each true class (row) that have each label (column).
    #[must_use]
    pub fn joint(&self) -> Matrix {
        self.joint.transposed()
    }

    /// How unsure the model is of the true class of an example, on average: the share it expects to mistake.
    #[must_use]
    pub fn doubt(&self) -> f64 {
        self.doubt / self.examples().max(1.0)
    }

    /// By how much the share of wrong labels is usually off because the model is.
    #[must_use]
    pub fn model_error(&self) -> f64 {
        let of_a_class = self.examples().max(1.0) / self.joint.rows() as f64;
        MODEL_ERROR.hypot(ERROR_PER_DOUBT * self.doubt() / of_a_class.sqrt())
    }

    fn examples(&self) -> f64 {
        self.joint.values().iter().sum()
    }

    /// How many labels of each class are wrong, and how many in all, each in bounds that hold with probability `level`.
    ///
    /// The bounds cover the chance in each label; where `noise` is what T was counted from, the chance in T; and
    /// `model_error`, how far the share of wrong labels is usually off because the model is (see [`Self::model_error`]).
    #[must_use]
    pub fn wrong(&self, noise: Option<&Dirichlet>, level: f64, model_error: f64) -> (Vec<Counted>, Counted) {
        let classes = self.joint.rows();
        let width = normal_quantile(0.5 + level / 2.0);
        let bounded = |expected: f64, variance: f64, most: f64| {
            let reach = width * variance.max(0.0).sqrt();
            Counted { expected, low: (expected - reach).max(0.0), high: (expected + reach).min(most) }
        };
        let given: Vec<f64> = self.joint.iter_rows().map(|row| row.iter().sum()).collect();
        let wrong: Vec<f64> = (0..classes).map(|label| given[label] - self.joint[(label, label)]).collect();
        let chance: Vec<f64> = (0..classes).map(|label| self.variance[(label, label)]).collect();
        let (by_label, in_all) = noise.map_or((vec![0.0; classes], 0.0), |noise| self.noise_variance(noise));
        let examples = self.examples();
        let model = (model_error * examples).powi(2);
        let each = (0..classes)
            .map(|label| {
                let variance = chance[label] + by_label[label] + model / classes as f64;
                bounded(wrong[label].max(0.0), variance, given[label])
            })
            .collect();
        let all = bounded(wrong.iter().sum(), chance.iter().sum::<f64>() + in_all + model, examples);
        (each, all)
    }

    /// The variance that not knowing T adds to the number of wrong labels of each class, and to their sum.
    ///
    /// To first order: with a = d(wrong)/d(ln T\[k\]\[y\]), and the covariance of a Dirichlet row of mass N.
    fn noise_variance(&self, noise: &Dirichlet) -> (Vec<f64>, f64) {
        let classes = self.joint.rows();
        let (mut by_label, mut in_all) = (vec![0.0; classes], 0.0);
        for (class, counts) in noise.counts().iter_rows().enumerate() {
            let mass: f64 = counts.iter().sum();
            let (mut squares, mut mean) = (0.0, 0.0);
            for (label, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let t = count / mass;
                let slope =
                    if class == label { -self.variance[(label, label)] } else { self.shared[(label, class)] };
                by_label[label] += slope * slope * (1.0 - t) / (t * (mass + 1.0));
                squares += slope * slope / t;
                mean += slope;
            }
            in_all += (squares - mean * mean).max(0.0) / (mass + 1.0);
        }
        (by_label, in_all)
    }

    /// The P(wrong) above which the examples hold this share of the wrong labels, or a little more, in expectation.
    #[must_use]
    pub fn cutoff(&self, share: f64) -> f64 {
        let total: f64 = self.bins.iter().map(|bin| bin.1).sum();
        let mut found = 0.0;
        for (at, &(_, sum)) in self.bins.iter().enumerate().rev() {
            found += sum;
            if found >= share * total && found > 0.0 {
                return at as f64 / BINS as f64;
            }
        }
        1.0
    }

    /// How many examples, most suspicious first, hold this share of the wrong labels in expectation.
    #[must_use]
    pub fn list_size(&self, share: f64) -> usize {
        let total: f64 = self.bins.iter().map(|bin| bin.1).sum();
        let (mut found, mut size) = (0.0, 0.0);
        for &(count, sum) in self.bins.iter().rev().filter(|bin| bin.0 > 0) {
            let missing = share * total - found;
            if sum >= missing {
                // Within a bin all are alike.
                return (size + (missing.max(0.0) / sum.max(f64::MIN_POSITIVE)).min(1.0) * count as f64).ceil()
                    as usize;
            }
            found += sum;
            size += count as f64;
        }
        size as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noise, corrupt};
    use crate::random::Stream;

    /// Labels of two overlapping classes, corrupted, with the exact p(true class | x); how many are wrong in truth.
    fn drawn(seed: u64, examples: usize) -> (Vec<f64>, Vec<u32>, usize) {
        let noise = "pair:0.3".parse::<Noise>().unwrap().transition(3, 0).unwrap();
        let mut stream = Stream::new(seed, "test", 0);
        let (mut rows, mut clean) = (Vec::new(), Vec::new());
        for _ in 0..examples {
            let sure = 0.5 + 0.5 * stream.uniform();
            let first = stream.below(3);
            let mut row = [(1.0 - sure) / 2.0; 3];
            row[first] = sure;
            clean.push(stream.categorical(&row) as u32);
            rows.extend(row);
        }
        let noisy = corrupt(&clean, &noise, seed).unwrap().noisy;
        let wrong = clean.iter().zip(&noisy).filter(|(clean, noisy)| clean != noisy).count();
        (rows, noisy, wrong)
    }

    #[test]
    fn the_interval_covers_the_number_of_wrong_labels_as_often_as_it_says() {
        let noise = "pair:0.3".parse::<Noise>().unwrap().transition(3, 0).unwrap();
        let channel = Channel::new(&noise);
        let trials = 400;
        let mut covered = 0;
        for seed in 0..trials {
            let (rows, labels, wrong) = drawn(seed, 300);
            let mut tally = Tally::new(3);
            tally.count(&Block::checked((&rows[..], &labels[..]), 3, 0).unwrap(), &channel);
            let (_, all) = tally.wrong(None, 0.9, 0.0);
            covered += u32::from((all.low..=all.high).contains(&(wrong as f64)));
        }
        let share = f64::from(covered) / trials as f64;
        // Three deviations of a share of 0.9 in 400 trials.
        assert!((share - 0.9).abs() < 0.045, "{share}");
    }

    #[test]
    fn a_model_that_doubts_is_taken_to_be_off_by_more_the_fewer_examples_it_has() {
        let channel = Channel::new(&"pair:0.3".parse::<Noise>().unwrap().transition(2, 0).unwrap());
        let error = |sure: f64, examples: usize| {
            let rows: Vec<f64> = (0..examples).flat_map(|_| [sure, 1.0 - sure]).collect();
            let mut tally = Tally::new(2);
            tally.count(&Block::checked((&rows[..], &vec![0; examples][..]), 2, 0).unwrap(), &channel);
            assert!((tally.doubt() - (1.0 - sure)).abs() < 1e-9);
            tally.model_error()
        };
        assert_eq!(error(1.0, 100), MODEL_ERROR);
        assert!(error(0.8, 100) > 5.0 * MODEL_ERROR);
        assert!(error(0.8, 100) > error(0.9, 100) && error(0.9, 100) > error(0.9, 400));
        assert!(error(0.9, 1_000_000) < 1.01 * MODEL_ERROR);
    }

    #[test]
    fn merged_parts_count_like_the_whole() {
        let (rows, labels, _) = drawn(1, 100);
        let channel = Channel::new(&"symmetric:0.3".parse::<Noise>().unwrap().transition(3, 0).unwrap());
        let count = |rows: &[f64], labels: &[u32]| {
            let mut tally = Tally::new(3);
            tally.count(&Block::trusted((rows, labels), 3, 0), &channel);
            tally
        };
        let whole = count(&rows, &labels);
        let mut parts = count(&rows[..120], &labels[..40]);
        parts.merge(&count(&rows[120..], &labels[40..]));
        let (all, sum) = (whole.joint(), parts.joint());
        assert!(all.values().iter().zip(sum.values()).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(whole.list_size(0.9), parts.list_size(0.9));
        assert!((whole.doubt() - parts.doubt()).abs() < 1e-9);
        assert!((whole.joint().values().iter().sum::<f64>() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_list_for_all_errors_stops_where_none_are_left() {
        let channel = Channel::new(&"symmetric:0.4".parse::<Noise>().unwrap().transition(2, 0).unwrap());
        let rows = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        let mut tally = Tally::new(2);
        tally.count(&Block::checked((&rows[..], &[0, 0, 0, 1][..]), 2, 0).unwrap(), &channel);
        assert_eq!(tally.list_size(0.95), 1, "only the second example is wrong");
    }
}
