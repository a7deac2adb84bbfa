//! Layers on random shapes, and whole networks, against finite differences in double precision.
//!
//! The derivative of a random weighting of the outputs is compared along random directions and at single numbers.
//! Tolerances are shares of the largest number: 2e-5 by gathering, 1e-4 through Winograd's transform.

use cleanest_core::random::Stream;
use cleanest_engine::{
    Architecture, Input, Matrix, Mode, Shape,
    architecture::{Convolution, Layer, Window},
    cpu::{Algorithm, Instructions, Settings},
};
use proptest::prelude::*;

use crate::{
    check::{assert_close, channels_first, channels_last, normal, planned, single, wide},
    oracle::{self, Numbers},
};

const GATHERED: f64 = 2e-5;
const TRANSFORMED: f64 = 1e-4;

/// Compares outputs and gradients of a training batch with the oracle's.
fn agrees(architecture: &Architecture, batch: usize, settings: &Settings, tolerance: f64) {
    let (input, output) = (architecture.input_shape(), architecture.output_shape());
    let settings = Settings { batch: batch + 1, ..settings.clone() };
    let mut network = planned(architecture, &settings);
    let x = normal(settings.seed, "x", batch * input.size());
    let weighting = normal(settings.seed, "weighting", batch * output.size());
    let parameters: Numbers =
        network.parameters().unwrap().iter().map(|(name, t)| (name.into(), wide(&t.values))).collect();

    let rows = channels_last(&x, input);
    let found = network.forward(&Input::Rows(&rows), Mode::Train).unwrap().clone();
    let expected = oracle::forward(architecture, &parameters, &wide(&x));
    assert_close("output", &channels_first(found.values(), output), &expected, tolerance);

    let gradient = Matrix::from_values(batch, output.size(), channels_last(&weighting, output)).unwrap();
    network.backward(&gradient).unwrap();
    let loss = |parameters: &Numbers, x: &[f64]| -> f64 {
        let output = oracle::forward(architecture, parameters, x);
        output.iter().zip(&weighting).map(|(&y, &w)| y * f64::from(w)).sum()
    };
    let x = wide(&x);
    let found = channels_first(network.input_gradient().unwrap().values(), input);
    along_directions("input", &x, &found, &mut |moved| loss(&parameters, moved), (tolerance, settings.seed));
    for (name, tensor) in network.gradients().unwrap().iter() {
        let mut changed = parameters.clone();
        let mut moved_loss = |moved: &[f64]| {
            changed.insert(name.into(), moved.to_vec());
            loss(&changed, &x)
        };
        along_directions(
            name,
            &parameters[name],
            &tensor.values,
            &mut moved_loss,
            (tolerance, settings.seed),
        );
    }
}

/// Compares a gradient with central differences along two random directions and at four single numbers.
fn along_directions(
    what: &str,
    start: &[f64],
    gradient: &[f32],
    loss: &mut dyn FnMut(&[f64]) -> f64,
    (tolerance, seed): (f64, u64),
) {
    const STEP: f64 = 1e-6;
    let mut stream = Stream::new(seed, "directions", 0);
    let scale = gradient.iter().fold(1e-2_f64, |most, g| most.max(f64::from(g.abs())));
    for trial in 0..6 {
        let single = stream.below(start.len());
        let direction: Vec<f64> = (0..start.len())
            .map(|index| if trial < 2 { stream.normal() } else { f64::from(u8::from(index == single)) })
            .collect();
        let moved = |by: f64| -> Vec<f64> { start.iter().zip(&direction).map(|(x, d)| x + by * d).collect() };
        let difference = (loss(&moved(STEP)) - loss(&moved(-STEP))) / (2.0 * STEP);
        let found: f64 = gradient.iter().zip(&direction).map(|(&g, d)| f64::from(g) * d).sum();
        let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
        let error = (found - difference).abs() / (scale * length);
        assert!(error <= tolerance, "{what}, trial {trial}: {found} is not {difference}, off by {error:.1e}");
    }
}

/// A set of instructions this machine has.
fn any_instructions() -> impl Strategy<Value = Instructions> {
    proptest::sample::select(Instructions::ALL.to_vec())
        .prop_filter("not on this machine", |set| set.available())
}

fn settings(seed: u64, set: Instructions, convolution: Algorithm) -> Settings {
    Settings { seed, instructions: Some(set), convolution, ..Settings::default() }
}

