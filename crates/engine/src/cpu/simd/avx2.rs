//! Eight lanes: AVX2 with fused multiply-add.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_GT_OQ, _MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm256_add_ps,
    _mm256_and_ps, _mm256_cmp_ps, _mm256_cmpgt_epi32, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_maskload_ps,
    _mm256_maskstore_ps, _mm256_max_ps, _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setr_epi32,
    _mm256_setzero_ps, _mm256_storeu_ps, _mm256_stream_ps, _mm256_sub_ps,
};

use super::Simd;

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) struct Avx2(());

impl Avx2 {
    /// The proof, where it holds.
    pub(in crate::cpu) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }

    /// The first `count` lanes.
    #[inline(always)]
    fn head(_proof: Self, count: usize) -> __m256i {
        // SAFETY: the proof that the processor has the instructions.
        unsafe {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_cmpgt_epi32(_mm256_set1_epi32(i32::from(count as u8)), lanes)
        }
    }
}

// SAFETY of every block below: a value of `Avx2` exists only where `detect` found the instructions; what pointers
// must allow is what the trait asks of its callers.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Simd for Avx2 {
    type Vector = __m256;
    const LANES: usize = 8;
    const ROWS: usize = 6;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx2,fma")]
        #[inline(never)]
        unsafe fn inside<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        unsafe { inside(work) }
    }

    #[inline(always)]
    fn splat(self, number: f32) -> __m256 {
        unsafe { _mm256_set1_ps(number) }
    }

    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_max_ps(a, b) }
    }

    #[inline(always)]
    fn where_positive(self, sign: __m256, value: __m256) -> __m256 {
        unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(sign, _mm256_setzero_ps()), value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m256 {
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: __m256) {
        unsafe { _mm256_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut f32, value: __m256) {
        unsafe { _mm256_stream_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn load_head(self, from: *const f32, count: usize) -> __m256 {
        unsafe { _mm256_maskload_ps(from, Self::head(self, count)) }
    }

    #[inline(always)]
    unsafe fn store_head(self, to: *mut f32, count: usize, value: __m256) {
        unsafe { _mm256_maskstore_ps(to, Self::head(self, count), value) }
    }

    #[inline(always)]
    fn fence(self) {
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn prefetch(self, line: *const f32) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
    }

    #[inline(always)]
    fn prefetch_write(self, line: *const f32) {
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.cast()) }
    }
}
