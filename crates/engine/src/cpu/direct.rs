//! Convolution of any kernel, stride and padding: gather the numbers under the kernel, multiply.
//!
//! A block of pixels at a time is gathered into rows that fit the caches, [`DEPTH`] terms of the sum at a time. That
//! copy is a hundredth of the work, and takes all care of padding and strides away from the product.

use std::ops::Range;

use super::{
    buffer::Buffer,
    finish::{Finish, load_some, store_some, streams},
    geometry::Geometry,
    kernel::{DEPTH, GATHERED_ROW, Rows, Start, gathered_product},
    operation::Scratch,
    parallel::{Shared, parallel, part, tiles},
    simd::Simd,
};

/// Register tiles in a block of pixels: enough to use each panel of the filter several times from the cache.
const TILES: usize = 4;

/// Pixels in a block.
const fn block<S: Simd>() -> usize {
    TILES * S::ROWS
}

/// Pieces in which this many rows are computed.
pub(super) fn pieces<S: Simd>(rows: usize) -> usize {
    rows.div_ceil(block::<S>())
}

/// Numbers of scratch a lane needs: the gathered rows, and the products of the block.
pub(super) fn lane_scratch<S: Simd>(columns: usize) -> usize {
    block::<S>() * (GATHERED_ROW + columns.next_multiple_of(S::PANEL))
}

/// What a pass of a convolution reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow<'a> {
    /// The images, or the gradient of the output in the backward pass.
    pub(super) images: &'a [f32],
    /// How many there are.
    pub(super) batch: usize,
    pub(super) filter: &'a [f32],
    /// The output, or the gradient of the images.
    pub(super) output: Shared,
}

/// Rows to be multiplied with panels: how to gather a row, and where its product goes.
pub(super) struct Work<'a, G, P> {
    /// How many rows there are.
    pub(super) rows: usize,
    /// Terms of the sum.
    pub(super) depth: usize,
    /// Columns of the product.
    pub(super) columns: usize,
    /// The right operand: `[column / PANEL][term][PANEL]`.
    pub(super) panels: &'a [f32],
    /// Writes some terms of some rows, [`GATHERED_ROW`] apart.
    pub(super) gather: G,
    /// Where the product of a row begins in the output.
    pub(super) place: P,
}

