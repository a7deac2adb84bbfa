//! Making probabilities as sure as they should be.
//!
//! Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017. Their temperature is fitted to
//! clean labels. There are none here, and none are needed: the labels that are given follow p T, so the temperature is
//! the one under which they are most likely.

use crate::Matrix;
use crate::noise::Transition;

/// The least probability that is raised to a power; below it a float remembers nothing.
const LEAST: f64 = 1e-12;

/// The probabilities at a temperature: p^(1/τ), normalized. Above 1 they become less sure, below 1 surer.
#[must_use]
pub fn sharpened(probabilities: &Matrix, temperature: f64) -> Matrix {
    let mut sharpened = probabilities.clone();
    for row in sharpened.iter_rows_mut() {
        row.iter_mut().for_each(|p| *p = p.max(LEAST).powf(1.0 / temperature));
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= sum);
    }
    sharpened
}

/// The temperature at which noisy labels are most likely: probabilities of the true class of examples the model was not
/// trained on, the labels they were given, and the noise.
#[must_use]
pub fn temperature(probabilities: &Matrix, labels: &[u32], noise: &Transition) -> f64 {
    let logs: Vec<f64> = probabilities.values().iter().map(|p| p.max(LEAST).ln()).collect();
    let by_label = noise.matrix().transposed();
    let classes = probabilities.columns();
    let surprise = |log_temperature: f64| {
        let scale = (-log_temperature).exp();
        let rows = logs.chunks_exact(classes).zip(labels);
        let each = rows.map(|(logs, &label)| {
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut sum, mut said) = (0.0, 0.0);
            for (log, chance) in logs.iter().zip(by_label.row(label as usize)) {
                let p = ((log - largest) * scale).exp();
                sum += p;
                said += p * chance;
            }
            -(said.max(LEAST * sum) / sum).ln()
        });
        each.sum::<f64>()
    };
    golden_section(surprise, (0.2_f64.ln(), 20.0_f64.ln())).exp()
}

/// Where a function of one minimum has it.
fn golden_section(f: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    let share = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - share * (high - low), low + share * (high - low));
    let (mut at_left, mut at_right) = (f(left), f(right));
    while high - low > 1e-4 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - share * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + share * (high - low);
            at_right = f(right);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noise, corrupt};
    use crate::random::Stream;

    #[test]
    fn the_temperature_of_an_overconfident_model_is_found_from_noisy_labels() {
        let noise = "pair:0.3".parse::<Noise>().unwrap().transition(3, 0).unwrap();
        let mut stream = Stream::new(3, "test", 0);
        let (mut honest, mut clean) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let logits = [stream.normal(), stream.normal(), stream.normal()].map(|z| (1.5 * z).exp());
            let sum: f64 = logits.iter().sum();
            let row = logits.map(|z| z / sum);
            clean.push(stream.categorical(&row) as u32);
            honest.extend(row);
        }
        let labels = corrupt(&clean, &noise, 0).unwrap().noisy;
        let overconfident = sharpened(&Matrix::from_vec(3, honest), 1.0 / 2.5);
        let found = temperature(&overconfident, &labels, &noise);
        assert!((found - 2.5).abs() < 0.2, "{found}");
    }
}
