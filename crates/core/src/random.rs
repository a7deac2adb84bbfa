//! Random numbers that do not depend on who asked before.
//!
//! A [`Stream`] is a function of (seed, name, step) and nothing else: it is Philox4x32-10, a counter-based generator
//! whose n-th word is computed from n, not from the word before it. A resumed run, a run on several workers and a run
//! whose neighbour draws more or less than yesterday therefore see the same draws.
//!
//! Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

use crate::elementary::ln;

/// Blocks computed at a time; their rounds are independent, so that the compiler runs them side by side.
const LANES: usize = 8;
/// Words in a block.
const WORDS: usize = 4;

/// A stream of random numbers named by what they are for.
///
/// ```
/// use cleanest_core::random::Stream;
///
/// let mut coins = Stream::new(2021, "coins", 0);
/// let first = coins.uniform();
/// assert_eq!(first, Stream::new(2021, "coins", 0).uniform());
/// assert_ne!(first, Stream::new(2021, "coins", 1).uniform());
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    step: u64,
    name: u32,
    /// The first block that is not in `words` yet.
    block: u32,
    words: [u32; LANES * WORDS],
    used: usize,
}

impl Stream {
    /// The stream `name` of a run with this seed, at this step.
    #[must_use]
    pub fn new(seed: u64, name: &str, step: u64) -> Self {
        let key = [seed as u32, (seed >> 32) as u32];
        Self { key, step, name: hash(name), block: 0, words: [0; LANES * WORDS], used: LANES * WORDS }
    }

    /// The four words that belong to one index of this stream, whatever was drawn before: a crop for one image, say.
    #[must_use]
    pub fn at(&self, index: u32) -> [u32; WORDS] {
        let mut words = [0; LANES * WORDS];
        philox(self.key, self.step, self.name, index, &mut words);
        [words[0], words[1], words[2], words[3]]
    }

    /// A number in 0 ..= `u32::MAX`, each equally likely.
    pub fn word(&mut self) -> u32 {
        if self.used == self.words.len() {
            philox(self.key, self.step, self.name, self.block, &mut self.words);
            self.block = self.block.wrapping_add(LANES as u32);
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// Two words as one.
    pub fn long(&mut self) -> u64 {
        u64::from(self.word()) | (u64::from(self.word()) << 32)
    }

    /// A number strictly between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        unit(self.long())
    }

    /// A whole number below `bound`, each equally likely.
    ///
    /// Lemire, "Fast random integer generation in an interval", 2019: multiply, and redraw the few words that would
    /// favor the small numbers.
    ///
    /// # Panics
    /// If `bound` is zero or above `u32::MAX`: an index into nothing is a bug of the caller.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u32::try_from(bound).expect("a bound fits in 32 bits");
        assert!(bound > 0, "no whole number is below zero");
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let wide = u64::from(self.word()) * u64::from(bound);
            if wide as u32 >= unfair {
                return (wide >> 32) as usize;
            }
        }
    }

    /// A draw from the standard normal distribution (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }

    /// Puts the items into an order, each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// An index drawn with the given weights, which need not sum to one.
    ///
    /// Falls on the last positive weight if rounding leaves the draw beyond all of them.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let target = self.uniform() * weights.iter().sum::<f64>();
        let mut sum = 0.0;
        for (index, weight) in weights.iter().enumerate() {
            sum += weight;
            if target < sum {
                return index;
            }
        }
        weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
    }
}

/// The 52 high bits as a number strictly between 0 and 1.
fn unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * f64::EPSILON
}

