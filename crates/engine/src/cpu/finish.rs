//! What happens to a number of an image as it is written, so that no pass of its own has to do it.

use super::{parallel::Shared, simd::Simd};

/// The last thing done to a vector of one pixel before it is written.
pub(super) trait Finish: Copy + Sync {
    /// The vector to write at `offset` of the output, which holds the channels from `channel` on.
    ///
    /// # Safety
    /// `offset` must lie in the output and `channel` among its channels; `count` is how many lanes do, too.
    unsafe fn finish<S: Simd>(
        &self,
        simd: S,
        value: S::Vector,
        place: (usize, usize),
        count: usize,
    ) -> S::Vector;

    /// Asks for what finishing the vector at `offset` will read.
    #[inline(always)]
    fn prefetch<S: Simd>(&self, _simd: S, _offset: usize) {}

    /// Both sums, with a finished vector added; with it comes its first channel.
    ///
    /// # Safety
    /// As for [`Self::finish`].
    #[inline(always)]
    unsafe fn add<S: Simd>(
        &self,
        _simd: S,
        sums: [S::Vector; 2],
        _vector: (S::Vector, usize),
        _count: usize,
    ) -> [S::Vector; 2] {
        sums
    }

    /// Where the sums of the pieces of the work go, if there are any.
    #[inline(always)]
    fn sums(&self) -> Option<&Sums> {
        None
    }

    /// Sets the sums of a piece to zero, before its first vector.
    ///
    /// # Safety
    /// There must be room for the piece, and nobody else may work on it.
    #[inline(always)]
    unsafe fn begin(&self, piece: usize) {
        if let Some(Sums { at, channels }) = self.sums() {
            // SAFETY: what the caller promises.
            unsafe { at.slice(2 * piece * channels..2 * (piece + 1) * channels) }.fill(0.0);
        }
    }
}

/// Two sums a channel for each piece of the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub(super) at: Shared,
    pub(super) channels: usize,
}

impl Sums {
    /// Adds to the sums of a piece, for the channels from `channel` on.
    ///
    /// # Safety
    /// As for [`Finish::begin`].
    #[inline(always)]
    pub(super) unsafe fn keep<S: Simd>(
        &self,
        simd: S,
        (piece, channel): (usize, usize),
        count: usize,
        sums: [S::Vector; 2],
    ) {
        for (which, sum) in sums.into_iter().enumerate() {
            // SAFETY: what the caller promises.
            unsafe {
                let to = self.at.at((2 * piece + which) * self.channels + channel);
                store_some(simd, to, count, simd.add(load_some(simd, to, count), sum));
            }
        }
    }
}

/// Adds the bias and takes the positive part, where the layer asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activate {
    /// The bias of each channel, or null.
    pub(super) bias: *const f32,
    pub(super) relu: bool,
}

/// Adds to the gradient that other layers have left, and lets through what the ReLU before let through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receive {
    /// The gradient so far, or null.
    pub(super) existing: *const f32,
    /// What the ReLU put out, or null.
    pub(super) activated: *const f32,
}

// SAFETY: the pointers are only read from, and nobody writes there meanwhile but the finisher of the same place.
unsafe impl Sync for Activate {}
// SAFETY: as above.
unsafe impl Sync for Receive {}

/// Reads the first `count` lanes; the common case needs no mask.
///
/// # Safety
/// `from` must be readable for `count` numbers.
#[inline(always)]
pub(super) unsafe fn load_some<S: Simd>(simd: S, from: *const f32, count: usize) -> S::Vector {
    // SAFETY: what the caller promises.
    unsafe { if count >= S::LANES { simd.load(from) } else { simd.load_head(from, count) } }
}

/// Outputs from this size on are written past the caches: nobody reads them before they would be evicted.
const STREAM_BYTES: usize = 16 << 20;

/// Whether an output of this many pixels is written past the caches; its channels must be whole vectors.
pub(super) fn streams<S: Simd>(pixels: usize, channels: usize) -> bool {
    channels.is_multiple_of(S::LANES) && pixels * channels * size_of::<f32>() >= STREAM_BYTES
}

/// Writes the first `count` lanes.
///
/// # Safety
/// `to` must be writable for `count` numbers.
#[inline(always)]
pub(super) unsafe fn store_some<S: Simd>(simd: S, to: *mut f32, count: usize, value: S::Vector) {
    // SAFETY: what the caller promises.
    unsafe { if count >= S::LANES { simd.store(to, value) } else { simd.store_head(to, count, value) } }
}

impl Finish for Activate {
    #[inline(always)]
    unsafe fn finish<S: Simd>(
        &self,
        simd: S,
        mut value: S::Vector,
        (_, channel): (usize, usize),
        count: usize,
    ) -> S::Vector {
        if !self.bias.is_null() {
            // SAFETY: there is a bias for each channel.
            value = simd.add(value, unsafe { load_some(simd, self.bias.add(channel), count) });
        }
        if self.relu { simd.max(value, simd.splat(0.0)) } else { value }
    }
}

impl Finish for Receive {
    #[inline(always)]
    unsafe fn finish<S: Simd>(
        &self,
        simd: S,
        mut value: S::Vector,
        (offset, _): (usize, usize),
        count: usize,
    ) -> S::Vector {
        if !self.existing.is_null() {
            // SAFETY: the gradient so far has the shape of the output.
            value = simd.add(value, unsafe { load_some(simd, self.existing.add(offset), count) });
        }
        if self.activated.is_null() {
            return value;
        }
        // SAFETY: what was activated has the shape of the output.
        simd.where_positive(unsafe { load_some(simd, self.activated.add(offset), count) }, value)
    }

    #[inline(always)]
    fn prefetch<S: Simd>(&self, simd: S, offset: usize) {
        if !self.existing.is_null() {
            simd.prefetch(self.existing.wrapping_add(offset));
        }
        if !self.activated.is_null() {
            simd.prefetch(self.activated.wrapping_add(offset));
        }
    }
}

/// Another finish, with the sums that the statistics of a batch norm need: of each number, taken relative to what the
/// mean may be, and of its square.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed<F> {
    pub(super) finish: F,
    pub(super) about: Shared,
    pub(super) sums: Sums,
}

impl<F: Finish> Finish for Observed<F> {
    #[inline(always)]
    unsafe fn finish<S: Simd>(
        &self,
        simd: S,
        value: S::Vector,
        place: (usize, usize),
        count: usize,
    ) -> S::Vector {
        // SAFETY: what the caller promises.
        unsafe { self.finish.finish(simd, value, place, count) }
    }

    #[inline(always)]
    unsafe fn add<S: Simd>(
        &self,
        simd: S,
        [sum, squares]: [S::Vector; 2],
        (value, channel): (S::Vector, usize),
        count: usize,
    ) -> [S::Vector; 2] {
        // SAFETY: there is a mean for each channel.
        let apart = simd.sub(value, unsafe { load_some(simd, self.about.at(channel), count) });
        [simd.add(sum, apart), simd.mul_add(apart, apart, squares)]
    }

    #[inline(always)]
    fn sums(&self) -> Option<&Sums> {
        Some(&self.sums)
    }
}
