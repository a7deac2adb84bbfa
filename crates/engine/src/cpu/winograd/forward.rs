//! Images to outputs, and gradients of outputs to gradients of images.

use super::{
    Order,
    tile::{Grid, Points, plane},
    transform::{Map, OUT, POINTS, SIDE},
};
use crate::cpu::{
    buffer::Buffer,
    direct::Flow,
    finish::{Finish, load_some, streams},
    geometry::Geometry,
    kernel::{Rows, panel_product},
    operation::Scratch,
    parallel::{Shared, parallel, part, tiles},
    simd::Simd,
};

/// Bytes of transformed tiles a block should have: they stay in the second cache of a core.
const BLOCK_BYTES: usize = 300 << 10;
/// Filters from this many points on are read point by point.
const LARGE_FILTER: usize = POINTS * 512 * 512;

/// Which filter is transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// As it is: `[tap][in][out]`.
    Forward,
    /// The taps in reverse order and the channels swapped, which is the filter of the backward pass.
    Backward,
}

/// The plan of one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forward {
    geometry: Geometry,
    turn: Turn,
    order: Order,
}

impl Forward {
    /// A pass with this geometry; for [`Turn::Backward`] it is that of the backward convolution.
    pub(crate) fn new(geometry: Geometry, turn: Turn) -> Self {
        let large = POINTS * geometry.input.channels * geometry.output.channels >= LARGE_FILTER;
        Self { geometry, turn, order: if large { Order::Planes } else { Order::Blocks } }
    }

    fn grids(&self) -> (Grid, Grid) {
        let output = self.geometry.output;
        let tiles = (output.height.div_ceil(OUT), output.width.div_ceil(OUT));
        let enter = Grid { image: self.geometry.input, tiles, padding: self.geometry.padding };
        (enter, Grid { image: output, tiles, padding: 0 })
    }

    /// Channels in and out, filled up to whole panels.
    fn channels<S: Simd>(&self) -> (usize, usize) {
        let whole = |channels: usize| channels.next_multiple_of(S::PANEL);
        (whole(self.geometry.input.channels), whole(self.geometry.output.channels))
    }

    /// Numbers of one point of the filter: `[out / PANEL][in][PANEL]`.
    fn filter_plane<S: Simd>(&self) -> usize {
        plane(self.geometry.input.channels * self.channels::<S>().1)
    }

    /// Tiles in a block, as many as fit the cache, in whole register tiles.
    fn block<S: Simd>(&self) -> usize {
        let (inputs, outputs) = self.channels::<S>();
        let bytes = (POINTS + 1) * inputs.max(outputs) * size_of::<f32>() * S::ROWS;
        S::ROWS * (BLOCK_BYTES / bytes).clamp(1, 8)
    }

    /// Numbers of shared scratch for a batch: the points of the filter, and of all tiles where they are needed.
    pub(crate) fn shared_scratch<S: Simd>(&self, batch: usize) -> usize {
        let filter = POINTS * self.filter_plane::<S>();
        let (inputs, outputs) = self.channels::<S>();
        let tiles = self.grids().0.count(batch);
        let all = POINTS * (plane(tiles * inputs) + plane(tiles * outputs));
        filter + if self.order == Order::Planes { all } else { 0 }
    }

    /// Numbers of scratch a lane needs for its block.
    pub(crate) fn lane_scratch<S: Simd>(&self) -> usize {
        let (inputs, outputs) = self.channels::<S>();
        if self.order == Order::Planes {
            0
        } else {
            (POINTS + 1) * plane(self.block::<S>() * inputs.max(outputs))
        }
    }

    /// Pieces the output of a batch is written in.
    pub(crate) fn pieces<S: Simd>(&self, batch: usize) -> usize {
        let room = if self.order == Order::Planes { S::ROWS } else { self.block::<S>() };
        self.grids().0.count(batch).div_ceil(room)
    }

