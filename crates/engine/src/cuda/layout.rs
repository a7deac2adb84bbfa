//! Where things lie in the memory of the GPU: places are given out before there is any memory.

/// Every place begins at a multiple of this many bytes: what copies and tensor cores like, and a line of the cache twice.
const ALIGNMENT: usize = 256;

/// A place in the memory of a network, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(usize);

impl Place {
    /// The place so many bytes further on.
    pub(super) fn after(self, bytes: usize) -> Self {
        Self(self.0 + bytes)
    }

    /// Its address, where the memory begins at `base`.
    pub(super) fn address(self, base: u64) -> u64 {
        base + self.0 as u64
    }
}

/// Gives out places, one after the other.
#[derive(Debug, Default)]
pub(super) struct Layout {
    bytes: usize,
}

impl Layout {
    /// A place for so many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Place {
        let place = Place(self.bytes);
        self.bytes += bytes.max(1).next_multiple_of(ALIGNMENT);
        place
    }

    /// Bytes of all places.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Channels as they lie in memory: eight at a time, the rest zeros.
pub(super) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap_and_are_aligned() {
        let mut layout = Layout::default();
        let places = [1, 256, 0, 257, 4].map(|bytes| (layout.take(bytes).address(0), bytes as u64));
        for pair in places.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0);
            assert_eq!(pair[1].0 % ALIGNMENT as u64, 0);
        }
        assert_eq!(layout.bytes(), 256 * 6);
    }
}
