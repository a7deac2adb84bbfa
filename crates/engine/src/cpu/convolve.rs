//! Convolution and linear layers, with their bias and the ReLU after them.

use std::{mem::take, ops::Range};

use super::{
    Algorithm,
    activation::mask,
    buffer::Buffer,
    direct::{self, Flow},
    direct_data::Data,
    direct_filter,
    finish::{Activate, Finish, Observed, Receive, Sums},
    geometry::Geometry,
    operation::{Inflow, Memory, Need, Operation, Pass, Scratch},
    parallel::Shared,
    simd::Simd,
    winograd::{self, Turn},
};
use crate::Mode;

/// How the three passes are computed.
#[derive(Debug)]
enum Kernels {
    Direct { data: Data, filter: direct_filter::Filter },
    Winograd { forward: winograd::Forward, data: winograd::Forward, filter: winograd::Filter, zeros: Buffer },
}

/// A convolution with its place in the plan.
#[derive(Debug)]
pub(super) struct Convolve<S> {
    simd: S,
    geometry: Geometry,
    kernels: Kernels,
    batch: usize,
    links: Links,
}

/// What a convolution reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) weight: Range<usize>,
    pub(super) bias: Option<Range<usize>>,
    /// Whether the output is the positive part.
    pub(super) relu: bool,
    /// The batch norm that reads the output, and where its running mean lies.
    pub(super) observer: Option<(usize, Range<usize>)>,
    /// Whether the gradient of the output arrives with the ReLU's backward pass done.
    pub(super) finished: bool,
    /// Where the gradient of the output lies.
    pub(super) gradient: usize,
    pub(super) inflow: Option<Inflow>,
}

impl<S: Simd> Convolve<S> {
    pub(super) fn new(simd: S, geometry: Geometry, batch: usize, algorithm: Algorithm, links: Links) -> Self {
        let winograd = match algorithm {
            Algorithm::Auto => winograd::pays(&geometry),
            Algorithm::Direct => false,
            Algorithm::Winograd => winograd::possible(&geometry),
        };
        let kernels = if winograd {
            Kernels::Winograd {
                forward: winograd::Forward::new(geometry, Turn::Forward),
                data: winograd::Forward::new(winograd::backward(&geometry), Turn::Backward),
                filter: winograd::Filter::new(geometry),
                zeros: Buffer::zeros(geometry.input.channels.max(geometry.output.channels)),
            }
        } else {
            Kernels::Direct { data: Data::new(geometry), filter: direct_filter::Filter::new(geometry) }
        };
        Self { simd, geometry, kernels, batch, links }
    }

    fn backward_filter(&self, memory: &mut Memory, gradient: &[f32], batch: usize) {
        let Memory { values, slopes, scratch, .. } = memory;
        let input = &values[self.links.input];
        let (weight, bias) = split(slopes, &self.links);
        match &self.kernels {
            Kernels::Direct { filter, .. } => {
                filter.backward(self.simd, (input, gradient, batch), (weight, bias), scratch);
            }
            Kernels::Winograd { filter, zeros, .. } => {
                filter.backward(self.simd, (input, gradient, batch, zeros), (weight, bias), scratch);
            }
        }
    }

    fn backward_data(&self, memory: &mut Memory, gradient: &[f32], inflow: Inflow, batch: usize) {
        let mut output = take(&mut memory.gradients[inflow.slot]);
        let Memory { values, weights, scratch, .. } = memory;
        let existing = if inflow.add { output.as_ptr() } else { std::ptr::null() };
        let activated = inflow.activated.map_or(std::ptr::null(), |value| values[value].as_ptr());
        let finish = Receive { existing, activated };
        let filter = &weights[self.links.weight.clone()];
        let flow = Flow { images: gradient, batch, filter, output: Shared::new(&mut output) };
        match &self.kernels {
            Kernels::Direct { data, .. } => data.backward(self.simd, &flow, finish, scratch),
            Kernels::Winograd { data, zeros, .. } => data.run(self.simd, (&flow, zeros), finish, scratch),
        }
        memory.gradients[inflow.slot] = output;
    }

