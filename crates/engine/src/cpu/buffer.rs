//! Memory that is asked for once.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error},
    fmt,
    ops::{Deref, DerefMut},
};

/// Buffers from this size on lie on huge pages, where the system has them: fewer address translations.
const HUGE_PAGE: usize = 2 << 20;
/// Smaller ones begin on a cache line.
const LINE: usize = 64;
/// Numbers after the end that may be read, though not relied on: kernels read whole vectors.
pub(super) const SLACK: usize = 64;

/// Single precision numbers, zero at first, that never move. Memory is used only once it is touched.
pub(super) struct Buffer {
    start: *mut f32,
    length: usize,
}

// SAFETY: a buffer owns its memory, and gives it out by the rules of references only.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// This many zeros.
    pub(super) fn zeros(length: usize) -> Self {
        let layout = Self::layout(length);
        // SAFETY: the layout has a size above zero, as there is always slack.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        if layout.align() == HUGE_PAGE {
            advise_huge_pages(start, layout.size());
        }
        Self { start: start.cast(), length }
    }

    fn layout(length: usize) -> Layout {
        let bytes = (length + SLACK) * size_of::<f32>();
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { LINE };
        Layout::from_size_align(bytes.next_multiple_of(align), align).expect("a buffer fits in memory")
    }
}

impl Default for Buffer {
    /// No numbers and no memory: what stands in while a buffer is borrowed by an operation.
    fn default() -> Self {
        Self { start: std::ptr::dangling_mut(), length: 0 }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: allocated in `zeros` with this layout.
            unsafe { dealloc(self.start.cast(), Self::layout(self.length)) }
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: `start` is valid for `length` numbers, all of them set.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and the buffer is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} numbers)", self.length)
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(start: *mut u8, bytes: usize) {
    const MADV_HUGEPAGE: i32 = 14;
    unsafe extern "C" {
        fn madvise(start: *mut u8, bytes: usize, advice: i32) -> i32;
    }
    // SAFETY: the range is ours; advice changes no byte, and a refusal costs speed only.
    unsafe { madvise(start, bytes, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_start: *mut u8, _bytes: usize) {}
