//! ReLU and sums that could not be fused into the layer before them.

use std::mem::take;

use super::{
    operation::{Inflow, Memory, Operation, Pass, blocks},
    simd::Simd,
};

/// Zeroes the gradient where a ReLU put out zero.
pub(super) fn mask<S: Simd>(simd: S, lanes: usize, gradient: &mut [f32], activated: &[f32]) {
    blocks(lanes, gradient, |start, gradient| {
        simd.run(
            #[inline(always)]
            || {
                for (slope, &output) in gradient.iter_mut().zip(&activated[start..]) {
                    *slope = if output > 0.0 { *slope } else { 0.0 };
                }
            },
        );
    });
}

/// The sum of one or two values, and the positive part of it where asked.
#[derive(Debug)]
pub(super) struct Sum<S> {
    pub(super) simd: S,
    pub(super) inputs: (usize, Option<usize>),
    pub(super) output: usize,
    pub(super) relu: bool,
    /// Whether the gradient of the output arrives with the ReLU's backward pass done.
    pub(super) finished: bool,
    /// Numbers of an example.
    pub(super) size: usize,
    pub(super) gradient: usize,
    /// One for each input that has a gradient; the one that shares the output's slot comes last.
    pub(super) inflows: Vec<Inflow>,
}

impl<S: Simd> Operation for Sum<S> {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let mut output = take(&mut memory.values[self.output]);
        let first = &memory.values[self.inputs.0];
        let second = self.inputs.1.map(|value| &memory.values[value]);
        let least = if self.relu { 0.0 } else { f32::NEG_INFINITY };
        blocks(memory.lanes(), &mut output[..pass.batch * self.size], |start, output| {
            self.simd.run(
                #[inline(always)]
                || match second {
                    Some(second) => {
                        for ((to, &a), &b) in output.iter_mut().zip(&first[start..]).zip(&second[start..]) {
                            *to = (a + b).max(least);
                        }
                    }
                    None => output.iter_mut().zip(&first[start..]).for_each(|(to, &a)| *to = a.max(least)),
                },
            );
        });
        memory.values[self.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let length = pass.batch * self.size;
        if self.relu && !self.finished {
            let mut gradient = take(&mut memory.gradients[self.gradient]);
            mask(self.simd, memory.lanes(), &mut gradient[..length], &memory.values[self.output]);
            memory.gradients[self.gradient] = gradient;
        }
        for &inflow in &self.inflows {
            memory.deliver(self.gradient, inflow, length);
        }
    }
}
