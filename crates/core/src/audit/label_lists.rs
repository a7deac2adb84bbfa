//! Lists of the examples of one label that may be cut.

use super::block::MOST;
use super::{Best, Pick, Probability, Prune};

/// What is cut of the examples of one label.
#[derive(Clone, Debug)]
pub(super) struct LabelLists {
    label: usize,
    /// The least sure of their label.
    pub(super) least_sure: Option<Best>,
    /// For each other class, those for which it is ahead of the label by most.
    pub(super) ahead: Option<Vec<(usize, Best)>>,
    /// Which of these lists is that of a class, and its bar, which is infinite where there is none.
    places: Vec<u32>,
    pub(super) bars: Vec<f64>,
    /// The class with the lowest bar.
    pub(super) likeliest: usize,
    pub(super) lowest_bar: f64,
    /// An example that is at least so sure of its label is on no list but that of the likeliest class.
    pub(super) safe: f64,
}

impl LabelLists {
    /// Empty lists for as many of each other class as `limit` says.
    pub(super) fn new(
        prune: Prune,
        (label, classes): (usize, usize),
        limit: impl Fn(usize) -> usize,
    ) -> Self {
        let others = || (0..classes).filter(|&class| class != label).map(|class| (class, limit(class)));
        let others = || others().filter(|(_, count)| *count > 0);
        let mut lists = Self {
            label,
            least_sure: (prune != Prune::NoiseRate).then(|| Best::new(others().map(|other| other.1).sum())),
            ahead: (prune != Prune::Class)
                .then(|| others().map(|(class, count)| (class, Best::new(count))).collect()),
            places: vec![0; classes],
            bars: vec![f64::INFINITY; classes],
            likeliest: label,
            lowest_bar: f64::INFINITY,
            safe: f64::INFINITY,
        };
        lists.raise();
        lists
    }

    /// From lists of a sample of this share to those of all: empty, with bars where the sample's were.
    pub(super) fn extend(&mut self, share: f64) {
        let lists = self.ahead.iter_mut().flatten().map(|list| &mut list.1).chain(&mut self.least_sure);
        for best in lists {
            best.settle();
            let bar = if best.is_short() { f64::NEG_INFINITY } else { best.bar() };
            *best = Best::above((best.limit() as f64 / share) as usize, bar);
        }
        self.raise();
    }

    /// Asks for so many of each class from now on; says whether they are known.
    pub(super) fn shorten(&mut self, limit: impl Fn(usize) -> usize) -> bool {
        let wrong = (0..self.bars.len()).filter(|&class| class != self.label).map(&limit).sum();
        let least_sure = self.least_sure.as_mut().is_none_or(|best| best.shorten(wrong));
        let mut lists = self.ahead.iter_mut().flatten();
        least_sure && lists.all(|(class, best)| best.shorten(limit(*class)))
    }

    /// Takes over what others hold.
    pub(super) fn merge(&mut self, other: Self) {
        if let (Some(mine), Some(theirs)) = (&mut self.least_sure, other.least_sure) {
            mine.merge(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.ahead, other.ahead) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.1.merge(theirs.1));
        }
    }

    /// Looks at an example; says whether a bar was raised.
    pub(super) fn consider<P: Probability>(&mut self, row: usize, probabilities: &[P], label: usize) -> bool {
        let own = probabilities[label].wide();
        // Whether no other class is ahead of the label; where one is, that is known at once.
        let excused = |ahead: bool| !ahead && probabilities.iter().all(|p| p.wide() <= own);
        let mut raised = false;
        if let Some(best) = self.least_sure.as_mut().filter(|best| -own >= best.bar()) {
            raised |= best.offer(Pick::new(-own, row, excused(false)).noting(own as f32));
        }
        if let Some(lists) = &mut self.ahead {
            let classes =
                if own < self.safe { 0..probabilities.len() } else { self.likeliest..self.likeliest + 1 };
            let rest = probabilities[classes.clone()].iter().zip(&self.bars[classes.clone()]);
            for (class, (p, bar)) in classes.zip(rest) {
                let margin = p.wide() - own;
                if margin >= *bar {
                    let best = &mut lists[self.places[class] as usize].1;
                    raised |= best.offer(Pick::new(margin, row, excused(margin > 0.0)).noting(own as f32));
                }
            }
        }
        if raised {
            self.raise();
        }
        raised
    }

    /// Takes note of how high the bars are. An example can be so sure of its label that it is on none of the lists: no
    /// class can be ahead by more than what is left over.
    fn raise(&mut self) {
        for (place, (class, best)) in self.ahead.iter().flatten().enumerate() {
            self.places[*class] = place as u32;
            self.bars[*class] = best.bar();
        }
        let safe = |bars: f64| ((MOST - bars) / 2.0).next_up();
        let lowest = |skipped: Option<usize>| {
            let others = (0..self.bars.len()).filter(|class| Some(*class) != skipped);
            others.min_by(|&a, &b| self.bars[a].total_cmp(&self.bars[b])).unwrap_or_default()
        };
        let likeliest = lowest(None);
        // An example that is as good as the worst on a list may still come before it.
        let by_sureness = self.least_sure.as_ref().map_or(0.0, |best| (-best.bar()).next_up());
        self.safe = by_sureness.max(safe(self.bars[lowest(Some(likeliest))]));
        (self.likeliest, self.lowest_bar) = (likeliest, self.bars[likeliest]);
    }
}

/// A bit for each row.
#[derive(Default)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    /// Marks a row; says whether it was not marked before.
    pub(super) fn mark(&mut self, row: usize) -> bool {
        let (word, bit) = (row / 64, 1 << (row % 64));
        if word >= self.0.len() {
            self.0.resize((word + 1).max(2 * self.0.len()), 0);
        }
        let fresh = self.0[word] & bit == 0;
        self.0[word] |= bit;
        fresh
    }

    /// Whether a row was marked.
    pub(super) fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}
