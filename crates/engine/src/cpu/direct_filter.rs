//! The gradient of a convolution's filter and bias, by gathering.
//!
//! The gradient is a sum over all pixels of the batch. It is cut three times: by terms of the patch and by output
//! channels, which are sums of their own, and by groups of pixels, whose sums are added up in order. All cuts follow
//! from the shapes.

use std::ops::Range;

use super::{
    finish::store_some,
    geometry::Geometry,
    kernel::{Columns, DEPTH, GATHERED_ROW, Start, transposed_product},
    operation::Scratch,
    parallel::{Shared, parallel, part, tiles},
    simd::Simd,
};

/// Pieces of work there should be, so that many threads have something to do.
const PIECES: usize = 16;
/// Pieces to reach by cutting output channels: each piece gathers anew.
const PIECES_OF_CHANNELS: usize = 4;
/// Pixels a group has at least: its sums have to be written and read again.
const GROUP: usize = 1024;
/// Pixels gathered at a time.
const BLOCK: usize = 128;

/// How the gradient of a filter is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    geometry: Geometry,
}

/// How it is cut for a batch.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Pixels of the batch.
    pixels: usize,
    groups: usize,
    /// Chunks of the patch.
    chunks: usize,
    /// Parts of the output channels.
    parts: usize,
}

/// A piece of the work.
#[derive(Clone, Debug)]
struct Piece {
    pixels: Range<usize>,
    terms: Range<usize>,
    /// Panels of output channels.
    panels: Range<usize>,
    /// Where the sums of its group begin.
    sums: usize,
    /// Where the sums of the bias begin, for the pieces that have them.
    bias: Option<usize>,
}

