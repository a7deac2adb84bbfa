//! Tiles on their way between images and points.
//!
//! Everything transformed lies as `[point][channel / PANEL][tile][PANEL]`. For one point that is the left operand of
//! the register tiles, rows a panel apart, or the right one, a panel for each term: nothing is ever repacked.

use super::transform::{Map, OUT, POINTS, SIDE, Tile};
use crate::{
    architecture::Shape,
    cpu::{
        finish::{Finish, load_some, store_some},
        parallel::Shared,
        simd::Simd,
    },
};

/// The tiles of a batch of images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) image: Shape,
    /// Tiles down and across an image.
    pub(super) tiles: (usize, usize),
    /// How far the first tile begins outside the image.
    pub(super) padding: usize,
}

/// A block of transformed tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    pub(super) at: Shared,
    /// Numbers from one point to the next.
    pub(super) plane: usize,
    /// Tiles the block has room for.
    pub(super) room: usize,
}

/// Room for the numbers of one point: never a multiple of the page, or the points of a tile would all fall on the
/// same sets of the cache.
pub(super) fn plane(numbers: usize) -> usize {
    numbers.next_multiple_of(1024) + 48
}

impl Points {
    /// Where vector `vector` of tile `tile` begins, at the first point.
    #[inline(always)]
    fn place<S: Simd>(&self, vector: usize, tile: usize) -> usize {
        (vector / 2 * self.room + tile) * S::PANEL + vector % 2 * S::LANES
    }
}

impl Grid {
    /// Tiles of a batch.
    pub(super) fn count(&self, batch: usize) -> usize {
        batch * self.tiles.0 * self.tiles.1
    }

    /// The image of a tile, and where in it the tile would begin, counted from the padding.
    #[inline(always)]
    fn locate(&self, tile: usize) -> (usize, usize, usize) {
        let per_image = self.tiles.0 * self.tiles.1;
        (tile / per_image, tile % per_image / self.tiles.1 * OUT, tile % self.tiles.1 * OUT)
    }

    /// Transforms tile `tile` of the images into place `index` of the points, by [`Map::Input`] or [`Map::Gradient`].
    ///
    /// # Safety
    /// The tile must be one of the batch, the place one of the block; `zeros` must have a zero for each channel.
    #[inline(always)]
    pub(super) unsafe fn enter<S: Simd>(
        &self,
        simd: S,
        map: Map,
        (images, zeros, tile): (*const f32, *const f32, usize),
        (points, index): (&Points, usize),
    ) {
        let Shape { height, width, channels } = self.image;
        let (image, y, x) = self.locate(tile);
        let side = map.takes();
        // SAFETY: the image is one of the batch.
        let image = unsafe { images.add(image * height * width * channels) };
        let inside = |at: usize, length: usize| at >= self.padding && at + side <= length + self.padding;
        if inside(y, height) && inside(x, width) {
            // SAFETY: the whole tile lies in the image.
            unsafe {
                let corner = image.add(((y - self.padding) * width + x - self.padding) * channels);
                let pixel = |row, column| corner.add((row * width + column) * channels);
                self.transform(simd, map, pixel, (points, index));
            }
            return;
        }
        let mut pixels = [[zeros; SIDE]; SIDE];
        for (row, pixels) in pixels.iter_mut().enumerate().take(side) {
            for (column, pixel) in pixels.iter_mut().enumerate().take(side) {
                let (y, x) = ((y + row).wrapping_sub(self.padding), (x + column).wrapping_sub(self.padding));
                if y < height && x < width {
                    // SAFETY: the pixel lies in the image.
                    *pixel = unsafe { image.add((y * width + x) * channels) };
                }
            }
        }
        // SAFETY: every pixel is one of the image or the zeros.
        unsafe { self.transform(simd, map, |row, column| pixels[row][column], (points, index)) };
    }