fn any_convolution(channels: std::ops::Range<usize>) -> impl Strategy<Value = Convolution> {
    (channels, 1_usize..6, 1_usize..4, 0_usize..4, any::<bool>()).prop_map(
        |(channels, kernel, stride, padding, bias)| Convolution { channels, kernel, stride, padding, bias },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_convolution_of_any_shape_agrees_with_finite_differences(
        convolution in any_convolution(1..40),
        (height, width, channels, batch) in (5_usize..11, 5_usize..11, 1_usize..20, 1_usize..4),
        (seed, set) in (0_u64..1000, any_instructions()),
    ) {
        let architecture = single(Layer::Convolution(convolution), Shape::image(height, width, channels));
        agrees(&architecture, batch, &settings(seed, set, Algorithm::Direct), GATHERED);
    }

    #[test]
    fn winograd_on_any_shape_agrees_with_finite_differences(
        (channels, padding, bias) in (1_usize..50, 0_usize..3, any::<bool>()),
        (height, width, inputs, batch) in (3_usize..12, 3_usize..12, 1_usize..40, 1_usize..4),
        (seed, set) in (0_u64..1000, any_instructions()),
    ) {
        let convolution = Convolution { channels, kernel: 3, stride: 1, padding, bias };
        let architecture = single(Layer::Convolution(convolution), Shape::image(height, width, inputs));
        agrees(&architecture, batch, &settings(seed, set, Algorithm::Winograd), TRANSFORMED);
    }

    #[test]
    fn a_linear_layer_of_any_size_agrees_with_finite_differences(
        (inputs, outputs, batch) in (1_usize..600, 1_usize..70, 1_usize..40),
        (seed, set) in (0_u64..1000, any_instructions()),
    ) {
        let architecture = single(Layer::Linear { outputs }, Shape::row(inputs));
        agrees(&architecture, batch, &settings(seed, set, Algorithm::Auto), GATHERED);
    }

    #[test]
    fn a_batch_norm_of_any_shape_agrees_with_finite_differences(
        (height, width, channels, batch) in (1_usize..6, 1_usize..6, 1_usize..40, 2_usize..7),
        (seed, set) in (0_u64..1000, any_instructions()),
    ) {
        // A few numbers that nearly agree have a norm so steep that single precision cannot follow it.
        prop_assume!(batch * height * width >= 12);
        let architecture = single(Layer::BatchNorm, Shape::image(height, width, channels));
        agrees(&architecture, batch, &settings(seed, set, Algorithm::Auto), 50.0 * GATHERED);
    }

    #[test]
    fn a_pool_of_any_shape_agrees_with_finite_differences(
        (kernel, stride, padding) in (1_usize..5, 1_usize..4, 0_usize..3),
        (height, width, channels, batch) in (4_usize..9, 4_usize..9, 1_usize..20, 1_usize..4),
        (seed, set) in (0_u64..1000, any_instructions()),
    ) {
        let window = Window { kernel, stride, padding: padding.min(kernel / 2) };
        for layer in [Layer::MaxPool(window), Layer::AveragePool(window), Layer::GlobalAveragePool] {
            let architecture = single(layer, Shape::image(height, width, channels));
            agrees(&architecture, batch, &settings(seed, set, Algorithm::Auto), GATHERED);
        }
    }
}

fn conv(channels: usize, kernel: usize, stride: usize) -> Layer {
    Layer::Convolution(Convolution::same(channels, kernel, stride))
}

/// Every kind of layer, a value read three times, a sum of a value with itself, and a shortcut that changes shape.
pub(crate) fn small_network() -> Architecture {
    let mut net = Architecture::new("small", Shape::image(8, 8, 3));
    let stem = net.then("stem", conv(6, 3, 1), net.input()).unwrap();
    let stem = net.then("stem.bn", Layer::BatchNorm, stem).unwrap();
    let stem = net.then("stem.relu", Layer::Relu, stem).unwrap();
    let a = net.then("a", conv(8, 3, 2), stem).unwrap();
    let a = net.then("a.bn", Layer::BatchNorm, a).unwrap();
    let a = net.then("a.relu", Layer::Relu, a).unwrap();
    let a = net.then("b", conv(8, 3, 1), a).unwrap();
    let a = net.then("b.bn", Layer::BatchNorm, a).unwrap();
    let shortcut = net.then("shortcut", conv(8, 1, 2), stem).unwrap();
    let shortcut = net.then("shortcut.bn", Layer::BatchNorm, shortcut).unwrap();
    let sum = net.sum("add", a, shortcut).unwrap();
    let sum = net.then("add.relu", Layer::Relu, sum).unwrap();
    let twice = net.sum("twice", sum, sum).unwrap();
    let c = net.then("c", conv(8, 3, 1), twice).unwrap();
    let d = net.sum("join", c, sum).unwrap();
    let pooled = net.then("pool", Layer::MaxPool(Window { kernel: 2, stride: 2, padding: 0 }), d).unwrap();
    let row = net.then("flatten", Layer::Flatten, pooled).unwrap();
    let row = net.then("dropout", Layer::Dropout { rate: 0.0 }, row).unwrap();
    let hidden = net.then("fc1", Layer::Linear { outputs: 7 }, row).unwrap();
    let hidden = net.then("fc1.relu", Layer::Relu, hidden).unwrap();
    net.then("fc2", Layer::Linear { outputs: 3 }, hidden).unwrap();
    net
}

/// A ReLU whose backward pass the pool does, beside one that has a second reader.
pub(crate) fn pooled_network() -> Architecture {
    let mut net = Architecture::new("pooled", Shape::image(9, 9, 2));
    let x = net.then("a", Layer::Convolution(Convolution::new(5, 3)), net.input()).unwrap();
    let x = net.then("a.relu", Layer::Relu, x).unwrap();
    let x = net.then("a.pool", Layer::MaxPool(Window { kernel: 3, stride: 2, padding: 1 }), x).unwrap();
    let x = net.then("b", conv(5, 3, 1), x).unwrap();
    let x = net.then("b.relu", Layer::Relu, x).unwrap();
    let pooled = net.then("b.pool", Layer::MaxPool(Window { kernel: 1, stride: 1, padding: 0 }), x).unwrap();
    let sum = net.sum("sum", pooled, x).unwrap();
    let row = net.then("flatten", Layer::Flatten, sum).unwrap();
    net.then("fc", Layer::Linear { outputs: 3 }, row).unwrap();
    net
}

#[test]
fn a_whole_network_agrees_with_finite_differences() {
    for set in Instructions::ALL.into_iter().filter(|set| set.available()) {
        for algorithm in [Algorithm::Direct, Algorithm::Winograd] {
            agrees(&small_network(), 5, &settings(7, set, algorithm), 1e-3);
            agrees(&pooled_network(), 3, &settings(7, set, algorithm), TRANSFORMED);
        }
    }
}
