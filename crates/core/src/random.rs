//! Random numbers that do not depend on who asked before.
//!
//! A [`Stream`] is a function of (seed, name, step) and nothing else: it is Philox4x32-10, a counter-based generator
//! whose n-th word is computed from n, not from the word before it. A resumed run, a run on several workers and a run
//! whose neighbour draws more or less than yesterday therefore see the same draws.
//!
//! Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

use crate::elementary::{ln, vectorized};

/// Blocks computed at a time; their rounds are independent, so that the compiler runs them side by side.
const LANES: usize = 8;
/// Words of 32 bits in a block.
const WORDS: usize = 4;
/// Pairs of words in all lanes.
const PAIRS: usize = LANES * WORDS / 2;

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
    /// The first block that is not in `pairs` yet.
    block: u32,
    /// Pairs of words, the first in the low half.
    pairs: [u64; PAIRS],
    /// How many words of them were drawn.
    used: usize,
}

impl Stream {
    /// The stream `name` of a run with this seed, at this step.
    #[must_use]
    pub fn new(seed: u64, name: &str, step: u64) -> Self {
        let key = [seed as u32, (seed >> 32) as u32];
        Self { key, step, name: hash(name), block: 0, pairs: [0; PAIRS], used: 2 * PAIRS }
    }

    /// The key and the number of the name: with step and place they are all that a device needs to draw the same words.
    #[must_use]
    pub fn identity(&self) -> ([u32; 2], u32) {
        (self.key, self.name)
    }

    /// The four words that belong to one index of this stream, whatever was drawn before: a crop for one image, say.
    #[must_use]
    pub fn at(&self, index: u32) -> [u32; WORDS] {
        let [[a], [b], [c], [d]] = self.blocks(index);
        [a as u32, b as u32, c as u32, d as u32]
    }

    /// The number strictly between 0 and 1 that belongs to one index of this stream.
    #[must_use]
    pub fn uniform_at(&self, index: u32) -> f64 {
        let [low, high, ..] = self.at(index);
        unit(u64::from(low) | (u64::from(high) << 32))
    }

    /// The words of N blocks from `first` on, side by side.
    ///
    /// The counter is (block, step low, step high, name), and the key is the seed.
    #[inline(always)]
    fn blocks<const N: usize>(&self, first: u32) -> [[u64; N]; WORDS] {
        let places = std::array::from_fn(|lane| u64::from(first.wrapping_add(lane as u32)));
        let mut counter = [places, [self.step & LOW; N], [self.step >> 32; N], [u64::from(self.name); N]];
        philox(self.key, &mut counter);
        counter
    }

    /// Draws all lanes anew.
    #[inline(always)]
    fn refill(&mut self) {
        let [a, b, c, d] = self.blocks::<LANES>(self.block);
        self.block = self.block.wrapping_add(LANES as u32);
        for lane in 0..LANES {
            self.pairs[2 * lane] = a[lane] | (b[lane] << 32);
            self.pairs[2 * lane + 1] = c[lane] | (d[lane] << 32);
        }
    }

    /// The same stream after so many words: what others draw of it can be passed over.
    #[must_use]
    pub fn after(mut self, words: u64) -> Self {
        let together = 2 * PAIRS as u64;
        self.block = (words / together * LANES as u64) as u32;
        self.refill();
        self.used = (words % together) as usize;
        self
    }

