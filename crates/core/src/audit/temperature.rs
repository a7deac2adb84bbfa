//! Making probabilities as sure as they should be.
//!
//! Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017. Their temperature is fitted to
//! clean labels. There are none here, and none are needed: the labels that are given follow p T, so the temperature is
//! the one under which they are most likely. T itself is found the same way, so both are fitted in turn.

use super::Channel;
use crate::Matrix;
use crate::elementary::{exp, ln};
use crate::estimate::frequencies;
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

/// Probabilities that are as sure as the labels say they should be, and the noise that fits them.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The temperature that was found.
    pub temperature: f64,
    /// p(true class | x) at that temperature.
    pub probabilities: Matrix,
    /// The noise under which the labels are most likely.
    pub noise: Transition,
    /// The share of the uncertainty about a label, before the example is seen, that is gone afterwards.
    pub explained: f64,
}

/// Fits temperature and noise in turn to the labels of examples the model was not trained on.
///
/// On examples it *was* trained on this would be wrong: their labels are in the probabilities already.
#[must_use]
pub fn calibrated(probabilities: &Matrix, labels: &[u32], start: &Transition) -> Calibrated {
    /// Rounds at most; a handful is usual.
    const ROUNDS: usize = 20;
    /// Steps of expectation-maximization in each.
    const STEPS: usize = 5;
    let mut found = calibrated_to(probabilities, labels, start);
    for _ in 0..ROUNDS {
        let temperature = temperature(probabilities, labels, &found.noise);
        found.probabilities = sharpened(probabilities, temperature);
        let before = found.noise.clone();
        for _ in 0..STEPS {
            found.noise = maximized(&found.probabilities, labels, &found.noise);
        }
        let settled = (temperature / found.temperature).ln().abs() < 1e-3;
        found.temperature = temperature;
        if settled && before.average_tv(&found.noise).is_ok_and(|moved| moved < 1e-4) {
            break;
        }
    }
    found.explained = explained(&found.probabilities, labels, &found.noise);
    found
}

/// The probabilities at the temperature under which the labels are most likely, where the noise is given.
#[must_use]
pub fn calibrated_to(probabilities: &Matrix, labels: &[u32], noise: &Transition) -> Calibrated {
    let temperature = temperature(probabilities, labels, noise);
    let probabilities = sharpened(probabilities, temperature);
    let explained = explained(&probabilities, labels, noise);
    Calibrated { temperature, probabilities, noise: noise.clone(), explained }
}

/// How much less surprising the labels are than they are by their frequencies alone.
fn explained(probabilities: &Matrix, labels: &[u32], noise: &Transition) -> f64 {
    let by_label = noise.matrix().transposed();
    let mut counts = vec![0.0; probabilities.columns()];
    let mut surprise = 0.0;
    for (row, &label) in probabilities.iter_rows().zip(labels) {
        let said: f64 = row.iter().zip(by_label.row(label as usize)).map(|(p, chance)| p * chance).sum();
        surprise -= ln(said.max(LEAST));
        counts[label as usize] += 1.0;
    }
    let examples = labels.len() as f64;
    let entropy: f64 =
        counts.iter().filter(|count| **count > 0.0).map(|count| -count * ln(count / examples)).sum();
    if entropy > 0.0 { (1.0 - surprise / entropy).max(0.0) } else { 0.0 }
}

/// One step of expectation-maximization for T: every label counted for the true classes it may have come from.
fn maximized(probabilities: &Matrix, labels: &[u32], noise: &Transition) -> Transition {
    let (channel, classes) = (Channel::new(noise), probabilities.columns());
    let mut by_label = Matrix::zeros(classes, classes);
    let mut posterior = vec![0.0; classes];
    for (row, &label) in probabilities.iter_rows().zip(labels) {
        channel.posterior(row, label, &mut posterior);
        by_label.row_mut(label as usize).iter_mut().zip(&posterior).for_each(|(sum, r)| *sum += r);
    }
    frequencies(by_label.transposed())
}

/// The temperature at which the labels are most likely under the noise.
fn temperature(probabilities: &Matrix, labels: &[u32], noise: &Transition) -> f64 {
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
                let p = exp((log - largest) * scale);
                sum += p;
                said += p * chance;
            }
            -ln(said.max(LEAST * sum) / sum)
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
    while high - low > 1e-3 {
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
    use crate::estimate::{Posteriors, soft_confusion};
    use crate::noise::{Noise, corrupt};
    use crate::random::Stream;

    #[test]
    fn the_temperature_of_an_overconfident_model_and_the_noise_are_found_from_noisy_labels() {
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
        let start = frequencies(soft_confusion(&Posteriors::new(&overconfident, &labels).unwrap()));
        let found = calibrated(&overconfident, &labels, &start);
        assert!((found.temperature - 2.5).abs() < 0.3, "{}", found.temperature);
        let (before, after) = (start.average_tv(&noise).unwrap(), found.noise.average_tv(&noise).unwrap());
        assert!(after < 0.03 && after < before / 3.0, "average TV {before} to {after}");
    }
}
