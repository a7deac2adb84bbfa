//! The gradient of the filter: points of the images times points of the output's gradient, summed over tiles.

use super::{
    Order,
    tile::{Grid, Points, load_points, plane},
    transform::{Map, OUT, POINTS, SIDE},
};
use crate::cpu::{
    buffer::Buffer,
    finish::store_some,
    geometry::Geometry,
    kernel::{Columns, Start, transposed_product},
    operation::Scratch,
    parallel::{Shared, parallel, part, tiles},
    simd::Simd,
};

/// Tiles in a block, at most and at least.
const BLOCK: (usize, usize) = (14, 56);
/// Bytes that should stay in the second cache of a core: the sums of a group, and a block of both operands.
const CACHE_BYTES: usize = 900 << 10;
/// Groups of tiles whose sums are added up at the end.
const GROUPS: usize = 16;
/// Bytes the sums of all groups may take; where not even four fit, there is one group, computed point by point.
const GROUP_BYTES: usize = 16 << 20;
/// The point where both lines are evaluated at one: there, a tile is the sum of its numbers.
const SUM: usize = SIDE + 1;

/// The plan of the pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    geometry: Geometry,
    order: Order,
    groups: usize,
    /// Tiles in a block.
    block: usize,
}

impl Filter {
    pub(crate) fn new(geometry: Geometry) -> Self {
        let (inputs, outputs) = (geometry.input.channels, geometry.output.channels);
        let bytes = POINTS * inputs * outputs * size_of::<f32>();
        let tile = POINTS * (inputs + outputs) * size_of::<f32>();
        // Sums that do not fit the cache are read from memory for each block, so blocks are as large as can be.
        let block =
            CACHE_BYTES.checked_sub(bytes).map_or(BLOCK.1, |room| (room / tile).clamp(BLOCK.0, BLOCK.1));
        match GROUP_BYTES / bytes {
            0..4 => Self { geometry, order: Order::Planes, groups: 1, block: 0 },
            groups => Self { geometry, order: Order::Blocks, groups: groups.min(GROUPS), block },
        }
    }

    fn grids(&self) -> (Grid, Grid) {
        let Geometry { input, output, padding, .. } = self.geometry;
        let tiles = (output.height.div_ceil(OUT), output.width.div_ceil(OUT));
        (Grid { image: input, tiles, padding }, Grid { image: output, tiles, padding: 0 })
    }

    /// Channels in and out, filled up to whole panels.
    fn channels<S: Simd>(&self) -> (usize, usize) {
        let whole = |channels: usize| channels.next_multiple_of(S::PANEL);
        (whole(self.geometry.input.channels), whole(self.geometry.output.channels))
    }

    /// Numbers of one point of the sums: `[out / PANEL][in][PANEL]`.
    fn sums_plane<S: Simd>(&self) -> usize {
        plane(self.geometry.input.channels * self.channels::<S>().1)
    }

    /// Numbers of the sums of one group, the bias at the end.
    fn sums<S: Simd>(&self) -> usize {
        POINTS * self.sums_plane::<S>() + self.channels::<S>().1
    }

    /// Numbers of shared scratch for a batch.
    pub(crate) fn shared_scratch<S: Simd>(&self, batch: usize) -> usize {
        let tiles = if self.order == Order::Planes { self.grids().0.count(batch) } else { 0 };
        let (inputs, outputs) = self.channels::<S>();
        self.groups * self.sums::<S>() + POINTS * (plane(tiles * inputs) + plane(tiles * outputs))
    }

    /// Numbers of scratch a lane needs.
    pub(crate) fn lane_scratch<S: Simd>(&self) -> usize {
        let (inputs, outputs) = self.channels::<S>();
        POINTS * (plane(self.block * inputs) + plane(self.block * outputs))
    }

