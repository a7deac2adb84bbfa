//! The two register tiles all products are made of.
//!
//! Both compute up to [`Simd::ROWS`] rows by one panel (two vectors) of a matrix product, with every sum in a register
//! from the first term to the last. The right operand comes in panels: `PANEL` numbers for each step of the sum.
//! The result is a tile of `rows` times `PANEL` numbers.

use super::simd::Simd;

/// Numbers of a gathered row that are multiplied at a time; the tile's rows then stay in the first cache.
pub(super) const DEPTH: usize = 256;
/// From one gathered row to the next: a line more than [`DEPTH`], so that rows do not fall on the same cache sets.
pub(super) const GATHERED_ROW: usize = DEPTH + 16;

/// Whether a product replaces what is there or adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Zero,
    Add,
}

/// Rows of the left operand. The sum walks along runs of `run` numbers that lie `jump` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) at: *const f32,
    /// Terms of the sum.
    pub(super) depth: usize,
    pub(super) run: usize,
    pub(super) jump: usize,
}

/// The left operand of a transposed product: term t of row r is at `t * step + r`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) at: *const f32,
    pub(super) step: usize,
    /// Terms of the sum.
    pub(super) depth: usize,
}

/// One call per number of rows, which the compiler has to know.
macro_rules! for_rows {
    ($rows:expr, $tile:ident) => {
        for_rows!($rows, $tile, 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    ($rows:expr, $tile:ident, $($number:literal)+) => {
        match $rows {
            $($number => $tile!($number),)+
            rows => unreachable!("a tile of {rows} rows"),
        }
    };
}

/// `tile = left x right`, the rows of `left` a panel apart: the layout of transformed tiles.
///
/// # Safety
/// `left` must be readable for `rows` rows and all its terms, `right` for `depth` panels; `tile` must be writable for
/// `rows` panels; `rows` must be 1 to [`Simd::ROWS`].
#[inline(always)]
pub(super) unsafe fn panel_product<S: Simd>(
    simd: S,
    rows: usize,
    left: Rows,
    right: *const f32,
    tile: *mut f32,
) {
    macro_rules! run {
        ($number:literal) => {
            simd.run(
                #[inline(always)]
                // SAFETY: what the caller promises.
                || unsafe { product::<S, $number>(simd, left, S::PANEL, right, (tile, Start::Zero)) },
            )
        };
    }
    for_rows!(rows, run);
}

/// `tile (+)= left x right`, the rows of `left` [`GATHERED_ROW`] apart.
///
/// # Safety
/// As for [`panel_product`].
#[inline(always)]
pub(super) unsafe fn gathered_product<S: Simd>(
    simd: S,
    rows: usize,
    left: Rows,
    right: *const f32,
    tile: (*mut f32, Start),
) {
    macro_rules! run {
        ($number:literal) => {
            simd.run(
                #[inline(always)]
                // SAFETY: what the caller promises.
                || unsafe { product::<S, $number>(simd, left, GATHERED_ROW, right, tile) },
            )
        };
    }
    for_rows!(rows, run);
}

/// `tile (+)= leftᵀ x right`: sums over examples or pixels. Terms of `right` lie `step` numbers apart.
///
/// # Safety
/// As for [`panel_product`], the terms of `right` readable for a panel each.
#[inline(always)]
pub(super) unsafe fn transposed_product<S: Simd>(
    simd: S,
    rows: usize,
    left: Columns,
    (right, step): (*const f32, usize),
    tile: (*mut f32, Start),
) {
    macro_rules! run {
        ($number:literal) => {
            simd.run(
                #[inline(always)]
                // SAFETY: what the caller promises.
                || unsafe { transposed::<S, $number>(simd, left, right, step, tile) },
            )
        };
    }
    for_rows!(rows, run);
}

/// `stride` is a constant at every call, so that all rows are reached from one pointer.
#[inline(always)]
unsafe fn product<S: Simd, const ROWS: usize>(
    simd: S,
    left: Rows,
    stride: usize,
    right: *const f32,
    (tile, start): (*mut f32, Start),
) {
    let mut sums = [[simd.splat(0.0); 2]; ROWS];
    let (mut run, mut right, mut left_over) = (left.at, right, left.depth);
    // SAFETY: the caller allows to read every term of both operands and to write the tile.
    unsafe {
        while left_over > 0 {
            let terms = left.run.min(left_over);
            for term in 0..terms {
                let (b0, b1) = (simd.load(right), simd.load(right.add(S::LANES)));
                let column = run.add(term);
                for (row, sum) in sums.iter_mut().enumerate() {
                    let a = simd.splat(*column.add(row * stride));
                    sum[0] = simd.mul_add(a, b0, sum[0]);
                    sum[1] = simd.mul_add(a, b1, sum[1]);
                }
                right = right.add(S::PANEL);
            }
            left_over -= terms;
            run = run.wrapping_add(left.jump);
        }
        store(simd, &sums, tile, start);
    }
}

#[inline(always)]
unsafe fn transposed<S: Simd, const ROWS: usize>(
    simd: S,
    left: Columns,
    right: *const f32,
    step: usize,
    (tile, start): (*mut f32, Start),
) {
    let mut sums = [[simd.splat(0.0); 2]; ROWS];
    let (mut column, mut right) = (left.at, right);
    // SAFETY: the caller allows to read every term of both operands and to write the tile.
    unsafe {
        for _ in 0..left.depth {
            let (b0, b1) = (simd.load(right), simd.load(right.add(S::LANES)));
            for (row, sum) in sums.iter_mut().enumerate() {
                let a = simd.splat(*column.add(row));
                sum[0] = simd.mul_add(a, b0, sum[0]);
                sum[1] = simd.mul_add(a, b1, sum[1]);
            }
            column = column.wrapping_add(left.step);
            right = right.wrapping_add(step);
        }
        store(simd, &sums, tile, start);
    }
}

#[inline(always)]
unsafe fn store<S: Simd, const ROWS: usize>(
    simd: S,
    sums: &[[S::Vector; 2]; ROWS],
    tile: *mut f32,
    start: Start,
) {
    for (row, sum) in sums.iter().enumerate() {
        for (half, &value) in sum.iter().enumerate() {
            // SAFETY: the caller allows to write `ROWS` panels.
            unsafe {
                let to = tile.add(row * S::PANEL + half * S::LANES);
                let value = if start == Start::Add { simd.add(value, simd.load(to)) } else { value };
                simd.store(to, value);
            }
        }
    }
}
