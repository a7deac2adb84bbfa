//! The optimizer's step over all parameters at once.

use super::{
    buffer::Buffer,
    operation::{BLOCK, Memory},
    parallel::{Shared, parallel},
    simd::Simd,
};
use crate::optimizer::{Adam, Optimizer, Sgd};

/// What an optimizer remembers of all trained parameters.
#[derive(Debug)]
pub(super) struct Update {
    pub(super) optimizer: Optimizer,
    /// A buffer for each of [`Optimizer::memories`].
    pub(super) memories: Vec<Buffer>,
    /// Steps made so far.
    pub(super) steps: u64,
    /// Parameters that are trained; they come first among the weights.
    trained: usize,
}

impl Update {
    pub(super) fn new(optimizer: Optimizer, trained: usize) -> Self {
        let memories = optimizer.memories().iter().map(|_| Buffer::zeros(trained)).collect();
        Self { optimizer, memories, steps: 0, trained }
    }

    /// Moves the weights against their gradients.
    pub(super) fn step<S: Simd>(&mut self, simd: S, memory: &mut Memory, rate: f64) {
        self.steps += 1;
        let (lanes, trained, optimizer, steps) = (memory.lanes(), self.trained, self.optimizer, self.steps);
        let (weights, slopes) = (Shared::new(&mut memory.weights), &memory.slopes);
        let mut memories = [None; 2];
        for (shared, buffer) in memories.iter_mut().zip(&mut self.memories) {
            *shared = Some(Shared::new(buffer));
        }
        parallel(lanes, trained.div_ceil(BLOCK), |_, block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(trained);
            // SAFETY: blocks do not overlap.
            let numbers = |shared: Shared| unsafe { shared.slice(range.clone()) };
            let (weights, slopes) = (numbers(weights), &slopes[range.clone()]);
            simd.run(
                #[inline(always)]
                || match (optimizer, memories) {
                    (Optimizer::Adam(settings), [Some(mean), Some(square)]) => {
                        adam(&settings, (rate, steps), (weights, slopes), (numbers(mean), numbers(square)));
                    }
                    (Optimizer::Sgd(settings), [Some(momentum), _]) => {
                        sgd(&settings, rate, (weights, slopes), numbers(momentum));
                    }
                    _ => unreachable!("an optimizer has its memories"),
                },
            );
        });
    }
}

#[inline(always)]
fn adam(
    settings: &Adam,
    (rate, steps): (f64, u64),
    (weights, slopes): (&mut [f32], &[f32]),
    (means, squares): (&mut [f32], &mut [f32]),
) {
    let Adam { beta1, beta2, epsilon, weight_decay } = *settings;
    let count = i32::try_from(steps).unwrap_or(i32::MAX);
    let size = (rate / (1.0 - beta1.powi(count))) as f32;
    let root = (1.0 / (1.0 - beta2.powi(count)).sqrt()) as f32;
    let (new1, new2) = ((1.0 - beta1) as f32, (1.0 - beta2) as f32);
    let (beta2, epsilon, decay) = (beta2 as f32, epsilon as f32, weight_decay as f32);
    let (slopes, means, squares) =
        (&slopes[..weights.len()], &mut means[..weights.len()], &mut squares[..weights.len()]);
    for (index, weight) in weights.iter_mut().enumerate() {
        let slope = slopes[index] + decay * *weight;
        means[index] += new1 * (slope - means[index]);
        squares[index] = beta2 * squares[index] + new2 * slope * slope;
        *weight -= size * means[index] / (squares[index].sqrt() * root + epsilon);
    }
}

#[inline(always)]
fn sgd(settings: &Sgd, rate: f64, (weights, slopes): (&mut [f32], &[f32]), momenta: &mut [f32]) {
    let (momentum, decay, rate) = (settings.momentum as f32, settings.weight_decay as f32, rate as f32);
    let (slopes, momenta) = (&slopes[..weights.len()], &mut momenta[..weights.len()]);
    for (index, weight) in weights.iter_mut().enumerate() {
        let slope = slopes[index] + decay * *weight;
        momenta[index] = momentum * momenta[index] + slope;
        *weight -= rate * momenta[index];
    }
}
