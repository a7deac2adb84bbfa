//! Logarithms of gamma draws, many at a time.
//!
//! Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. A shape below one is drawn at one more
//! and brought back by U^(1/shape), which only logarithms survive. First every shape gets one attempt, on vectors;
//! the one in twenty that is rejected is drawn again by itself.

use crate::elementary::{cosine_of_turns, ln, vectorized};
use crate::random::Stream;

/// Shapes that are drawn at a time.
const BLOCK: usize = 64;

/// Writes the logarithm of a gamma draw for each shape; minus infinity where the shape is zero.
pub(super) fn log_gamma_draws(shapes: &[f64], logs: &mut [f64], stream: &mut Stream) {
    let mut uniforms = [[0.0; BLOCK]; 4];
    for (shapes, logs) in shapes.chunks(BLOCK).zip(logs.chunks_mut(BLOCK)) {
        stream.uniforms(uniforms.as_flattened_mut());
        let mut block = [1.0; BLOCK];
        block[..shapes.len()].copy_from_slice(shapes);
        attempts(&mut block, &uniforms);
        logs.copy_from_slice(&block[..shapes.len()]);
    }
    for (log, &shape) in logs.iter_mut().zip(shapes) {
        if shape <= 0.0 {
            *log = f64::NEG_INFINITY;
        }
        while log.is_nan() {
            *log = attempt(shape, stream.normal(), stream.uniform()) + boosted(shape, stream.uniform());
        }
    }
}

vectorized! {
    /// Replaces each shape by the outcome of one attempt.
    fn attempts(block: &mut [f64; BLOCK], uniforms: &[[f64; BLOCK]; 4]) {
        for place in 0..BLOCK {
            let [radius, angle, chance, boost] = uniforms.each_ref().map(|numbers| numbers[place]);
            let normal = (-2.0 * ln(radius)).sqrt() * cosine_of_turns(angle);
            block[place] = attempt(block[place], normal, chance) + boosted(block[place], boost);
        }
    }
}

/// The logarithm of a gamma draw of this shape, or of one more if it is below one; not a number if rejected.
///
/// Nothing is computed on a condition, only chosen, for vectors do not branch.
#[inline(always)]
fn attempt(shape: f64, normal: f64, chance: f64) -> f64 {
    let raised = if shape < 1.0 { shape + 1.0 } else { shape };
    let d = raised - 1.0 / 3.0;
    let root = 1.0 + normal / (9.0 * d).sqrt();
    // Below zero the logarithm is nonsense, and the attempt rejected whatever it is.
    let log_cube = 3.0 * ln(root);
    let fits = ln(chance) < 0.5 * normal * normal + d * (1.0 - root * root * root + log_cube);
    let drawn = ln(d) + log_cube;
    let accepted = if root > 0.0 { drawn } else { f64::NAN };
    if fits { accepted } else { f64::NAN }
}

/// What brings a draw for a shape below one back from one more.
#[inline(always)]
fn boosted(shape: f64, chance: f64) -> f64 {
    let boost = ln(chance) / shape;
    if shape < 1.0 { boost } else { 0.0 }
}
