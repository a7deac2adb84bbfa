//! The five maps of F(4x4, 3x3), one line of numbers at a time.
//!
//! Four outputs of a convolution with three taps need six products instead of twelve: evaluate the input and the
//! filter at the points 0, 1, -1, 2, -2 and infinity, multiply there, and interpolate. In two dimensions every map is
//! applied to the columns and then to the rows of a tile.
//!
//! Lavin and Gray, "Fast algorithms for convolutional neural networks", CVPR 2016.

use crate::cpu::simd::Simd;

/// Outputs along one side of a tile.
pub(super) const OUT: usize = 4;
/// Points along one side of a tile, which is also its inputs.
pub(super) const SIDE: usize = 6;
/// Points of a tile.
pub(super) const POINTS: usize = SIDE * SIDE;

/// Six vectors along a line; a map that needs or gives fewer leaves the rest at zero.
pub(super) type Line<S> = [<S as Simd>::Vector; SIDE];
/// A tile of vectors.
pub(super) type Tile<S> = [Line<S>; SIDE];

/// Which map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    /// Six inputs to six points.
    Input,
    /// Six points to four outputs.
    Output,
    /// Four gradients of outputs to six points: the transpose of `Output`.
    Gradient,
    /// Three taps to six points.
    Filter,
    /// Six points to the gradients of three taps: the transpose of `Filter`.
    FilterGradient,
}

impl Map {
    /// How many vectors of a line go in.
    #[inline(always)]
    pub(super) const fn takes(self) -> usize {
        match self {
            Self::Input | Self::Output | Self::FilterGradient => SIDE,
            Self::Gradient => OUT,
            Self::Filter => 3,
        }
    }

    /// How many come out.
    #[inline(always)]
    pub(super) const fn gives(self) -> usize {
        match self {
            Self::Input | Self::Gradient | Self::Filter => SIDE,
            Self::Output => OUT,
            Self::FilterGradient => 3,
        }
    }

    /// The map on every column, then on every row.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(self, simd: S, tile: &Tile<S>) -> Tile<S> {
        let zero = simd.splat(0.0);
        let mut half = [[zero; SIDE]; SIDE];
        for column in 0..self.takes() {
            let mut line = [zero; SIDE];
            for row in 0..self.takes() {
                line[row] = tile[row][column];
            }
            let line = self.line(simd, line);
            for row in 0..self.gives() {
                half[row][column] = line[row];
            }
        }
        let mut whole = [[zero; SIDE]; SIDE];
        for row in 0..self.gives() {
            whole[row] = self.line(simd, half[row]);
        }
        whole
    }

    #[inline(always)]
    fn line<S: Simd>(self, simd: S, line: Line<S>) -> Line<S> {
        match self {
            Self::Input => input(simd, line),
            Self::Output => output(simd, line),
            Self::Gradient => gradient(simd, line),
            Self::Filter => filter(simd, line),
            Self::FilterGradient => filter_gradient(simd, line),
        }
    }
}

#[inline(always)]
fn input<S: Simd>(simd: S, d: Line<S>) -> Line<S> {
    let times = |factor, a, b| simd.mul_add(simd.splat(factor), a, b);
    let (even, odd) = (times(-4.0, d[2], d[4]), times(-4.0, d[1], d[3]));
    let (even2, odd2) = (simd.sub(d[4], d[2]), simd.sub(d[3], d[1]));
    [
        times(4.0, d[0], times(-5.0, d[2], d[4])),
        simd.add(even, odd),
        simd.sub(even, odd),
        times(2.0, odd2, even2),
        times(-2.0, odd2, even2),
        times(4.0, d[1], times(-5.0, d[3], d[5])),
    ]
}

#[inline(always)]
fn output<S: Simd>(simd: S, m: Line<S>) -> Line<S> {
    let times = |factor, a, b| simd.mul_add(simd.splat(factor), a, b);
    let (even, odd) = (simd.add(m[1], m[2]), simd.sub(m[1], m[2]));
    let (even2, odd2) = (simd.add(m[3], m[4]), simd.sub(m[3], m[4]));
    let zero = simd.splat(0.0);
    [
        simd.add(m[0], simd.add(even, even2)),
        times(2.0, odd2, odd),
        times(4.0, even2, even),
        simd.add(times(8.0, odd2, odd), m[5]),
        zero,
        zero,
    ]
}

#[inline(always)]
fn gradient<S: Simd>(simd: S, y: Line<S>) -> Line<S> {
    let times = |factor, a, b| simd.mul_add(simd.splat(factor), a, b);
    let (even, odd) = (simd.add(y[0], y[2]), simd.add(y[1], y[3]));
    let (even2, odd2) = (times(4.0, y[2], y[0]), simd.mul(simd.splat(2.0), times(4.0, y[3], y[1])));
    [y[0], simd.add(even, odd), simd.sub(even, odd), simd.add(even2, odd2), simd.sub(even2, odd2), y[3]]
}

#[inline(always)]
fn filter<S: Simd>(simd: S, g: Line<S>) -> Line<S> {
    let scale = |factor, a| simd.mul(simd.splat(factor), a);
    let times = |factor, a, b| simd.mul_add(simd.splat(factor), a, b);
    let ends = simd.add(g[0], g[2]);
    let even2 = times(1.0 / 24.0, g[0], scale(1.0 / 6.0, g[2]));
    [
        scale(0.25, g[0]),
        scale(-1.0 / 6.0, simd.add(ends, g[1])),
        scale(-1.0 / 6.0, simd.sub(ends, g[1])),
        times(1.0 / 12.0, g[1], even2),
        times(-1.0 / 12.0, g[1], even2),
        g[2],
    ]
}

#[inline(always)]
fn filter_gradient<S: Simd>(simd: S, m: Line<S>) -> Line<S> {
    let scale = |factor, a| simd.mul(simd.splat(factor), a);
    let times = |factor, a, b| simd.mul_add(simd.splat(factor), a, b);
    let (even, odd) = (simd.add(m[1], m[2]), simd.sub(m[2], m[1]));
    let (even2, odd2) = (simd.add(m[3], m[4]), simd.sub(m[3], m[4]));
    let zero = simd.splat(0.0);
    [
        times(0.25, m[0], times(-1.0 / 6.0, even, scale(1.0 / 24.0, even2))),
        times(1.0 / 6.0, odd, scale(1.0 / 12.0, odd2)),
        times(1.0 / 6.0, simd.sub(even2, even), m[5]),
        zero,
        zero,
        zero,
    ]
}