    /// A number in 0 ..= `u32::MAX`, each equally likely.
    pub fn word(&mut self) -> u32 {
        if self.used == 2 * PAIRS {
            self.refill();
            self.used = 0;
        }
        let pair = self.pairs[self.used / 2];
        self.used += 1;
        if self.used % 2 == 1 { pair as u32 } else { (pair >> 32) as u32 }
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
        loop {
            let wide = u64::from(self.word()) * u64::from(bound);
            // The division is only made for the few words that may be unfair.
            let rest = wide as u32;
            if rest >= bound || rest >= bound.wrapping_neg() % bound {
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
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        pick(weights, self.uniform() * weights.iter().sum::<f64>())
    }

    /// An index drawn with the given probabilities, which sum to one.
    pub fn categorical(&mut self, probabilities: &[f64]) -> usize {
        pick(probabilities, self.uniform())
    }

    /// Fills a list with numbers strictly between 0 and 1: the same as [`Stream::uniform`] again and again, but many
    /// at a time.
    pub fn uniforms(&mut self, numbers: &mut [f64]) {
        let head = (PAIRS - self.used / 2).min(numbers.len());
        let (head, tail) = numbers.split_at_mut(head);
        head.iter_mut().for_each(|number| *number = self.uniform());
        if self.used != 2 * PAIRS {
            // An odd number of words was drawn before, so that a number has its halves in two blocks.
            return tail.iter_mut().for_each(|number| *number = self.uniform());
        }
        let whole = tail.len() / PAIRS * PAIRS;
        let (whole, rest) = tail.split_at_mut(whole);
        fill_whole_blocks(self, whole);
        rest.iter_mut().for_each(|number| *number = self.uniform());
    }
}

vectorized! {
    /// Fills a list whose length is a multiple of the numbers in all lanes.
    fn fill_whole_blocks(stream: &mut Stream, numbers: &mut [f64]) {
        for chunk in numbers.chunks_exact_mut(PAIRS) {
            stream.refill();
            chunk.iter_mut().zip(stream.pairs).for_each(|(number, pair)| *number = unit(pair));
        }
    }
}

/// The index in whose part of the line the point falls, when each weight is a piece of it.
///
/// Falls on the last positive weight if rounding leaves the point beyond all of them.
#[must_use]
pub fn pick(weights: &[f64], point: f64) -> usize {
    let mut sum = 0.0;
    for (chunk, weights) in weights.chunks(8).enumerate() {
        // Eight at a time, unless the point is among them.
        let after = sum + weights.iter().sum::<f64>();
        if point < after {
            for (place, weight) in weights.iter().enumerate() {
                sum += weight;
                if point < sum {
                    return chunk * 8 + place;
                }
            }
        }
        sum = after;
    }
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}

/// The 52 high bits as a number strictly between 0 and 1.
#[inline(always)]
fn unit(bits: u64) -> f64 {
    // One and a fraction of these bits, less almost one: exact, and without a conversion.
    f64::from_bits((bits >> 12) | 0x3ff0_0000_0000_0000) - (1.0 - f64::EPSILON / 2.0)
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

/// The lower half of a pair of words.
const LOW: u64 = 0xffff_ffff;

/// Ten rounds of Philox on N blocks side by side; each word has 64 bits of room, as vectors multiply them.
#[inline(always)]
fn philox<const N: usize>(key: [u32; 2], counter: &mut [[u64; N]; WORDS]) {
    let [a, b, c, d] = counter;
    let [mut left, mut right] = key;
    for _ in 0..10 {
        for lane in 0..N {
            let (first, second) = (a[lane] * 0xD251_1F53, c[lane] * 0xCD9E_8D57);
            a[lane] = (second >> 32) ^ b[lane] ^ u64::from(left);
            b[lane] = second & LOW;
            c[lane] = (first >> 32) ^ d[lane] ^ u64::from(right);
            d[lane] = first & LOW;
        }
        left = left.wrapping_add(0x9E37_79B9);
        right = right.wrapping_add(0xBB67_AE85);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_draw_can_be_passed_over() {
        for words in [0, 1, 31, 32, 33, 1000] {
            let mut whole = Stream::new(3, "dropout", 7);
            for _ in 0..words {
                whole.word();
            }
            let mut rest = Stream::new(3, "dropout", 7).after(words);
            assert!((0..100).all(|_| whole.word() == rest.word()), "after {words}");
        }
    }

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
            let mut words = counter.map(|word: u32| [u64::from(word); LANES]);
            philox(key, &mut words);
            assert_eq!(words.map(|word| word[LANES - 1]), answer.map(|word: u32| u64::from(word)));
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
    fn many_numbers_at_a_time_are_the_same_numbers() {
        for drawn in [0, 1, 2, 31, 32] {
            for length in [0, 1, 15, 16, 17, 100] {
                let (mut single, mut many) = (Stream::new(1, "many", 0), Stream::new(1, "many", 0));
                (0..drawn).for_each(|_| assert_eq!(single.word(), many.word()));
                let mut numbers = vec![0.0; length];
                many.uniforms(&mut numbers);
                let expected: Vec<f64> = (0..length).map(|_| single.uniform()).collect();
                assert_eq!(numbers, expected, "{length} after {drawn}");
                assert_eq!(single.word(), many.word(), "what follows {length} after {drawn}");
            }
        }
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