    /// The gradient of the filter, and of the bias where there is one.
    pub(crate) fn backward<S: Simd>(
        &self,
        simd: S,
        (images, gradient, batch, zeros): (&[f32], &[f32], usize, &[f32]),
        (filter, bias): (&mut [f32], Option<&mut [f32]>),
        scratch: &mut Scratch,
    ) {
        let Scratch { shared, lanes } = scratch;
        let sources = [images, gradient, zeros].map(Shared::reading);
        match self.order {
            Order::Blocks => self.blocks(simd, (sources, batch), Shared::new(shared), lanes),
            Order::Planes => self.planes(simd, (sources, batch), Shared::new(shared), lanes.len()),
        }
        if let Some(bias) = bias {
            bias.fill(0.0);
            for sums in shared.chunks_exact(self.sums::<S>()).take(self.groups) {
                let from = &sums[POINTS * self.sums_plane::<S>()..];
                bias.iter_mut().zip(from).for_each(|(sum, number)| *sum += number);
            }
        }
        self.collect(simd, shared, Shared::new(filter), lanes.len());
    }

    fn blocks<S: Simd>(
        &self,
        simd: S,
        (sources, batch): ([Shared; 3], usize),
        sums: Shared,
        lanes: &[Buffer],
    ) {
        let (inputs, _) = self.channels::<S>();
        let total = self.grids().0.count(batch);
        parallel(lanes.len(), self.groups, |lane, group| {
            let at = Shared::reading(&lanes[lane]);
            let images = Points { at, plane: plane(self.block * inputs), room: self.block };
            let plane = plane(self.block * self.channels::<S>().1);
            let gradients = Points { at: at.after(POINTS * images.plane), plane, room: self.block };
            let sums = sums.after(group * self.sums::<S>());
            let tiles = part(total, self.groups, group);
            let blocks = tiles.len().div_ceil(self.block).max(1);
            for block in 0..blocks {
                let within = part(tiles.len(), blocks, block);
                let block_tiles = tiles.start + within.start..tiles.start + within.end;
                let start = if block == 0 { Start::Zero } else { Start::Add };
                simd.run(
                    #[inline(always)]
                    // SAFETY: the scratch belongs to this lane and the sums to this group.
                    || unsafe {
                        self.enter(
                            simd,
                            sources,
                            block_tiles.clone(),
                            (&images, &gradients, block_tiles.start),
                        );
                        for point in 0..POINTS {
                            self.multiply(
                                simd,
                                (point, block_tiles.len()),
                                (images, gradients),
                                (sums, start),
                            );
                        }
                        self.sum_bias::<S>(&gradients, block_tiles.len(), (sums, start));
                    },
                );
            }
        });
    }

    fn planes<S: Simd>(&self, simd: S, (sources, batch): ([Shared; 3], usize), sums: Shared, lanes: usize) {
        let (inputs, outputs) = self.channels::<S>();
        let room = self.grids().0.count(batch);
        let images = Points { at: sums.after(self.sums::<S>()), plane: plane(room * inputs), room };
        let gradients =
            Points { at: images.at.after(POINTS * images.plane), plane: plane(room * outputs), room };
        let pieces = room.div_ceil(8);
        parallel(lanes, pieces, |_, piece| {
            simd.run(
                #[inline(always)]
                // SAFETY: the tiles belong to this piece.
                || unsafe { self.enter(simd, sources, part(room, pieces, piece), (&images, &gradients, 0)) },
            );
        });
        parallel(lanes, POINTS, |_, point| {
            simd.run(
                #[inline(always)]
                // SAFETY: the sums of this point belong to this piece, the bias to that of one point.
                || unsafe {
                    self.multiply(simd, (point, room), (images, gradients), (sums, Start::Zero));
                    if point == SUM {
                        self.sum_bias::<S>(&gradients, room, (sums, Start::Zero));
                    }
                },
            );
        });
    }

    /// Transforms tiles of both operands; `first` is the tile at place zero.
    #[inline(always)]
    unsafe fn enter<S: Simd>(
        &self,
        simd: S,
        [images, gradient, zeros]: [Shared; 3],
        tiles: std::ops::Range<usize>,
        (points, slopes, first): (&Points, &Points, usize),
    ) {
        let (input, output) = self.grids();
        // SAFETY: the tiles are of the batch, and their places of the blocks.
        unsafe {
            for tile in tiles.clone() {
                input.enter(simd, Map::Input, (images.at(0), zeros.at(0), tile), (points, tile - first));
            }
            for tile in tiles {
                output.enter(
                    simd,
                    Map::Gradient,
                    (gradient.at(0), zeros.at(0), tile),
                    (slopes, tile - first),
                );
            }
        }
    }