impl<G, P> Work<'_, G, P>
where
    G: Fn(Range<usize>, Range<usize>, Shared) + Sync,
    P: Fn(usize) -> usize + Sync,
{
    /// Computes all rows into `output`.
    pub(super) fn run<S: Simd>(&self, simd: S, output: Shared, finish: impl Finish, lanes: &mut [Buffer]) {
        let pieces = pieces::<S>(self.rows);
        let scratch: &[Buffer] = lanes;
        parallel(scratch.len(), pieces, |lane, piece| {
            let rows = part(self.rows, pieces, piece);
            let lane = Shared::reading(&scratch[lane]);
            simd.run(
                #[inline(always)]
                // SAFETY: a lane has scratch for a block, and no two blocks have a row in common.
                || unsafe { self.block(simd, (rows, piece), lane, (output, finish)) },
            );
        });
    }

    /// Computes a block of rows.
    #[inline(always)]
    unsafe fn block<S: Simd>(
        &self,
        simd: S,
        (rows, piece): (Range<usize>, usize),
        scratch: Shared,
        (output, finish): (Shared, impl Finish),
    ) {
        let products = block::<S>() * GATHERED_ROW;
        // A row without terms is zero: one empty chunk says so.
        let chunks = self.depth.div_ceil(DEPTH).max(1);
        for chunk in 0..chunks {
            let terms = part(self.depth, chunks, chunk);
            (self.gather)(rows.clone(), terms.clone(), scratch);
            let start = if chunk == 0 { Start::Zero } else { Start::Add };
            for panel in 0..self.columns.div_ceil(S::PANEL) {
                let right = &self.panels[(panel * self.depth + terms.start) * S::PANEL..];
                tiles(rows.len(), S::ROWS, |first, count| {
                    // SAFETY: the rows were gathered above; the products have a place for every row and panel.
                    unsafe {
                        let at = scratch.at(first * GATHERED_ROW);
                        let left = Rows { at, depth: terms.len(), run: DEPTH, jump: 0 };
                        let tile = scratch.at(products + (panel * block::<S>() + first) * S::PANEL);
                        gathered_product(simd, count, left, right.as_ptr(), (tile, start));
                    }
                });
            }
        }
        // SAFETY: the products are computed, and the rows of the output belong to this piece.
        unsafe { self.scatter(simd, (rows, piece), scratch.after(products), (output, finish)) };
    }

    /// Finishes the products of a block and writes them to their places.
    #[inline(always)]
    unsafe fn scatter<S: Simd>(
        &self,
        simd: S,
        (rows, piece): (Range<usize>, usize),
        products: Shared,
        (output, finish): (Shared, impl Finish),
    ) {
        let stream = streams::<S>(self.rows, self.columns);
        // SAFETY: the caller's piece.
        unsafe { finish.begin(piece) };
        for (index, row) in rows.enumerate() {
            let place = (self.place)(row);
            for column in (0..self.columns).step_by(S::LANES) {
                let (to, count) = (place + column, S::LANES.min(self.columns - column));
                let from = (column / S::PANEL * block::<S>() + index) * S::PANEL + column % S::PANEL;
                // SAFETY: there is a product for this row; its place in the output and its sums are the caller's.
                unsafe {
                    let value = finish.finish(simd, simd.load(products.at(from)), (to, column), count);
                    if stream {
                        simd.stream(output.at(to), value);
                    } else {
                        store_some(simd, output.at(to), count, value);
                    }
                    if let Some(kept) = finish.sums() {
                        let sums = finish.add(simd, [simd.splat(0.0); 2], (value, column), count);
                        kept.keep(simd, (piece, column), count, sums);
                    }
                }
            }
        }
        simd.fence();
    }
}

/// Forward: every output pixel is the patch under it times the filter.
pub(super) fn forward<S: Simd>(
    simd: S,
    geometry: &Geometry,
    flow: &Flow<'_>,
    finish: impl Finish,
    scratch: &mut Scratch,
) {
    let &Flow { images, batch, filter, output } = flow;
    let Scratch { shared, lanes } = scratch;
    let (depth, columns, pixels) = (geometry.patch(), geometry.output.channels, geometry.pixels());
    pack(simd, filter, (depth, columns), shared, lanes.len());
    let work = Work {
        rows: batch * pixels,
        depth,
        columns,
        panels: shared,
        gather: |rows, terms, to| {
            simd.run(
                #[inline(always)]
                // SAFETY: the images are a buffer, and the scratch has room for a block of rows.
                || unsafe { geometry.gather(simd, images, (rows, terms), to) },
            );
        },
        place: |row| row * columns,
    };
    work.run(simd, output, finish, lanes);
}

/// Numbers of shared scratch that panels of this product take.
pub(super) fn panels<S: Simd>(depth: usize, columns: usize) -> usize {
    depth * columns.next_multiple_of(S::PANEL)
}

/// `[term][column]` to `[column / PANEL][term][PANEL]`.
fn pack<S: Simd>(
    simd: S,
    filter: &[f32],
    (depth, columns): (usize, usize),
    packed: &mut [f32],
    lanes: usize,
) {
    let (filter, packed) = (Shared::reading(&filter[..depth * columns]), Shared::new(packed));
    parallel(lanes, columns.div_ceil(S::PANEL), |_, panel| {
        simd.run(
            #[inline(always)]
            || {
                for (term, half) in (0..depth).flat_map(|term| [(term, 0), (term, S::LANES)]) {
                    let column = panel * S::PANEL + half;
                    let count = S::LANES.min(columns.saturating_sub(column));
                    // SAFETY: `count` columns are left in this row; panels do not overlap, and there is room for all.
                    unsafe {
                        let value = load_some(simd, filter.at(term * columns + column.min(columns)), count);
                        simd.store(packed.at((panel * depth + term) * S::PANEL + half), value);
                    }
                }
            },
        );
    });
}
