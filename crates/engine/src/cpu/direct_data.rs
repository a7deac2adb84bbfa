//! The gradient of a convolution's input, by gathering.
//!
//! With a stride above one, the pixels of the input fall into classes by their remainder: all pixels of a class lie
//! under the same taps of the kernel. Each class is a product of its own; with stride one there is one class.

use std::ops::Range;

use super::{
    direct::{Flow, Work, panels},
    finish::Finish,
    geometry::Geometry,
    kernel::GATHERED_ROW,
    operation::Scratch,
    parallel::{Shared, parallel},
    simd::Simd,
};

/// Pixels of the input that lie under the same taps.
#[derive(Clone, Debug)]
struct Class {
    /// The first pixel, down and across; the others follow at the stride.
    first: (usize, usize),
    /// How many there are, down and across.
    count: (usize, usize),
    /// The taps, down and across.
    taps: Vec<(usize, usize)>,
}

/// How the gradient of the input is computed.
#[derive(Clone, Debug)]
pub(super) struct Data {
    geometry: Geometry,
    classes: Vec<Class>,
}

impl Data {
    pub(super) fn new(geometry: Geometry) -> Self {
        let Geometry { input, kernel, stride, padding, .. } = geometry;
        let reach = |length: usize, first: usize| {
            (0..length).filter(move |tap| (first + padding + stride * length - tap).is_multiple_of(stride))
        };
        let class = |first: (usize, usize)| Class {
            first,
            count: ((input.height - first.0).div_ceil(stride), (input.width - first.1).div_ceil(stride)),
            taps: reach(kernel.0, first.0)
                .flat_map(|y| reach(kernel.1, first.1).map(move |x| (y, x)))
                .collect(),
        };
        let firsts =
            (0..stride.min(input.height)).flat_map(|y| (0..stride.min(input.width)).map(move |x| (y, x)));
        Self { geometry, classes: firsts.map(class).collect() }
    }

    /// Numbers of shared scratch the rearranged filter takes.
    pub(super) fn shared_scratch<S: Simd>(&self) -> usize {
        let taps = self.classes.iter().map(|class| class.taps.len()).max().unwrap_or(0);
        panels::<S>(taps * self.geometry.output.channels, self.geometry.input.channels)
    }

    /// The gradient of the images from the gradient of the output.
    pub(super) fn backward<S: Simd>(
        &self,
        simd: S,
        flow: &Flow<'_>,
        finish: impl Finish,
        scratch: &mut Scratch,
    ) {
        let &Flow { images: gradient, batch, filter, output } = flow;
        let Scratch { shared, lanes } = scratch;
        let Geometry { input, stride, .. } = self.geometry;
        for class in &self.classes {
            self.pack(simd, class, filter, (shared, lanes.len()));
            let pixels = class.count.0 * class.count.1;
            let pixel = |row: usize| {
                let (down, across) = (row % pixels / class.count.1, row % class.count.1);
                (class.first.0 + down * stride, class.first.1 + across * stride)
            };
            let work = Work {
                rows: batch * pixels,
                depth: class.taps.len() * self.geometry.output.channels,
                columns: input.channels,
                panels: shared,
                gather: |rows: Range<usize>, terms: Range<usize>, to: Shared| {
                    for (index, row) in rows.enumerate() {
                        let start = index * GATHERED_ROW;
                        // SAFETY: the scratch has room for a block of rows.
                        let to = unsafe { to.slice(start..start + terms.len()) };
                        let gradient = &gradient[row / pixels * self.geometry.output.size()..];
                        self.gather(class, gradient, pixel(row), (terms.clone(), to));
                    }
                },
                place: |row| {
                    let (y, x) = pixel(row);
                    ((row / pixels * input.height + y) * input.width + x) * input.channels
                },
            };
            work.run(simd, output, finish, lanes);
        }
    }

    /// The gradients of the output pixels that saw this pixel of the input, tap after tap.
    fn gather(
        &self,
        class: &Class,
        gradient: &[f32],
        (y, x): (usize, usize),
        (terms, row): (Range<usize>, &mut [f32]),
    ) {
        let Geometry { output, stride, padding, .. } = self.geometry;
        let mut term = terms.start;
        while term < terms.end {
            let (tap, within) = (term / output.channels, term % output.channels);
            let end = (term - within + output.channels).min(terms.end);
            let part = &mut row[term - terms.start..end - terms.start];
            let (tap_y, tap_x) = class.taps[tap];
            // A difference below zero wraps around, and is then beyond the last pixel as well.
            let out_y = (y + padding).wrapping_sub(tap_y) / stride;
            let out_x = (x + padding).wrapping_sub(tap_x) / stride;
            if out_y < output.height && out_x < output.width {
                let from = (out_y * output.width + out_x) * output.channels + within;
                part.copy_from_slice(&gradient[from..from + part.len()]);
            } else {
                part.fill(0.0);
            }
            term = end;
        }
    }

    /// The taps of a class as panels: `[in / PANEL][tap, out][PANEL]`.
    fn pack<S: Simd>(&self, simd: S, class: &Class, filter: &[f32], (packed, lanes): (&mut [f32], usize)) {
        let (inputs, outputs) = (self.geometry.input.channels, self.geometry.output.channels);
        let depth = class.taps.len() * outputs;
        let packed = Shared::new(packed);
        parallel(lanes, inputs.div_ceil(S::PANEL), |_, panel| {
            // SAFETY: panels do not overlap, and there is room for all of them.
            let to = unsafe { packed.slice(panel * depth * S::PANEL..(panel + 1) * depth * S::PANEL) };
            let first = panel * S::PANEL;
            let count = S::PANEL.min(inputs - first);
            for (&(y, x), to) in class.taps.iter().zip(to.chunks_exact_mut(outputs * S::PANEL)) {
                let tap = &filter[(y * self.geometry.kernel.1 + x) * inputs * outputs..];
                simd.run(
                    #[inline(always)]
                    || turn(&tap[first * outputs..], outputs, (to, S::PANEL), count),
                );
            }
        });
    }
}

/// Turns `count` rows of `length` numbers into columns of `to`, whose rows are `panel` long; other columns become zero.
#[inline(always)]
fn turn(from: &[f32], length: usize, (to, panel): (&mut [f32], usize), count: usize) {
    /// Numbers along one side of what is turned in registers.
    const SIDE: usize = 8;
    to.fill(0.0);
    for (row, column) in
        (0..count).step_by(SIDE).flat_map(|row| (0..length).step_by(SIDE).map(move |c| (row, c)))
    {
        if row + SIDE > count || column + SIDE > length {
            for (row, column) in (row..count.min(row + SIDE))
                .flat_map(|row| (column..length.min(column + SIDE)).map(move |c| (row, c)))
            {
                to[column * panel + row] = from[row * length + column];
            }
            continue;
        }
        let mut square = [[0.0; SIDE]; SIDE];
        for (index, line) in square.iter_mut().enumerate() {
            line.copy_from_slice(&from[(row + index) * length + column..][..SIDE]);
        }
        for index in 0..SIDE {
            let turned = square.map(|line| line[index]);
            to[(column + index) * panel + row..][..SIDE].copy_from_slice(&turned);
        }
    }
}