    fn run_forward(&self, flow: &Flow<'_>, finish: impl Finish, scratch: &mut Scratch) {
        match &self.kernels {
            Kernels::Direct { .. } => direct::forward(self.simd, &self.geometry, flow, finish, scratch),
            Kernels::Winograd { forward, zeros, .. } => {
                forward.run(self.simd, (flow, zeros), finish, scratch);
            }
        }
    }

    /// Pieces the output of a batch is written in.
    fn forward_pieces(&self, batch: usize) -> usize {
        match &self.kernels {
            Kernels::Direct { .. } => direct::pieces::<S>(batch * self.geometry.pixels()),
            Kernels::Winograd { forward, .. } => forward.pieces::<S>(batch),
        }
    }
}

impl<S: Simd> Operation for Convolve<S> {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let mut output = take(&mut memory.values[self.links.output]);
        let Memory { values, weights, scratch, norms, statistics, .. } = memory;
        let bias = self.links.bias.clone().map_or(std::ptr::null(), |range| weights[range].as_ptr());
        let finish = Activate { bias, relu: self.links.relu };
        let flow = Flow {
            images: &values[self.links.input],
            batch: pass.batch,
            filter: &weights[self.links.weight.clone()],
            output: Shared::new(&mut output),
        };
        match &self.links.observer {
            Some((norm, running_mean)) if pass.mode == Mode::Train => {
                let norm = &mut norms[*norm];
                norm.pieces = self.forward_pieces(pass.batch);
                let channels = self.geometry.output.channels;
                let sums = Sums { at: Shared::new(&mut norm.sums), channels };
                let about = Shared::reading(&statistics[running_mean.clone()]);
                self.run_forward(&flow, Observed { finish, about, sums }, scratch);
            }
            _ => self.run_forward(&flow, finish, scratch),
        }
        memory.values[self.links.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let mut gradient = take(&mut memory.gradients[self.links.gradient]);
        if self.links.relu && !self.links.finished {
            let length = pass.batch * self.geometry.output.size();
            let output = &memory.values[self.links.output];
            mask(self.simd, memory.lanes(), &mut gradient[..length], output);
        }
        let used = &gradient[..pass.batch * self.geometry.output.size()];
        self.backward_filter(memory, used, pass.batch);
        if let Some(inflow) = self.links.inflow {
            self.backward_data(memory, used, inflow, pass.batch);
        }
        memory.gradients[self.links.gradient] = gradient;
    }

    fn sums_for(&self) -> Option<(usize, usize)> {
        self.links.observer.as_ref().map(|(norm, _)| (*norm, self.forward_pieces(self.batch)))
    }

    fn need(&self) -> Need {
        let (patch, outputs) = (self.geometry.patch(), self.geometry.output.channels);
        match &self.kernels {
            Kernels::Direct { data, filter } => Need {
                shared: direct::panels::<S>(patch, outputs)
                    .max(data.shared_scratch::<S>())
                    .max(filter.shared_scratch::<S>()),
                lane: direct::lane_scratch::<S>(outputs.max(self.geometry.input.channels))
                    .max(direct_filter::Filter::lane_scratch()),
            },
            Kernels::Winograd { forward, data, filter, .. } => Need {
                shared: forward
                    .shared_scratch::<S>(self.batch)
                    .max(data.shared_scratch::<S>(self.batch))
                    .max(filter.shared_scratch::<S>(self.batch)),
                lane: forward
                    .lane_scratch::<S>()
                    .max(data.lane_scratch::<S>())
                    .max(filter.lane_scratch::<S>()),
            },
        }
    }
}

/// The weight and the bias of a convolution, which lie one after the other.
fn split<'a>(numbers: &'a mut [f32], links: &Links) -> (&'a mut [f32], Option<&'a mut [f32]>) {
    let (weight, rest) = numbers[links.weight.start..].split_at_mut(links.weight.len());
    let bias = links.bias.clone().map(|range| {
        let start = range.start - links.weight.end;
        &mut rest[start..start + range.len()]
    });
    (weight, bias)
}
