//! What the tests share: networks with one layer, and numbers that should be close.

use cleanest_core::random::Stream;
use cleanest_engine::{
    Architecture, Network, Shape,
    architecture::Layer,
    cpu::{self, Instructions, Settings},
};

/// Every set of instructions this machine has.
pub(crate) fn instructions() -> impl Iterator<Item = Instructions> {
    Instructions::ALL.into_iter().filter(|set| set.available())
}

/// Numbers drawn from the standard normal distribution.
pub(crate) fn normal(seed: u64, name: &str, count: usize) -> Vec<f32> {
    let mut stream = Stream::new(seed, name, 0);
    (0..count).map(|_| stream.normal() as f32).collect()
}

/// An architecture of one layer, `it`.
pub(crate) fn single(layer: Layer, input: Shape) -> Architecture {
    let mut net = Architecture::new("single", input);
    net.then("it", layer, net.input()).unwrap();
    net
}

/// A planned network that also gives the gradient of its input.
pub(crate) fn planned(architecture: &Architecture, settings: &Settings) -> Box<dyn Network> {
    cpu::network(architecture, &Settings { input_gradient: true, ..settings.clone() }).unwrap()
}

/// Fails where two lists differ by more than a share of the largest number.
pub(crate) fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: numbers");
    let scale = expected.iter().fold(1e-3_f64, |most, number| most.max(number.abs()));
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs() / scale;
        assert!(
            error <= tolerance,
            "{what}[{index}]: {found} is not {expected}, off by {error:.1e} of {scale:.1e}"
        );
    }
}

/// The largest difference between two lists, as a share of the largest number; infinite where one is not a number.
pub(crate) fn apart(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "numbers");
    let scale = expected.iter().fold(1e-3_f64, |most, number| most.max(number.abs()));
    let one = |(&found, &expected): (&f32, &f64)| {
        let error = (f64::from(found) - expected).abs() / scale;
        if error.is_nan() { f64::INFINITY } else { error }
    };
    found.iter().zip(expected).map(one).fold(0.0, f64::max)
}

/// The same numbers with the channels first, or back again.
pub(crate) fn channels_first(values: &[f32], shape: Shape) -> Vec<f32> {
    let (pixels, channels) = (shape.height * shape.width, shape.channels);
    let image = |image: &[f32]| -> Vec<f32> {
        (0..channels * pixels).map(|i| image[i % pixels * channels + i / pixels]).collect()
    };
    values.chunks(shape.size()).flat_map(image).collect()
}

/// The inverse of [`channels_first`].
pub(crate) fn channels_last(values: &[f32], shape: Shape) -> Vec<f32> {
    let (pixels, channels) = (shape.height * shape.width, shape.channels);
    let image = |image: &[f32]| -> Vec<f32> {
        (0..channels * pixels).map(|i| image[i % channels * pixels + i / channels]).collect()
    };
    values.chunks(shape.size()).flat_map(image).collect()
}

/// Numbers in double precision.
pub(crate) fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}