    /// The sums of one point: input channels by output channels, over tiles.
    #[inline(always)]
    unsafe fn multiply<S: Simd>(
        &self,
        simd: S,
        (point, count): (usize, usize),
        (images, gradients): (Points, Points),
        (sums, start): (Shared, Start),
    ) {
        let inputs = self.geometry.input.channels;
        for panel in 0..self.channels::<S>().1 / S::PANEL {
            for first in (0..inputs).step_by(S::PANEL) {
                tiles(S::PANEL.min(inputs - first), S::ROWS, |row, rows| {
                    // SAFETY: the operands have room for every tile, the sums for every channel.
                    unsafe {
                        let at = images.at.at(point * images.plane + first * images.room + row);
                        let left = Columns { at, step: S::PANEL, depth: count };
                        let right =
                            gradients.at.at(point * gradients.plane + panel * gradients.room * S::PANEL);
                        let to = point * self.sums_plane::<S>() + (panel * inputs + first + row) * S::PANEL;
                        transposed_product(simd, rows, left, (right, S::PANEL), (sums.at(to), start));
                    }
                });
            }
        }
    }

    /// The gradient of the bias is the sum of the gradient over all pixels, which one of the points has per tile.
    #[inline(always)]
    unsafe fn sum_bias<S: Simd>(&self, gradients: &Points, count: usize, (sums, start): (Shared, Start)) {
        let outputs = self.channels::<S>().1;
        let at = POINTS * self.sums_plane::<S>();
        // SAFETY: the sums have room for the bias at their end, and belong to the caller.
        let bias = unsafe { sums.slice(at..at + outputs) };
        if start == Start::Zero {
            bias.fill(0.0);
        }
        for (panel, bias) in bias.chunks_exact_mut(S::PANEL).enumerate() {
            let from = SUM * gradients.plane + panel * gradients.room * S::PANEL;
            // SAFETY: the block has this many tiles.
            let tiles = unsafe { gradients.at.slice(from..from + count * S::PANEL) };
            for tile in tiles.chunks_exact(S::PANEL) {
                bias.iter_mut().zip(tile).for_each(|(sum, number)| *sum += *number);
            }
        }
    }

    /// Adds the sums of the groups in order and interpolates them into the filter: `[tap][in][out]`.
    fn collect<S: Simd>(&self, simd: S, sums: &[f32], filter: Shared, lanes: usize) {
        let (inputs, outputs) = (self.geometry.input.channels, self.geometry.output.channels);
        let plane = self.sums_plane::<S>();
        let sums = Shared::reading(sums);
        parallel(lanes, inputs, |_, input| {
            simd.run(
                #[inline(always)]
                || {
                    for output in (0..outputs).step_by(S::LANES) {
                        let place = (output / S::PANEL * inputs + input) * S::PANEL + output % S::PANEL;
                        let count = S::LANES.min(outputs - output);
                        // SAFETY: the sums have this place for every group; the filter's place is this channel's.
                        unsafe {
                            let mut tile = load_points(simd, sums.at(place), plane);
                            for group in 1..self.groups {
                                let more =
                                    load_points(simd, sums.at(group * self.sums::<S>() + place), plane);
                                for (line, more) in tile.iter_mut().zip(&more) {
                                    line.iter_mut()
                                        .zip(more)
                                        .for_each(|(sum, &value)| *sum = simd.add(*sum, value));
                                }
                            }
                            let taps = Map::FilterGradient.apply(simd, &tile);
                            for tap in 0..9 {
                                let to = filter.at((tap * inputs + input) * outputs + output);
                                store_some(simd, to, count, taps[tap / 3][tap % 3]);
                            }
                        }
                    }
                },
            );
        });
    }
}
