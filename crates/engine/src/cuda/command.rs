//! What a plan is made of: things for the GPU to do, as data. Nothing here needs a GPU.

use std::fmt;

use super::{
    kernel::{Grid, Kernel},
    layout::Place,
};

/// One thing for the GPU to do.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// Run a kernel of ours.
    Launch(Launch),
    /// A pass of a convolution, by cuDNN.
    Convolve(Convolve),
    /// A product of matrices, by cuBLAS.
    Multiply(Multiply),
    /// Sums over all workers.
    Exchange(Exchange),
}

/// Numbers in double precision that are replaced by their sums over all workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    pub(super) at: Place,
    pub(super) count: usize,
}

/// A kernel and what it is given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Launch {
    pub(super) kernel: Kernel,
    pub(super) grid: Grid,
    pub(super) arguments: Vec<Argument>,
}

/// What a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument {
    /// A place in the network's memory.
    At(Place),
    /// An address outside of it.
    Address(u64),
    /// No address.
    Nothing,
    /// A count, or a choice.
    Count(u32),
    /// A number.
    Number(f32),
    /// Four words: of a random stream.
    Words([u32; 4]),
    /// The window of a pool.
    Window([u32; 9]),
    /// What Adam multiplies by and adds.
    Terms([f32; 7]),
}

impl From<Place> for Argument {
    fn from(place: Place) -> Self {
        Self::At(place)
    }
}

impl From<Option<Place>> for Argument {
    fn from(place: Option<Place>) -> Self {
        place.map_or(Self::Nothing, Self::At)
    }
}

impl From<usize> for Argument {
    fn from(count: usize) -> Self {
        Self::Count(count as u32)
    }
}

impl From<u32> for Argument {
    fn from(count: u32) -> Self {
        Self::Count(count)
    }
}

impl From<bool> for Argument {
    fn from(choice: bool) -> Self {
        Self::Count(u32::from(choice))
    }
}

impl From<f32> for Argument {
    fn from(number: f32) -> Self {
        Self::Number(number)
    }
}

/// The shape of a convolution, channels padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Geometry {
    pub(super) batch: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) padding: usize,
}

impl Geometry {
    /// Height and width of the output.
    pub(super) fn output(self) -> (usize, usize) {
        let side = |length: usize| (length + 2 * self.padding - self.kernel) / self.stride + 1;
        (side(self.height), side(self.width))
    }
}

/// Which pass of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Direction {
    /// The output from input and filter.
    Forward,
    /// The output with bias, and its positive part if asked.
    Biased { relu: bool },
    /// The gradient of the input, added to what is there if asked.
    Data { add: bool },
    /// The gradient of the filter.
    Filter,
}

/// A pass of a convolution: of the three tensors two are read and one is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Convolve {
    pub(super) geometry: Geometry,
    pub(super) direction: Direction,
    /// The input, or its gradient.
    pub(super) input: Place,
    /// The filter, or its gradient.
    pub(super) filter: Place,
    /// The output, or its gradient.
    pub(super) output: Place,
    pub(super) bias: Option<Place>,
}

impl fmt::Display for Convolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Geometry { batch, height, width, inputs, outputs, kernel, stride, padding } = self.geometry;
        let direction = match self.direction {
            Direction::Forward => "forward",
            Direction::Biased { relu: false } => "forward-bias",
            Direction::Biased { relu: true } => "forward-bias-relu",
            Direction::Data { add: false } => "data",
            Direction::Data { add: true } => "data-add",
            Direction::Filter => "filter",
        };
        write!(f, "{direction} {batch}x{height}x{width}x{inputs} to {outputs}")?;
        write!(f, ", kernel {kernel}, stride {stride}, padding {padding}")
    }
}

/// `c = a b`, or `c += a b`, in the column-major terms of cuBLAS: a is m by k, b is k by n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Multiply {
    pub(super) size: [usize; 3],
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) c: Place,
    /// Whether `c` is in single precision whatever the others are.
    pub(super) single: bool,
    pub(super) add: bool,
}

/// A factor, `columns` apart from one column to the next, turned if asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Operand {
    pub(super) at: Place,
    pub(super) leading: usize,
    pub(super) transposed: bool,
}

/// Commands in the order they are given.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands {
    pub(super) list: Vec<Command>,
    /// Whether batch norms see the batch of all workers.
    pub(super) whole_norms: bool,
}

impl Commands {
    /// Adds a kernel.
    pub(super) fn launch(&mut self, kernel: Kernel, grid: Grid, arguments: &[Argument]) {
        self.list.push(Command::Launch(Launch { kernel, grid, arguments: arguments.to_vec() }));
    }

    /// Adds a pass of a convolution.
    pub(super) fn convolve(&mut self, convolve: Convolve) {
        self.list.push(Command::Convolve(convolve));
    }

    /// Adds a sum over all workers.
    pub(super) fn exchange(&mut self, at: Place, count: usize) {
        self.list.push(Command::Exchange(Exchange { at, count }));
    }

    /// Adds a product.
    pub(super) fn multiply(&mut self, multiply: Multiply) {
        self.list.push(Command::Multiply(multiply));
    }
}

/// The arguments of a kernel, each turned into an [`Argument`].
macro_rules! arguments {
    ($($value:expr),* $(,)?) => { &[$($crate::cuda::command::Argument::from($value)),*] };
}
pub(super) use arguments;
