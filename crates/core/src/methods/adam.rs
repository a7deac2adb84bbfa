//! The optimizer of the noise itself, where a method learns it by gradient.

use super::State;
use crate::Error;

/// Adam with its usual constants (0.9, 0.999, 1e-8) and no weight decay.
///
/// Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    steps: u64,
}

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

impl Adam {
    /// For so many parameters.
    pub(super) fn new(parameters: usize) -> Self {
        Self { first: vec![0.0; parameters], second: vec![0.0; parameters], steps: 0 }
    }

    /// How many steps were made.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// One step against the gradient.
    pub(super) fn step(&mut self, parameters: &mut [f64], gradient: &[f64], rate: f64) {
        self.steps += 1;
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (bias_1, bias_2) = (1.0 - BETA_1.powi(power), 1.0 - BETA_2.powi(power));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((parameter, slope), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *first = BETA_1 * *first + (1.0 - BETA_1) * slope;
            *second = BETA_2 * *second + (1.0 - BETA_2) * slope * slope;
            *parameter -= rate * (*first / bias_1) / ((*second / bias_2).sqrt() + EPSILON);
        }
    }

    /// Adds its moments to a state.
    pub(super) fn save(&self, state: State) -> State {
        state
            .with("adam.first", &self.first)
            .with("adam.second", &self.second)
            .with("adam.steps", &[self.steps as f64])
    }

    /// Takes its moments from a state.
    pub(super) fn load(&mut self, state: &State) -> Result<(), Error> {
        self.first = state.numbers("adam.first", self.first.len())?.to_vec();
        self.second = state.numbers("adam.second", self.second.len())?.to_vec();
        self.steps = state.numbers("adam.steps", 1)?[0] as u64;
        Ok(())
    }
}

/// A learning rate that rises linearly from zero to its peak and falls linearly back to zero at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    peak: f64,
    rise: u64,
    steps: u64,
}

impl Ramp {
    /// Rises over `rise` steps, but never over more than a fifth of all.
    pub(super) fn new(peak: f64, rise: u64, steps: u64) -> Self {
        Self { peak, rise: rise.min(steps / 5), steps }
    }

    /// The rate of a step; exactly zero at the first one.
    pub(super) fn rate(&self, step: u64) -> f64 {
        if step < self.rise {
            self.peak * step as f64 / self.rise as f64
        } else {
            let left = self.steps.saturating_sub(step) as f64;
            self.peak * left / (self.steps - self.rise).max(1) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_of_adam_is_the_rate_against_the_sign() {
        let mut parameters = [1.0, 1.0];
        Adam::new(2).step(&mut parameters, &[0.3, -7.0], 0.01);
        assert!((parameters[0] - 0.99).abs() < 1e-9 && (parameters[1] - 1.01).abs() < 1e-9);
    }

    /// The sums of the paper's two schedules, which bound how far TVG's logits can travel.
    #[test]
    fn the_ramp_sums_to_what_the_paper_allows() {
        for (steps, sum) in [(2000, 5.0), (4000, 10.0)] {
            let ramp = Ramp::new(5e-3, 400, steps);
            let total: f64 = (0..steps).map(|step| ramp.rate(step)).sum();
            assert!((total - sum).abs() < 1e-9, "{total}");
            assert_eq!((ramp.rate(0).to_bits(), ramp.rate(steps).to_bits()), (0, 0));
            assert!((ramp.rate(400) - 5e-3).abs() < 1e-18);
        }
    }

    #[test]
    fn a_short_run_rises_over_a_fifth_of_it() {
        let ramp = Ramp::new(1.0, 400, 100);
        assert!((ramp.rate(20) - 1.0).abs() < 1e-15 && ramp.rate(10) < 0.51);
        assert!(Ramp::new(1.0, 400, 1).rate(0).is_finite());
    }
}