    /// The convolution of a batch; `zeros` has a zero for each input channel.
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        (flow, zeros): (&Flow<'_>, &[f32]),
        finish: impl Finish,
        scratch: &mut Scratch,
    ) {
        let &Flow { images, batch, filter, output } = flow;
        let Scratch { shared, lanes } = scratch;
        self.transform_filter(simd, filter, Shared::new(shared), lanes.len());
        let (images, zeros) = (Shared::reading(images), Shared::reading(zeros));
        match self.order {
            Order::Blocks => self.blocks(simd, (images, batch, zeros), (shared, lanes), (output, finish)),
            Order::Planes => self.planes(simd, (images, batch, zeros), (shared, lanes), (output, finish)),
        }
    }

    fn blocks<S: Simd>(
        &self,
        simd: S,
        (images, batch, zeros): (Shared, usize, Shared),
        (shared, lanes): (&mut Buffer, &mut [Buffer]),
        (output, finish): (Shared, impl Finish),
    ) {
        let (enter, leave) = self.grids();
        let (inputs, outputs) = self.channels::<S>();
        let (total, room) = (enter.count(batch), self.block::<S>());
        let plane = plane(room * inputs.max(outputs));
        let stream = streams::<S>(batch * self.geometry.pixels(), self.geometry.output.channels);
        let (scratch, filter) = (&*lanes, Shared::reading(shared));
        let pieces = self.pieces::<S>(batch);
        parallel(scratch.len(), pieces, |lane, piece| {
            let tiles = part(total, pieces, piece);
            let at = Shared::reading(&scratch[lane]);
            // The products of a point are written where the point before had its tiles, which are used up: one
            // buffer instead of two, and half the cache.
            let products = Points { at, plane, room };
            // The scratch of the lane has room for one plane more than there are points.
            let points = Points { at: at.after(plane), ..products };
            simd.run(
                #[inline(always)]
                // SAFETY: tiles are pieces of the batch that nobody else works on.
                || unsafe {
                    finish.begin(piece);
                    for (index, tile) in tiles.clone().enumerate() {
                        enter.enter(simd, Map::Input, (images.at(0), zeros.at(0), tile), (&points, index));
                    }
                    for point in 0..POINTS {
                        self.multiply(simd, (point, tiles.len()), (points, products), filter);
                    }
                    for (index, tile) in tiles.enumerate() {
                        leave.leave(simd, (&products, index), (output, tile), (finish, stream, piece));
                    }
                    simd.fence();
                },
            );
        });
    }

    fn planes<S: Simd>(
        &self,
        simd: S,
        (images, batch, zeros): (Shared, usize, Shared),
        (shared, lanes): (&mut Buffer, &mut [Buffer]),
        (output, finish): (Shared, impl Finish),
    ) {
        let (enter, leave) = self.grids();
        let (inputs, outputs) = self.channels::<S>();
        let (room, lanes) = (enter.count(batch), lanes.len());
        let filter = Shared::new(shared);
        let points =
            Points { at: filter.after(POINTS * self.filter_plane::<S>()), plane: plane(room * inputs), room };
        let products =
            Points { at: points.at.after(POINTS * points.plane), plane: plane(room * outputs), room };
        let pieces = self.pieces::<S>(batch);
        parallel(lanes, pieces, |_, piece| {
            simd.run(
                #[inline(always)]
                // SAFETY: the tiles belong to this piece.
                || unsafe {
                    for tile in part(room, pieces, piece) {
                        enter.enter(simd, Map::Input, (images.at(0), zeros.at(0), tile), (&points, tile));
                    }
                },
            );
        });
        parallel(lanes, POINTS, |_, point| {
            simd.run(
                #[inline(always)]
                // SAFETY: the point belongs to this piece.
                || unsafe { self.multiply(simd, (point, room), (points, products), filter) },
            );
        });
        parallel(lanes, pieces, |_, piece| {
            simd.run(
                #[inline(always)]
                // SAFETY: the tiles and the sums belong to this piece.
                || unsafe {
                    finish.begin(piece);
                    for tile in part(room, pieces, piece) {
                        leave.leave(simd, (&products, tile), (output, tile), (finish, false, piece));
                    }
                },
            );
        });
    }

