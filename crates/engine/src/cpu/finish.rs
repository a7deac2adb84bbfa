//! What happens to a number of an image as it is written, so that no pass of its own has to do it.

use super::simd::Simd;

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
}