    #[inline(always)]
    unsafe fn transform<S: Simd>(
        &self,
        simd: S,
        map: Map,
        pixel: impl Fn(usize, usize) -> *const f32,
        (points, index): (&Points, usize),
    ) {
        let channels = self.image.channels;
        for vector in 0..channels.div_ceil(S::LANES) {
            let first = vector * S::LANES;
            let count = S::LANES.min(channels - first);
            let mut tile = [[simd.splat(0.0); SIDE]; SIDE];
            for (row, line) in tile.iter_mut().enumerate().take(map.takes()) {
                for (column, value) in line.iter_mut().enumerate().take(map.takes()) {
                    // SAFETY: the caller's pixels have all channels.
                    *value = unsafe { load_some(simd, pixel(row, column).add(first), count) };
                    if column + OUT >= map.takes() {
                        // What the next tile adds: too many rows for the processor to see by itself.
                        simd.prefetch(pixel(row, column).wrapping_add(OUT * channels + first));
                    }
                }
            }
            let tile = map.apply(simd, &tile);
            // SAFETY: the place is one of the block, which has room for all points and channels.
            unsafe {
                let to = points.at.at(points.place::<S>(vector, index));
                // The lines of the next vector, so that they are there when it is ready to be written.
                let next = points.at.at(0).wrapping_add(points.place::<S>(vector + 1, index));
                for point in 0..POINTS {
                    simd.store(to.add(point * points.plane), tile[point / SIDE][point % SIDE]);
                    simd.prefetch_write(next.wrapping_add(point * points.plane));
                }
            }
        }
    }

    /// Interpolates place `index` of the points and writes tile `tile` of the images, cut off at their edge.
    ///
    /// # Safety
    /// As for [`Self::enter`]; no other thread may write this tile. With `stream`, images must be aligned, their
    /// channels full vectors, and a fence must follow. `piece` is where its sums go.
    #[inline(always)]
    pub(super) unsafe fn leave<S: Simd>(
        &self,
        simd: S,
        (points, index): (&Points, usize),
        (images, tile): (Shared, usize),
        (finish, stream, piece): (impl Finish, bool, usize),
    ) {
        let Shape { height, width, channels } = self.image;
        let (image, y, x) = self.locate(tile);
        let (rows, columns) = (OUT.min(height - y), OUT.min(width - x));
        let corner = ((image * height + y) * width + x) * channels;
        for vector in 0..channels.div_ceil(S::LANES) {
            let first = vector * S::LANES;
            let count = S::LANES.min(channels - first);
            // SAFETY: the place is one of the block.
            let values =
                unsafe { load_points(simd, points.at.at(points.place::<S>(vector, index)), points.plane) };
            let values = Map::Output.apply(simd, &values);
            let mut sums = [simd.splat(0.0); 2];
            for (row, line) in values.iter().enumerate().take(rows) {
                for (column, &value) in line.iter().enumerate().take(columns) {
                    let offset = corner + (row * width + column) * channels + first;
                    // SAFETY: the pixel lies in the image, and belongs to this tile alone.
                    unsafe {
                        let value = finish.finish(simd, value, (offset, first), count);
                        sums = finish.add(simd, sums, (value, first), count);
                        // What the next tile will read.
                        finish.prefetch(simd, offset + OUT * channels);
                        if stream {
                            simd.stream(images.at(offset), value);
                        } else {
                            store_some(simd, images.at(offset), count, value);
                        }
                    }
                }
            }
            if let Some(kept) = finish.sums() {
                // SAFETY: the piece belongs to the caller.
                unsafe { kept.keep(simd, (piece, first), count, sums) };
            }
        }
    }
}

/// The points of a tile, which lie `plane` apart.
///
/// # Safety
/// A vector must be readable at each point.
#[inline(always)]
pub(super) unsafe fn load_points<S: Simd>(simd: S, from: *const f32, plane: usize) -> Tile<S> {
    let mut tile = [[simd.splat(0.0); SIDE]; SIDE];
    for (row, line) in tile.iter_mut().enumerate() {
        for (column, value) in line.iter_mut().enumerate() {
            // SAFETY: what the caller promises.
            *value = unsafe { simd.load(from.add((row * SIDE + column) * plane)) };
        }
    }
    tile
}
