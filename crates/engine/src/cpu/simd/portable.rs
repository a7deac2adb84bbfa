//! Four lanes of plain Rust, which the compiler turns into SSE2 or NEON.

use super::Simd;

/// Nothing to prove: every machine can do this.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) struct Portable;

/// Lane by lane.
#[inline(always)]
fn each(of: impl Fn(usize) -> f32) -> [f32; 4] {
    [of(0), of(1), of(2), of(3)]
}

impl Simd for Portable {
    type Vector = [f32; 4];
    const LANES: usize = 4;
    /// NEON has twice the registers of SSE2.
    const ROWS: usize = if cfg!(target_arch = "aarch64") { 12 } else { 6 };

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[inline(never)]
        fn inside<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        inside(work)
    }

    #[inline(always)]
    fn splat(self, number: f32) -> [f32; 4] {
        [number; 4]
    }

    #[inline(always)]
    fn add(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| a[i] + b[i])
    }

    #[inline(always)]
    fn sub(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| a[i] - b[i])
    }

    #[inline(always)]
    fn mul(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| a[i] * b[i])
    }

    #[inline(always)]
    fn mul_add(self, a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        // Where there is no instruction for it, a fused multiply-add is a call into the C library.
        if cfg!(target_arch = "aarch64") {
            each(|i| a[i].mul_add(b[i], c[i]))
        } else {
            each(|i| a[i] * b[i] + c[i])
        }
    }

    #[inline(always)]
    fn max(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn where_positive(self, sign: [f32; 4], value: [f32; 4]) -> [f32; 4] {
        each(|i| if sign[i] > 0.0 { value[i] } else { 0.0 })
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> [f32; 4] {
        // SAFETY: the caller allows to read four numbers.
        unsafe { from.cast::<[f32; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: [f32; 4]) {
        // SAFETY: the caller allows to write four numbers.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut f32, value: [f32; 4]) {
        // SAFETY: as above.
        unsafe { self.store(to, value) }
    }

    #[inline(always)]
    unsafe fn load_head(self, from: *const f32, count: usize) -> [f32; 4] {
        // SAFETY: the caller allows to read `count` numbers.
        each(|i| if i < count { unsafe { from.add(i).read() } } else { 0.0 })
    }

    #[inline(always)]
    unsafe fn store_head(self, to: *mut f32, count: usize, value: [f32; 4]) {
        for (i, &number) in value.iter().enumerate().take(count) {
            // SAFETY: the caller allows to write `count` numbers.
            unsafe { to.add(i).write(number) };
        }
    }
}
