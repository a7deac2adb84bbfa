//! Work in fixed pieces, done by as many threads as there are.
//!
//! How work is cut into pieces depends on shapes only, and sums are added up piece by piece in order. So the same
//! bits come out whatever the number of threads, and whoever did which piece.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Runs `work(lane, piece)` for every piece. A lane works on one piece at a time, and has scratch of its own.
///
/// Lanes take pieces as they come free. Nothing is allocated: lanes are a tree of `rayon::join`.
pub(super) fn parallel(lanes: usize, pieces: usize, work: impl Fn(usize, usize) + Sync) {
    let lanes = lanes.min(pieces);
    if lanes <= 1 {
        (0..pieces).for_each(|piece| work(0, piece));
        return;
    }
    let next = AtomicUsize::new(0);
    spread(0..lanes, &|lane| {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                break;
            }
            work(lane, piece);
        }
    });
}

fn spread(lanes: Range<usize>, work: &(impl Fn(usize) + Sync)) {
    if lanes.len() == 1 {
        return work(lanes.start);
    }
    let middle = usize::midpoint(lanes.start, lanes.end);
    rayon::join(|| spread(lanes.start..middle, work), || spread(middle..lanes.end, work));
}

/// The piece `index` of `total` things cut into `pieces` parts that differ by at most one.
pub(super) fn part(total: usize, pieces: usize, index: usize) -> Range<usize> {
    let (base, extra) = (total / pieces, total % pieces);
    let start = index * base + index.min(extra);
    start..start + base + usize::from(index < extra)
}

/// Cuts `total` rows into nearly equal tiles of at most `most`, in order: 32 by 14 is 11, 11, 10.
#[inline(always)]
pub(super) fn tiles(total: usize, most: usize, mut tile: impl FnMut(usize, usize)) {
    let count = total.div_ceil(most);
    let mut start = 0;
    for index in 0..count {
        let rows = total / count + usize::from(index < total % count);
        tile(start, rows);
        start += rows;
    }
}

/// A pointer that several threads write through, each to places of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared(*mut f32);

// SAFETY: the pointer is used only inside `unsafe` blocks that say why their places are their own.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(super) fn new(numbers: &mut [f32]) -> Self {
        Self(numbers.as_mut_ptr())
    }

    /// For places that are only read.
    pub(super) fn reading(numbers: &[f32]) -> Self {
        Self(numbers.as_ptr().cast_mut())
    }

    /// The place `offset` numbers in.
    ///
    /// # Safety
    /// It must lie in the slice, or its slack.
    #[inline(always)]
    pub(super) unsafe fn at(self, offset: usize) -> *mut f32 {
        // SAFETY: what the caller promises.
        unsafe { self.0.add(offset) }
    }

    /// What begins `offset` numbers later.
    #[inline(always)]
    pub(super) fn after(self, offset: usize) -> Self {
        Self(self.0.wrapping_add(offset))
    }

    /// A range as a slice.
    ///
    /// # Safety
    /// It must lie in the slice, and no other thread may use it meanwhile.
    #[inline(always)]
    pub(super) unsafe fn slice<'a>(self, range: Range<usize>) -> &'a mut [f32] {
        // SAFETY: what the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once() {
        for (lanes, pieces) in [(1, 5), (2, 1), (3, 100), (7, 7), (4, 0)] {
            let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
            parallel(lanes, pieces, |lane, piece| {
                assert!(lane < lanes);
                done[piece].fetch_add(1, Ordering::Relaxed);
            });
            assert!(
                done.iter().all(|count| count.load(Ordering::Relaxed) == 1),
                "{lanes} lanes, {pieces} pieces"
            );
        }
    }

    #[test]
    fn parts_and_tiles_cover_everything_evenly() {
        assert_eq!((0..3).map(|i| part(32, 3, i)).collect::<Vec<_>>(), [0..11, 11..22, 22..32]);
        let mut seen = Vec::new();
        tiles(32, 14, |start, rows| seen.push((start, rows)));
        assert_eq!(seen, [(0, 11), (11, 11), (22, 10)]);
        tiles(0, 14, |_, _| panic!("no rows, no tiles"));
    }
}