/// FNV-1a: short names become numbers that differ.
const fn hash(name: &str) -> u32 {
    let (bytes, mut hash, mut at) = (name.as_bytes(), 0x811c_9dc5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// Fills `words` with the blocks `first`, `first + 1`, ... of the stream.
///
/// The counter is (block, step low, step high, name) and the key is the seed.
fn philox(key: [u32; 2], step: u64, name: u32, first: u32, words: &mut [u32; LANES * WORDS]) {
    let mut counter = [[0; LANES], [step as u32; LANES], [(step >> 32) as u32; LANES], [name; LANES]];
    for (lane, block) in counter[0].iter_mut().enumerate() {
        *block = first.wrapping_add(lane as u32);
    }
    rounds(key, &mut counter);
    for lane in 0..LANES {
        for word in 0..WORDS {
            words[lane * WORDS + word] = counter[word][lane];
        }
    }
}

/// Ten rounds of Philox on eight blocks side by side.
fn rounds(mut key: [u32; 2], counter: &mut [[u32; LANES]; WORDS]) {
    for _ in 0..10 {
        for lane in 0..LANES {
            let [a, b, c, d] = counter.each_ref().map(|word| word[lane]);
            let (first, second) = (u64::from(a) * 0xD251_1F53, u64::from(c) * 0xCD9E_8D57);
            counter[0][lane] = (second >> 32) as u32 ^ b ^ key[0];
            counter[1][lane] = second as u32;
            counter[2][lane] = (first >> 32) as u32 ^ d ^ key[1];
            counter[3][lane] = first as u32;
        }
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counter, key and answer from the known-answer file of the authors' library, Random123.
    #[test]
    fn philox_gives_the_published_words() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in cases {
            let mut words = counter.map(|word: u32| [word; LANES]);
            rounds(key, &mut words);
            assert_eq!(words.map(|word| word[LANES - 1]), answer);
        }
    }

    #[test]
    fn an_index_has_the_words_the_sequence_has_there() {
        let mut stream = Stream::new(7, "crops", 3);
        let sequence: Vec<u32> = (0..100).map(|_| stream.word()).collect();
        for index in 0..25 {
            assert_eq!(stream.at(index), sequence[index as usize * WORDS..][..WORDS], "block {index}");
        }
    }

    #[test]
    fn seed_name_and_step_each_make_another_stream() {
        let mut seen: Vec<u64> = Vec::new();
        for seed in [0, 1, 1 << 32, u64::MAX] {
            for name in ["a", "b", "transition", "confusion", "pairs"] {
                for step in [0, 1, 1 << 32, u64::MAX] {
                    seen.push(Stream::new(seed, name, step).long());
                }
            }
        }
        let drawn = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), drawn);
    }

    #[test]
    fn uniform_never_touches_its_ends() {
        assert!(unit(0) > 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }

    #[test]
    fn below_is_fair() {
        let mut stream = Stream::new(1, "dice", 0);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6)] += 1;
        }
        let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(
            chi_square < 20.5,
            "0.1 % point of chi-square with 5 degrees of freedom: {chi_square} {counts:?}"
        );
    }

    #[test]
    fn normal_has_the_moments_of_a_normal() {
        let mut stream = Stream::new(1, "normal", 0);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / f64::from(n);
        let error = 1.0 / f64::from(n).sqrt();
        assert!(moment(1).abs() < 4.0 * error, "mean {}", moment(1));
        assert!((moment(2) - 1.0).abs() < 4.0 * error * 2_f64.sqrt(), "second moment {}", moment(2));
        assert!((moment(4) - 3.0).abs() < 4.0 * error * 96_f64.sqrt(), "fourth moment {}", moment(4));
    }

    #[test]
    fn a_shuffle_reaches_every_order_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for step in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            Stream::new(5, "shuffle", step).shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let chi_square: f64 = counts.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 49.7, "0.1 % point of chi-square with 23 degrees of freedom: {chi_square}");
    }

    #[test]
    fn weighted_never_falls_on_a_zero_weight() {
        let mut stream = Stream::new(1, "weighted", 0);
        let mut counts = [0_u32; 4];
        for _ in 0..10_000 {
            counts[stream.weighted(&[0.0, 3.0, 1.0, 0.0])] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!((f64::from(counts[1]) - 7500.0).abs() < 4.0 * 43.3, "{counts:?}");
    }
}