    /// The products of one point: tiles by input channels times input by output channels.
    #[inline(always)]
    unsafe fn multiply<S: Simd>(
        &self,
        simd: S,
        (point, count): (usize, usize),
        (points, products): (Points, Points),
        filter: Shared,
    ) {
        let inputs = self.geometry.input.channels;
        for panel in 0..self.channels::<S>().1 / S::PANEL {
            tiles(count, S::ROWS, |tile, rows| {
                // SAFETY: the operands have room for every tile, and the filter for every panel.
                unsafe {
                    let at = points.at.at(point * points.plane + tile * S::PANEL);
                    let left = Rows { at, depth: inputs, run: S::PANEL, jump: points.room * S::PANEL };
                    let right = filter.at(point * self.filter_plane::<S>() + panel * inputs * S::PANEL);
                    let to =
                        products.at.at(point * products.plane + (panel * products.room + tile) * S::PANEL);
                    panel_product(simd, rows, left, right, to);
                }
            });
        }
    }

    /// The points of the filter: `[point][out / PANEL][in][PANEL]`.
    fn transform_filter<S: Simd>(&self, simd: S, filter: &[f32], points: Shared, lanes: usize) {
        let (inputs, outputs) = (self.geometry.input.channels, self.geometry.output.channels);
        let plane = self.filter_plane::<S>();
        let pieces = inputs.div_ceil(S::LANES);
        parallel(lanes, pieces, |_, piece| {
            // Some inputs at a time: turned around, neighbors lie on the same lines of the cache.
            let outputs_and_inputs = (0..self.channels::<S>().1)
                .step_by(S::LANES)
                .flat_map(|output| part(inputs, pieces, piece).map(move |input| (output, input)));
            simd.run(
                #[inline(always)]
                || {
                    for (output, input) in outputs_and_inputs {
                        let count = S::LANES.min(outputs.saturating_sub(output));
                        let mut taps = [[simd.splat(0.0); SIDE]; SIDE];
                        for tap in 0..9 {
                            taps[tap / 3][tap % 3] = self.tap(simd, filter, tap, (input, output, count));
                        }
                        let values = Map::Filter.apply(simd, &taps);
                        let place = (output / S::PANEL * inputs + input) * S::PANEL + output % S::PANEL;
                        for point in 0..POINTS {
                            // SAFETY: a place for this input channel alone, in planes with room for all.
                            unsafe {
                                simd.store(
                                    points.at(point * plane + place),
                                    values[point / SIDE][point % SIDE],
                                );
                            };
                        }
                    }
                },
            );
        });
    }

    /// One tap of the filter for an input channel and the output channels from `output` on.
    #[inline(always)]
    fn tap<S: Simd>(
        &self,
        simd: S,
        filter: &[f32],
        tap: usize,
        (input, output, count): (usize, usize, usize),
    ) -> S::Vector {
        let (inputs, outputs) = (self.geometry.input.channels, self.geometry.output.channels);
        match self.turn {
            Turn::Forward => {
                let from = &filter[(tap * inputs + input) * outputs..][..outputs];
                // SAFETY: `count` outputs are left from `output` on.
                unsafe { load_some(simd, from.as_ptr().wrapping_add(output), count) }
            }
            Turn::Backward => {
                let mut numbers = [0.0; 16];
                for (lane, number) in numbers.iter_mut().enumerate().take(count) {
                    *number = filter[((8 - tap) * outputs + output + lane) * inputs + input];
                }
                // SAFETY: no vector has more than sixteen lanes.
                unsafe { simd.load(numbers.as_ptr()) }
            }
        }
    }
}
