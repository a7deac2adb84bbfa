//! What every model must do, whoever adds it to the list.

use cleanest_engine::{
    Input, Matrix, Mode, Model, ModelOptions, Network, Parameters, Shape,
    cpu::{self, Algorithm, Settings},
};

use crate::check::normal;

/// An input small enough to be quick and large enough for every model.
pub(crate) fn input(model: Model) -> Shape {
    match model {
        Model::MnistCnn => Shape::image(12, 12, 1),
        Model::Resnet18Lio => Shape::image(32, 32, 3),
        _ => Shape::image(16, 16, 3),
    }
}

fn planned(model: Model, settings: &Settings) -> (Box<dyn Network>, Vec<f32>) {
    let architecture = model.build(&ModelOptions::new(input(model), 4)).unwrap();
    let x = normal(1, model.name(), settings.batch * input(model).size());
    (cpu::network(&architecture, settings).unwrap(), x)
}

/// Softmax cross-entropy against class `example % 4`: the loss and its gradient.
pub(crate) fn cross_entropy(logits: &Matrix) -> (f64, Matrix) {
    let mut gradient = Matrix::zeros(logits.rows(), logits.columns());
    let mut loss = 0.0;
    for row in 0..logits.rows() {
        let most = logits.row(row).iter().fold(f32::MIN, |most, &x| most.max(x));
        let powers: Vec<f64> = logits.row(row).iter().map(|&x| f64::from(x - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        for (column, power) in powers.iter().enumerate() {
            let hit = f64::from(u8::from(column == row % 4));
            gradient.values_mut()[row * logits.columns() + column] =
                ((power / sum - hit) / logits.rows() as f64) as f32;
        }
        loss -= (powers[row % 4] / sum).ln() / logits.rows() as f64;
    }
    (loss, gradient)
}

pub(crate) fn step(network: &mut dyn Network, x: &[f32]) -> f64 {
    let (loss, gradient) = cross_entropy(network.forward(&Input::Rows(x), Mode::Train).unwrap());
    network.backward(&gradient).unwrap();
    network.step(1e-3).unwrap();
    loss
}

#[test]
fn every_model_learns_a_batch_by_heart() {
    for &model in Model::ALL {
        let (mut network, x) = planned(model, &Settings { batch: 4, ..Settings::default() });
        let first = step(network.as_mut(), &x);
        for _ in 0..6 {
            step(network.as_mut(), &x);
        }
        let last = step(network.as_mut(), &x);
        assert!(last < first, "{model}: the loss went from {first} to {last}");
    }
}

#[test]
fn every_model_gives_each_example_the_logits_it_has_alone() {
    for &model in Model::ALL {
        let (mut network, x) = planned(model, &Settings { batch: 3, ..Settings::default() });
        step(network.as_mut(), &x);
        let (size, many) = (input(model).size(), [&x[..], &x[..], &x[..input(model).size()]].concat());
        let together = network.forward(&Input::Rows(&many), Mode::Evaluate).unwrap().clone();
        assert_eq!(together.rows(), 7);
        for example in [0, 2, 6] {
            let alone =
                network.forward(&Input::Rows(&many[example * size..][..size]), Mode::Evaluate).unwrap();
            assert_eq!(alone.values(), together.row(example), "{model}, example {example}");
        }
    }
}

#[test]
fn every_model_comes_back_from_a_file() {
    for &model in Model::ALL {
        let (mut network, x) = planned(model, &Settings { batch: 2, ..Settings::default() });
        step(network.as_mut(), &x);
        let bytes = network.parameters().unwrap().to_safetensors().unwrap();
        let state = network.optimizer_state().unwrap().to_safetensors().unwrap();
        let (mut other, _) = planned(model, &Settings { batch: 2, ..Settings::default() });
        assert_ne!(other.parameters().unwrap(), network.parameters().unwrap());
        other.load(&Parameters::from_safetensors(&bytes).unwrap()).unwrap();
        other.load_optimizer_state(&Parameters::from_safetensors(&state).unwrap()).unwrap();
        step(network.as_mut(), &x);
        step(other.as_mut(), &x);
        assert_eq!(other.parameters().unwrap(), network.parameters().unwrap(), "{model}");
    }
}

#[test]
fn every_model_is_the_same_with_and_without_winograd() {
    for &model in Model::ALL {
        let logits = [Algorithm::Direct, Algorithm::Winograd].map(|convolution| {
            let (mut network, x) = planned(model, &Settings { batch: 2, convolution, ..Settings::default() });
            network.forward(&Input::Rows(&x), Mode::Evaluate).unwrap().clone()
        });
        let scale = logits[0].values().iter().fold(1e-3_f32, |most, x| most.max(x.abs()));
        for (a, b) in logits[0].values().iter().zip(logits[1].values()) {
            assert!((a - b).abs() <= 1e-3 * scale, "{model}: {a} is not {b}");
        }
    }
}
