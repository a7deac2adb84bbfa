//! The best few of many, without holding the many.

/// An example that was offered: 24 bytes, since there may be millions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    key: f64,
    /// The row, and in the lowest bit whether it only takes a place.
    place: u64,
    note: f32,
}

impl Pick {
    /// An example that is the better the larger its key is; of equal keys the earlier row is better. One that is excused
    /// takes a place among the best, but is not meant.
    #[must_use]
    pub fn new(key: f64, row: usize, excused: bool) -> Self {
        Self { key, place: (row as u64) << 1 | u64::from(excused), note: 0.0 }
    }

    /// The same with a number to be kept beside it.
    #[must_use]
    pub fn noting(self, note: f32) -> Self {
        Self { note, ..self }
    }

    /// The number that is kept beside it.
    #[must_use]
    pub fn note(&self) -> f32 {
        self.note
    }

    /// Its row.
    #[must_use]
    pub fn row(&self) -> usize {
        (self.place >> 1) as usize
    }

    /// Whether it only takes a place.
    #[must_use]
    pub fn excused(&self) -> bool {
        self.place & 1 == 1
    }
}

/// Something that is the better the larger its key is; of equal keys the one in the earlier place is better.
pub trait Ranked: Copy {
    /// What it is ranked by.
    fn key(&self) -> f64;

    /// What tells it from others with the same key.
    fn place(&self) -> u64;
}

impl Ranked for Pick {
    #[inline]
    fn key(&self) -> f64 {
        self.key
    }

    #[inline]
    fn place(&self) -> u64 {
        self.place
    }
}

/// The best of what was offered, up to a number. Holds at most about a quarter more at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Best<T = Pick> {
    limit: usize,
    picks: Vec<T>,
    bar: f64,
}

impl<T: Ranked> Best<T> {
    /// The best so many.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, picks: Vec::new(), bar: if limit == 0 { f64::INFINITY } else { f64::NEG_INFINITY } }
    }

    /// The best so many, of which it is believed that none lies below `bar`; see [`Best::is_short`].
    #[must_use]
    pub fn above(limit: usize, bar: f64) -> Self {
        Self { bar: if limit == 0 { f64::INFINITY } else { bar }, ..Self::new(limit) }
    }

    /// How many are asked for.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Whether fewer were found than asked for.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.picks.len() < self.limit
    }

    /// The key below which nothing is taken any more.
    #[must_use]
    pub fn bar(&self) -> f64 {
        self.bar
    }

    /// Asks for fewer from now on; says whether the best so many are known, which they are not where more would be needed.
    pub fn shorten(&mut self, limit: usize) -> bool {
        let known = limit <= self.limit && limit <= self.picks.len();
        if known {
            self.limit = limit;
            self.cut();
        }
        known
    }

    /// Drops what is not among the best so far, so that the bar is as high as it can be.
    pub fn settle(&mut self) {
        self.cut();
    }

    /// Takes an example if it may be among the best; says whether the bar was raised.
    #[inline]
    pub fn offer(&mut self, pick: T) -> bool {
        if !(pick.key() >= self.bar && self.limit > 0) {
            return false;
        }
        let most = self.limit.saturating_add(self.limit / 4).saturating_add(64);
        if self.picks.capacity() == 0 {
            // Room for all it will hold: growing would copy it again and again.
            self.picks.reserve_exact(most.min(1 << 20));
        }
        self.picks.push(pick);
        let full = self.picks.len() >= most;
        if full {
            self.cut();
        }
        full
    }

    /// Takes over what another has found.
    pub fn merge(&mut self, other: Self) {
        other.picks.into_iter().for_each(|pick| {
            self.offer(pick);
        });
    }

    /// The best, in no order.
    #[must_use]
    pub fn picks(mut self) -> Vec<T> {
        self.cut();
        self.picks
    }

    /// The best, best first.
    #[must_use]
    pub fn sorted(self) -> Vec<T> {
        let mut picks = self.picks();
        picks.sort_unstable_by(order);
        picks
    }

    /// What is held so far, in no order.
    #[must_use]
    pub fn held(&self) -> &[T] {
        &self.picks
    }

    /// Drops what cannot be among the best any more.
    fn cut(&mut self) {
        if self.limit == 0 {
            self.picks.clear();
        } else if self.picks.len() > self.limit {
            self.picks.select_nth_unstable_by(self.limit - 1, order);
            self.picks.truncate(self.limit);
            self.bar = self.picks[self.limit - 1].key();
        }
    }
}

fn order<T: Ranked>(a: &T, b: &T) -> std::cmp::Ordering {
    b.key().total_cmp(&a.key()).then(a.place().cmp(&b.place()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort_however_the_offers_are_divided(
            keys in prop::collection::vec(0_u8..20, 0..4000),
            limit in 0_usize..60,
            cut in 0_usize..4000,
        ) {
            let offers: Vec<Pick> = keys
                .iter()
                .enumerate()
                .map(|(row, &key)| Pick::new(f64::from(key), row, false))
                .collect();
            let (mut first, mut second) = (Best::new(limit), Best::new(limit));
            let (before, after) = offers.split_at(cut.min(offers.len()));
            after.iter().for_each(|&pick| { first.offer(pick); });
            before.iter().for_each(|&pick| { second.offer(pick); });
            first.merge(second);
            let mut all = offers.clone();
            all.sort_by(|a, b| b.key.total_cmp(&a.key).then(a.row().cmp(&b.row())));
            all.truncate(limit);
            prop_assert_eq!(first.sorted(), all);
        }
    }
}
