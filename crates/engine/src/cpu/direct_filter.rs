//! The gradient of a convolution's filter and bias, by gathering.
//!
//! The gradient is a sum over all pixels of the batch. It is cut twice: by terms of the patch, which are sums of
//! their own, and by groups of pixels, whose sums are added up in order. Both cuts follow from the shapes.

use super::{
    direct::block,
    geometry::Geometry,
    kernel::{Columns, DEPTH, GATHERED_ROW, Start, transposed_product},
    operation::Scratch,
    parallel::{Shared, parallel, part, tiles},
    simd::Simd,
};

/// Pieces of work there should be at least, so that many threads have something to do.
const PIECES: usize = 16;

/// How the gradient of a filter is cut into pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    geometry: Geometry,
    chunks: usize,
    groups: usize,
}

impl Filter {
    pub(super) fn new(geometry: Geometry) -> Self {
        let chunks = geometry.patch().div_ceil(DEPTH);
        Self { geometry, chunks, groups: PIECES.div_ceil(chunks) }
    }

    /// Numbers of shared scratch: the sums of each group, and of its bias.
    pub(super) fn shared_scratch<S: Simd>(&self) -> usize {
        self.groups * (self.geometry.patch() + 1) * self.columns::<S>()
    }

    fn columns<S: Simd>(&self) -> usize {
        self.geometry.output.channels.next_multiple_of(S::PANEL)
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
        let rows = batch * self.geometry.pixels();
        let (sums, scratch) = (Shared::new(shared), &*lanes);
        let with_bias = bias.is_some();
        parallel(scratch.len(), self.chunks * self.groups, |lane, piece| {
            let (group, chunk) = (piece / self.chunks, piece % self.chunks);
            let pixels = part(rows, self.groups, group);
            let lane = Shared::reading(&scratch[lane]);
            simd.run(
                #[inline(always)]
                // SAFETY: the sums of a chunk and group belong to this piece, the scratch to this lane.
                || unsafe { self.piece(simd, (images, gradient), (pixels, group, chunk), (sums, lane)) },
            );
            if with_bias && chunk == 0 {
                self.sum_bias::<S>(gradient, part(rows, self.groups, group), (sums, group));
            }
        });
        self.collect(simd, shared, (filter, bias), lanes.len());
    }

    /// Sums the chunk of a filter over a group of pixels.
    #[inline(always)]
    unsafe fn piece<S: Simd>(
        &self,
        simd: S,
        (images, gradient): (&[f32], &[f32]),
        (pixels, group, chunk): (std::ops::Range<usize>, usize, usize),
        (sums, scratch): (Shared, Shared),
    ) {
        let (patch, channels) = (self.geometry.patch(), self.geometry.output.channels);
        let terms = part(patch, self.chunks, chunk);
        let sums_of_group = group * patch * self.columns::<S>();
        let mut first = pixels.start;
        let mut start = Start::Zero;
        // A group without pixels still has to set its sums to zero.
        loop {
            let count = block::<S>().min(pixels.end - first);
            // SAFETY: the images are a buffer, and the scratch has room for a block of gathered rows.
            unsafe { self.geometry.gather(simd, images, (first..first + count, terms.clone()), scratch) };
            for panel in 0..channels.div_ceil(S::PANEL) {
                let right = gradient[(first * channels + panel * S::PANEL).min(gradient.len())..].as_ptr();
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
            start = Start::Add;
            first += count;
            if first >= pixels.end {
                break;
            }
        }
    }

    /// Sums the gradient of the bias over a group of pixels.
    fn sum_bias<S: Simd>(
        &self,
        gradient: &[f32],
        pixels: std::ops::Range<usize>,
        (sums, group): (Shared, usize),
    ) {
        let channels = self.geometry.output.channels;
        let at = (self.groups * self.geometry.patch() + group) * self.columns::<S>();
        // SAFETY: each group has a place of its own after all the filters.
        let sum = unsafe { sums.slice(at..at + channels) };
        sum.fill(0.0);
        for pixel in gradient[pixels.start * channels..pixels.end * channels].chunks_exact(channels) {
            sum.iter_mut().zip(pixel).for_each(|(sum, number)| *sum += number);
        }
    }

    /// Adds the sums of the groups in order, and brings them into the layout of the filter.
    fn collect<S: Simd>(
        &self,
        simd: S,
        sums: &[f32],
        (filter, bias): (&mut [f32], Option<&mut [f32]>),
        lanes: usize,
    ) {
        let (patch, channels) = (self.geometry.patch(), self.geometry.output.channels);
        let to = Shared::new(filter);
        parallel(lanes, self.chunks, |_, chunk| {
            simd.run(
                #[inline(always)]
                || {
                    for term in part(patch, self.chunks, chunk) {
                        // SAFETY: chunks have no term in common.
                        let row = unsafe { to.slice(term * channels..(term + 1) * channels) };
                        for (panel, row) in row.chunks_mut(S::PANEL).enumerate() {
                            self.add_groups::<S>(&sums[(panel * patch + term) * S::PANEL..], patch, row);
                        }
                    }
                },
            );
        });
        if let Some(bias) = bias {
            self.add_groups::<S>(&sums[self.groups * patch * self.columns::<S>()..], 1, bias);
        }
    }

    /// Adds what each group has, `rows` rows of all columns apart.
    #[inline(always)]
    fn add_groups<S: Simd>(&self, sums: &[f32], rows: usize, total: &mut [f32]) {
        total.fill(0.0);
        for group in 0..self.groups {
            let from = &sums[group * rows * self.columns::<S>()..];
            total.iter_mut().zip(from).for_each(|(sum, number)| *sum += number);
        }
    }
}
