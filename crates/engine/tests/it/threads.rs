//! The same bits whatever the number of threads, and on every run.

use cleanest_engine::{
    Input, Matrix, Mode, Model, ModelOptions, Parameters, Shape,
    cpu::{self, Algorithm, Instructions, Settings},
};

use crate::check::normal;

/// A few training steps in a pool of this many threads.
fn trained(model: Model, input: Shape, settings: &Settings, threads: usize) -> Parameters {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let architecture = model.build(&ModelOptions::new(input, 10)).unwrap();
        let mut network = cpu::network(&architecture, settings).unwrap();
        for step in 0..2 {
            let x = normal(step, "x", settings.batch * input.size());
            let logits = network.forward(&Input::Rows(&x), Mode::Train).unwrap();
            let gradient =
                Matrix::from_values(logits.rows(), 10, normal(step, "gradient", logits.rows() * 10)).unwrap();
            network.backward(&gradient).unwrap();
            network.step(1e-3).unwrap();
        }
        network.parameters().unwrap()
    })
}

fn bits(parameters: &Parameters) -> Vec<(&str, Vec<u32>)> {
    parameters
        .iter()
        .map(|(name, tensor)| (name, tensor.values.iter().map(|v| v.to_bits()).collect()))
        .collect()
}

fn assert_same_bits(model: Model, input: Shape, settings: &Settings) {
    let one = trained(model, input, settings, 1);
    for threads in [2, 3, 2] {
        let more = trained(model, input, settings, threads);
        assert!(bits(&one) == bits(&more), "{model}, {threads} threads, {settings:?}");
    }
}

#[test]
fn training_gives_the_same_bits_on_one_two_and_three_threads() {
    for set in Instructions::ALL.into_iter().filter(|set| set.available()) {
        for convolution in [Algorithm::Auto, Algorithm::Direct] {
            let settings = Settings { batch: 5, instructions: Some(set), convolution, ..Settings::default() };
            assert_same_bits(Model::MnistCnn, Shape::image(14, 14, 1), &settings);
        }
    }
}

#[test]
fn a_residual_network_gives_the_same_bits_on_one_two_and_three_threads() {
    let settings = Settings { batch: 3, ..Settings::default() };
    assert_same_bits(Model::Resnet18, Shape::image(16, 16, 3), &settings);
}