impl Filter {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self { geometry }
    }

    /// Numbers of shared scratch: the sums of each group, and of its bias.
    pub(super) fn shared_scratch<S: Simd>(&self) -> usize {
        let groups = PIECES.div_ceil(self.geometry.patch().div_ceil(DEPTH));
        groups * (self.geometry.patch() + 1) * self.columns::<S>()
    }

    /// Numbers of scratch a lane needs for a block of gathered rows.
    pub(super) fn lane_scratch() -> usize {
        BLOCK * GATHERED_ROW
    }

    fn columns<S: Simd>(&self) -> usize {
        self.geometry.output.channels.next_multiple_of(S::PANEL)
    }

    fn cut<S: Simd>(&self, batch: usize) -> Cut {
        let (pixels, panels) = (batch * self.geometry.pixels(), self.columns::<S>() / S::PANEL);
        if pixels <= GROUP {
            // One group: smaller chunks are the pieces.
            let chunks = self.geometry.patch().div_ceil(DEPTH / 2);
            return Cut { pixels, groups: 1, chunks, parts: PIECES_OF_CHANNELS.div_ceil(chunks).min(panels) };
        }
        let chunks = self.geometry.patch().div_ceil(DEPTH);
        let groups = PIECES.div_ceil(chunks).min(pixels.div_ceil(GROUP));
        Cut { pixels, groups, chunks, parts: PIECES_OF_CHANNELS.div_ceil(chunks * groups).min(panels) }
    }

    /// The gradient of the filter, and of the bias where there is one.
    pub(super) fn backward<S: Simd>(
        &self,
        simd: S,
        (images, gradient, batch): (&[f32], &[f32], usize),
        (filter, bias): (&mut [f32], Option<&mut [f32]>),
        scratch: &mut Scratch,
    ) {
        let Scratch { shared, lanes } = scratch;
        let (sums, scratch, cut) = (Shared::new(shared), &*lanes, self.cut::<S>(batch));
        let (patch, columns) = (self.geometry.patch(), self.columns::<S>());
        parallel(scratch.len(), cut.groups * cut.chunks * cut.parts, |lane, index| {
            let (group, chunk) = (index / cut.parts / cut.chunks, index / cut.parts % cut.chunks);
            let piece = Piece {
                pixels: part(cut.pixels, cut.groups, group),
                terms: part(patch, cut.chunks, chunk),
                panels: part(columns / S::PANEL, cut.parts, index % cut.parts),
                sums: group * patch * columns,
                bias: (chunk == 0).then_some((cut.groups * patch + group) * columns),
            };
            let lane = Shared::reading(&scratch[lane]);
            simd.run(
                #[inline(always)]
                // SAFETY: the sums of a piece belong to it, the scratch to this lane.
                || unsafe { self.piece(simd, (images, gradient), &piece, (sums, lane)) },
            );
        });
        if let Some(bias) = bias {
            bias.fill(0.0);
            for sums in shared[cut.groups * patch * columns..].chunks_exact(columns).take(cut.groups) {
                bias.iter_mut().zip(sums).for_each(|(sum, number)| *sum += number);
            }
        }
        self.collect(simd, shared, (filter, cut), lanes.len());
    }

    /// Sums some terms of the filter over a group of pixels.
    #[inline(always)]
    unsafe fn piece<S: Simd>(
        &self,
        simd: S,
        (images, gradient): (&[f32], &[f32]),
        piece: &Piece,
        (sums, scratch): (Shared, Shared),
    ) {
        let (patch, channels) = (self.geometry.patch(), self.geometry.output.channels);
        let Piece { pixels, terms, panels, sums: sums_of_group, bias } = piece;
        let columns = panels.start * S::PANEL..(panels.end * S::PANEL).min(channels);
        for first in pixels.clone().step_by(BLOCK) {
            let count = BLOCK.min(pixels.end - first);
            let start = if first == pixels.start { Start::Zero } else { Start::Add };
            // SAFETY: the images are a buffer, and the scratch has room for a block of gathered rows.
            unsafe { self.geometry.gather(simd, images, (first..first + count, terms.clone()), scratch) };
            for panel in panels.clone() {
                let right = gradient[first * channels + panel * S::PANEL..].as_ptr();
                tiles(terms.len(), S::ROWS, |row, rows| {
                    // SAFETY: the rows were gathered above; a panel that ends after the last channel reads the next
                    // pixel, or the slack of the buffer, into columns nobody looks at.
                    unsafe {
                        let left = Columns { at: scratch.at(row), step: GATHERED_ROW, depth: count };
                        let tile = sums.at(sums_of_group + (panel * patch + terms.start + row) * S::PANEL);
                        transposed_product(simd, rows, left, (right, channels), (tile, start));
                    }
                });
            }
            if let Some(bias) = bias {
                // SAFETY: the bias of these columns belongs to this piece.
                let sums = unsafe { sums.slice(bias + columns.start..bias + columns.end) };
                let block = &gradient[first * channels..(first + count) * channels];
                self.add_bias(block, columns.clone(), (sums, start));
            }
        }
    }

    /// Adds a block of pixels to the gradient of the bias, for the columns of a piece.
    #[inline(always)]
    fn add_bias(&self, pixels: &[f32], columns: Range<usize>, (sums, start): (&mut [f32], Start)) {
        if start == Start::Zero {
            sums.fill(0.0);
        }
        for pixel in pixels.chunks_exact(self.geometry.output.channels) {
            sums.iter_mut().zip(&pixel[columns.clone()]).for_each(|(sum, number)| *sum += number);
        }
    }

    /// Adds the sums of the groups in order, and brings them into the layout of the filter.
    fn collect<S: Simd>(&self, simd: S, sums: &[f32], (filter, cut): (&mut [f32], Cut), lanes: usize) {
        let (patch, channels) = (self.geometry.patch(), self.geometry.output.channels);
        let group_sums = patch * self.columns::<S>();
        let to = Shared::new(filter);
        let sums = Shared::reading(sums);
        let collect = |term: usize| {
            for column in (0..channels).step_by(S::LANES) {
                let at = (column / S::PANEL * patch + term) * S::PANEL + column % S::PANEL;
                // SAFETY: the sums have whole panels for every group, and nobody else has this term.
                unsafe {
                    let mut sum = simd.load(sums.at(at));
                    for group in 1..cut.groups {
                        sum = simd.add(sum, simd.load(sums.at(group * group_sums + at)));
                    }
                    store_some(simd, to.at(term * channels + column), S::LANES.min(channels - column), sum);
                }
            }
        };
        parallel(lanes, cut.chunks, |_, chunk| {
            simd.run(
                #[inline(always)]
                || part(patch, cut.chunks, chunk).for_each(collect),
            );
        });
    }
}
