//! Dropout: in training, zeroes numbers at random and scales up the others.

use std::mem::take;

use cleanest_core::random::Stream;

use super::{
    buffer::Buffer,
    operation::{Inflow, Memory, Operation, Pass, blocks},
};
use crate::Mode;

/// A dropout layer with its place in the plan.
#[derive(Debug)]
pub(super) struct Dropout {
    pub(super) rate: f64,
    pub(super) seed: u64,
    /// The name of its random stream.
    pub(super) stream: String,
    pub(super) input: usize,
    pub(super) output: usize,
    /// Numbers of an example.
    pub(super) size: usize,
    pub(super) gradient: usize,
    pub(super) inflow: Option<Inflow>,
    /// What each number was multiplied by.
    pub(super) factors: Buffer,
}

impl Dropout {
    /// Draws anew what stays; a step draws the same whenever it is repeated.
    fn draw(&mut self, length: usize, pass: Pass) {
        let mut stream = Stream::new(self.seed, &self.stream, pass.step);
        if pass.first > 0 {
            stream = stream.after((pass.first * self.size) as u64);
        }
        let below = (self.rate * 2_f64.powi(32)) as u32;
        let kept = (1.0 / (1.0 - self.rate)) as f32;
        for factor in &mut self.factors[..length] {
            *factor = if stream.word() < below { 0.0 } else { kept };
        }
    }
}

impl Operation for Dropout {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let length = pass.batch * self.size;
        if pass.mode == Mode::Train {
            self.draw(length, pass);
        }
        let mut output = take(&mut memory.values[self.output]);
        let input = &memory.values[self.input];
        blocks(memory.lanes(), &mut output[..length], |start, output| match pass.mode {
            Mode::Evaluate => output.copy_from_slice(&input[start..start + output.len()]),
            Mode::Train => {
                for ((to, &number), &factor) in
                    output.iter_mut().zip(&input[start..]).zip(&self.factors[start..])
                {
                    *to = number * factor;
                }
            }
        });
        memory.values[self.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let Some(inflow) = self.inflow else { return };
        let length = pass.batch * self.size;
        blocks(memory.lanes(), &mut memory.gradients[self.gradient][..length], |start, gradient| {
            gradient.iter_mut().zip(&self.factors[start..]).for_each(|(slope, factor)| *slope *= factor);
        });
        memory.deliver(self.gradient, inflow, length);
    }
}
