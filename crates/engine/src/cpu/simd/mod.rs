//! Vectors of numbers, on whatever instructions this machine has.
//!
//! Kernels are written once, over a [`Simd`]. A value of such a type is a proof: it can be made only where the
//! processor has the instructions, which is asked when a network is planned. [`Simd::run`] then compiles a closure
//! for those instructions, and everything called inside is inlined into it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
pub(super) use portable::Portable;

use crate::Error;

/// The environment variable that forces one set of instructions.
const VARIABLE: &str = "CLEANEST_SIMD";

/// Vectors of single precision numbers and what can be done with them.
pub(super) trait Simd: Copy + Send + Sync + 'static {
    /// A register full of numbers.
    type Vector: Copy;
    /// How many numbers that is.
    const LANES: usize;
    /// Columns of a register tile: two vectors. Channels are stored in panels of this many.
    const PANEL: usize = 2 * Self::LANES;
    /// Rows of a register tile: as many as leave two vectors of the right operand in registers.
    const ROWS: usize;

    /// Runs a closure compiled for these instructions; mark it `#[inline(always)]`.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;

    /// The same number in every lane.
    fn splat(self, number: f32) -> Self::Vector;
    /// a + b
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a - b
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a * b
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a * b + c, rounded once where the machine can.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The larger of both, lane by lane.
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `value` where `sign` is above zero, and zero elsewhere.
    fn where_positive(self, sign: Self::Vector, value: Self::Vector) -> Self::Vector;

    /// Reads a vector.
    ///
    /// # Safety
    /// `from` must be readable for [`Self::LANES`] numbers.
    unsafe fn load(self, from: *const f32) -> Self::Vector;
    /// Writes a vector.
    ///
    /// # Safety
    /// `to` must be writable for [`Self::LANES`] numbers.
    unsafe fn store(self, to: *mut f32, value: Self::Vector);
    /// Writes a vector past the caches; a [`Self::fence`] must follow before another thread reads it.
    ///
    /// # Safety
    /// `to` must be writable for [`Self::LANES`] numbers and aligned to a vector.
    unsafe fn stream(self, to: *mut f32, value: Self::Vector);
    /// Reads the first `count` numbers, and zeros for the rest.
    ///
    /// # Safety
    /// `from` must be readable for `count` numbers, and `count` at most [`Self::LANES`].
    unsafe fn load_head(self, from: *const f32, count: usize) -> Self::Vector;
    /// Writes the first `count` numbers.
    ///
    /// # Safety
    /// `to` must be writable for `count` numbers, and `count` at most [`Self::LANES`].
    unsafe fn store_head(self, to: *mut f32, count: usize, value: Self::Vector);

    /// Makes streamed numbers visible to other threads.
    fn fence(self) {}
    /// Asks for a line that will be read soon.
    fn prefetch(self, _line: *const f32) {}
    /// Asks for a line that will be written soon.
    fn prefetch_write(self, _line: *const f32) {}
}

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// 512-bit vectors, x86-64.
    Avx512,
    /// 256-bit vectors with fused multiply-add, x86-64.
    Avx2,
    /// Whatever the compiler makes of plain Rust; NEON on 64-bit ARM.
    Portable,
}

impl Instructions {
    /// Every set, the fastest first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The name that forces it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        }
    }

    /// Whether this machine has them.
    #[must_use]
    pub fn available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Portable => true,
        }
    }

    /// The fastest this machine has, or those that `CLEANEST_SIMD` forces.
    pub fn detect() -> Result<Self, Error> {
        match std::env::var(VARIABLE) {
            Ok(name) => Self::forced(&name),
            Err(_) => Ok(Self::ALL.into_iter().find(|set| set.available()).unwrap_or(Self::Portable)),
        }
    }

    /// The set of this name, where the machine has it.
    pub fn forced(name: &str) -> Result<Self, Error> {
        let mut there = Self::ALL.into_iter().filter(|set| set.available());
        let expected = || there.clone().map(Self::name).collect::<Vec<_>>().join(", ");
        let error = Error::Simd { expected: expected(), found: name.into() };
        there.find(|set| set.name() == name).ok_or(error)
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // What is copied is the same to the bit.
mod tests {
    use super::*;

    #[test]
    fn instructions_nobody_has_are_refused_with_those_there_are() {
        assert_eq!(Instructions::forced("portable").unwrap(), Instructions::Portable);
        let error = Instructions::forced("avx1024").unwrap_err().to_string();
        assert!(error.starts_with("CLEANEST_SIMD: expected one of "), "{error}");
        assert!(error.ends_with("portable, found `avx1024`"), "{error}");
    }

    /// Every operation against plain arithmetic, lane by lane.
    fn agrees_with_arithmetic<S: Simd>(simd: S) {
        let numbers = |seed: f32| -> Vec<f32> { (0..S::LANES).map(|i| (i as f32 - 3.3) * seed).collect() };
        let (a, b, c) = (numbers(1.7), numbers(-0.6), numbers(0.9));
        let check = |what: &str,
                     of: &dyn Fn([S::Vector; 3]) -> S::Vector,
                     plain: &dyn Fn([f32; 3]) -> f32| {
            let mut found = vec![0.0; S::LANES];
            // SAFETY: each slice has as many numbers as a vector.
            unsafe {
                let vectors = [&a, &b, &c].map(|x| simd.load(x.as_ptr()));
                simd.store(found.as_mut_ptr(), of(vectors));
            }
            for (lane, &found) in found.iter().enumerate() {
                let expected = plain([a[lane], b[lane], c[lane]]);
                assert!((found - expected).abs() < 1e-5, "{what}, lane {lane}: {found} is not {expected}");
            }
        };
        check("add", &|[a, b, _]| simd.add(a, b), &|[a, b, _]| a + b);
        check("sub", &|[a, b, _]| simd.sub(a, b), &|[a, b, _]| a - b);
        check("mul", &|[a, b, _]| simd.mul(a, b), &|[a, b, _]| a * b);
        check("max", &|[a, b, _]| simd.max(a, b), &|[a, b, _]| a.max(b));
        check("mul_add", &|[a, b, c]| simd.mul_add(a, b, c), &|[a, b, c]| a * b + c);
        check("splat", &|_| simd.splat(2.5), &|_| 2.5);
        check("where_positive", &|[a, b, _]| simd.where_positive(a, b), &|[a, b, _]| {
            if a > 0.0 { b } else { 0.0 }
        });
        for count in 0..=S::LANES {
            let mut found = vec![-1.0; S::LANES];
            // SAFETY: both slices have at least `count` numbers.
            unsafe { simd.store_head(found.as_mut_ptr(), count, simd.load_head(a.as_ptr(), count)) };
            assert_eq!(found[..count], a[..count]);
            assert!(found[count..].iter().all(|&x| x == -1.0));
        }
    }

    #[test]
    fn every_set_of_instructions_agrees_with_arithmetic() {
        Portable.run(|| agrees_with_arithmetic(Portable));
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = Avx2::detect() {
                simd.run(|| agrees_with_arithmetic(simd));
            }
            if let Some(simd) = Avx512::detect() {
                simd.run(|| agrees_with_arithmetic(simd));
            }
        }
    }
}
