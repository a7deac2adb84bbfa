//! Sixteen lanes: AVX-512.

use std::arch::x86_64::{
    __m512, __mmask16, _CMP_GT_OQ, _MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm512_add_ps,
    _mm512_cmp_ps_mask, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps,
    _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    _mm512_stream_ps, _mm512_sub_ps,
};

use super::Simd;

/// Proof that the processor has AVX-512.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) struct Avx512(());

impl Avx512 {
    /// The proof, where it holds.
    pub(in crate::cpu) fn detect() -> Option<Self> {
        let there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma");
        there.then_some(Self(()))
    }
}

/// The first `count` lanes.
fn head(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

// SAFETY of every block below: a value of `Avx512` exists only where `detect` found the instructions; what pointers
// must allow is what the trait asks of its callers.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Simd for Avx512 {
    type Vector = __m512;
    const LANES: usize = 16;
    const ROWS: usize = 14;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
        #[inline(never)]
        unsafe fn inside<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        unsafe { inside(work) }
    }

    #[inline(always)]
    fn splat(self, number: f32) -> __m512 {
        unsafe { _mm512_set1_ps(number) }
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn where_positive(self, sign: __m512, value: __m512) -> __m512 {
        unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(sign, _mm512_setzero_ps()), value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m512 {
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, value: __m512) {
        unsafe { _mm512_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut f32, value: __m512) {
        unsafe { _mm512_stream_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn load_head(self, from: *const f32, count: usize) -> __m512 {
        unsafe { _mm512_maskz_loadu_ps(head(count), from) }
    }

    #[inline(always)]
    unsafe fn store_head(self, to: *mut f32, count: usize, value: __m512) {
        unsafe { _mm512_mask_storeu_ps(to, head(count), value) }
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
