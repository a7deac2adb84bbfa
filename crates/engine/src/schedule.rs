//! The learning rate of every step.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// How the learning rate moves while training; the first step is step 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// The same rate always.
    Constant {
        /// The learning rate.
        rate: f64,
    },
    /// Falls by the same factor at every step, by `factor` in `steps` steps. The paper on MNIST: 1e-3, 0.1 in 2000.
    Exponential {
        /// The learning rate of the first step.
        rate: f64,
        /// What the rate is multiplied by in `steps` steps.
        factor: f64,
        /// How many steps that takes.
        steps: u64,
    },
    /// Climbs in a line from zero, then falls in a line to zero. The paper on CIFAR: 0.1, 400 up, 4000 in all.
    Triangle {
        /// The learning rate at the top.
        rate: f64,
        /// Steps of the climb; the first of them has rate zero.
        warm_up: u64,
        /// Steps in all.
        steps: u64,
    },
    /// Falls by `factor` at each milestone. The paper on Clothing1M: 1e-3, 0.1 at half of 5000.
    Steps {
        /// The learning rate before the first milestone.
        rate: f64,
        /// What the rate is multiplied by at a milestone.
        factor: f64,
        /// The steps at which it falls.
        milestones: Vec<u64>,
    },
    /// Falls along half a cosine to zero.
    Cosine {
        /// The learning rate of the first step.
        rate: f64,
        /// The step at which it reaches zero.
        steps: u64,
    },
}

impl Schedule {
    /// The learning rate of a step.
    #[must_use]
    pub fn rate(&self, step: u64) -> f64 {
        let share = |steps: u64| step as f64 / steps.max(1) as f64;
        match *self {
            Self::Constant { rate } => rate,
            Self::Exponential { rate, factor, steps } => rate * factor.powf(share(steps)),
            Self::Triangle { rate, warm_up, .. } if step < warm_up => rate * share(warm_up),
            Self::Triangle { rate, warm_up, steps } => {
                let fall = steps.saturating_sub(warm_up).max(1);
                rate * steps.saturating_sub(step) as f64 / fall as f64
            }
            Self::Steps { rate, factor, ref milestones } => {
                let passed = milestones.iter().filter(|&&at| at <= step).count();
                rate * factor.powi(i32::try_from(passed).unwrap_or(i32::MAX))
            }
            Self::Cosine { rate, steps } => rate * 0.5 * (1.0 + (PI * share(steps).min(1.0)).cos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn a_constant_rate_does_not_move() {
        let schedule = Schedule::Constant { rate: 0.3 };
        assert!(close(schedule.rate(0), 0.3) && close(schedule.rate(1_000_000), 0.3));
    }

    #[test]
    fn the_exponential_of_the_paper_falls_to_a_tenth() {
        let schedule = Schedule::Exponential { rate: 1e-3, factor: 0.1, steps: 2000 };
        assert!(close(schedule.rate(0), 1e-3));
        assert!(close(schedule.rate(1000), 1e-3 * 0.1_f64.sqrt()));
        assert!(close(schedule.rate(2000), 1e-4));
    }

    #[test]
    fn the_triangle_of_the_paper_starts_and_ends_at_zero() {
        let schedule = Schedule::Triangle { rate: 0.1, warm_up: 400, steps: 4000 };
        let rates = [0, 200, 400, 2200, 4000, 5000].map(|step| schedule.rate(step));
        for (rate, expected) in rates.into_iter().zip([0.0, 0.05, 0.1, 0.05, 0.0, 0.0]) {
            assert!(close(rate, expected), "{rate} is not {expected}");
        }
    }

    #[test]
    fn steps_fall_at_their_milestones() {
        let schedule = Schedule::Steps { rate: 1e-3, factor: 0.1, milestones: vec![2500, 4000] };
        for (step, expected) in [(0, 1e-3), (2499, 1e-3), (2500, 1e-4), (3999, 1e-4), (4000, 1e-5)] {
            assert!(close(schedule.rate(step), expected), "step {step}");
        }
    }

    #[test]
    fn the_cosine_ends_at_zero_and_stays() {
        let schedule = Schedule::Cosine { rate: 0.2, steps: 100 };
        for (step, expected) in [(0, 0.2), (50, 0.1), (100, 0.0), (150, 0.0)] {
            assert!(close(schedule.rate(step), expected), "step {step}");
        }
    }
}
