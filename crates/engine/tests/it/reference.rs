//! Every layer and optimizer against numbers computed by PyTorch in single precision.
//!
//! Tolerances are shares of the largest number of a tensor: 2e-6 for a layer, 1e-5 through Winograd's transform, and
//! 1e-6 for an optimizer's step.

use cleanest_engine::{
    Adam, Architecture, Input, Matrix, Mode, Network, Optimizer, Parameters, Sgd, Shape, Tensor,
    architecture::{Convolution, Layer, Window},
    cpu::{Algorithm, Settings},
};
use serde_json::Value;

use crate::check::{assert_close, channels_first, channels_last, instructions, planned, single, wide};

const LAYER: f64 = 2e-6;
const WINOGRAD: f64 = 1e-5;
const OPTIMIZER: f64 = 1e-6;

pub(crate) fn file() -> Value {
    serde_json::from_str(include_str!("../reference/layers.json")).unwrap()
}

pub(crate) fn numbers(tensor: &Value) -> Vec<f32> {
    tensor["values"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

fn dimensions(tensor: &Value) -> Vec<usize> {
    tensor["shape"].as_array().unwrap().iter().map(|value| value.as_u64().unwrap() as usize).collect()
}

pub(crate) fn tensor(value: &Value) -> Tensor {
    Tensor { shape: dimensions(value), values: numbers(value) }
}

/// The shape of one example; a tensor has the batch first and the channels second.
pub(crate) fn shape(tensor: &Value) -> Shape {
    match dimensions(tensor)[..] {
        [_, channels, height, width] => Shape::image(height, width, channels),
        [_, length] => Shape::row(length),
        ref other => panic!("a tensor of {other:?}"),
    }
}

pub(crate) fn layer(case: &Value) -> Layer {
    let config = &case["config"];
    let number = |key: &str| config[key].as_u64().unwrap_or(0) as usize;
    match case["layer"].as_str().unwrap() {
        "conv2d" => Layer::Convolution(Convolution {
            channels: number("out_channels"),
            kernel: number("kernel"),
            stride: number("stride"),
            padding: number("padding"),
            bias: config["bias"].as_bool().unwrap(),
        }),
        "batch_norm_train" => Layer::BatchNorm,
        "max_pool2d" => Layer::MaxPool(Window {
            kernel: number("kernel"),
            stride: number("stride"),
            padding: number("padding"),
        }),
        "global_average_pool" => Layer::GlobalAveragePool,
        "linear" => Layer::Linear { outputs: number("outputs") },
        other => panic!("a layer nobody knows: {other}"),
    }
}

/// PyTorch calls them weight and bias; the reference calls those of a batch norm by their letters.
pub(crate) fn our_name(name: &str) -> String {
    match name {
        "gamma" => "it.weight".into(),
        "beta" => "it.bias".into(),
        other => format!("it.{other}"),
    }
}

/// Gives a network of one layer the parameters of a case.
pub(crate) fn give_parameters(network: &mut dyn Network, case: &Value) {
    let mut parameters = network.parameters().unwrap();
    for (name, value) in case["parameters"].as_object().unwrap() {
        parameters.insert(our_name(name), tensor(value));
    }
    network.load(&parameters).unwrap();
}

fn layer_agrees(case: &Value, settings: &Settings, tolerance: f64) {
    let what = format!("{} {} {settings:?}", case["layer"], case["config"]);
    let architecture = single(layer(case), shape(&case["input"]));
    let mut network = planned(&architecture, &Settings { batch: 8, ..settings.clone() });
    give_parameters(network.as_mut(), case);

    let (input, output) = (shape(&case["input"]), shape(&case["output"]));
    let rows = channels_last(&numbers(&case["input"]), input);
    let logits = network.forward(&Input::Rows(&rows), Mode::Train).unwrap();
    let expect = |tensor: &Value| wide(&numbers(tensor));
    assert_close(&what, &channels_first(logits.values(), output), &expect(&case["output"]), tolerance);

    let gradient = channels_last(&numbers(&case["output_gradient"]), output);
    let gradient = Matrix::from_values(logits.rows(), logits.columns(), gradient).unwrap();
    network.backward(&gradient).unwrap();
    let found = channels_first(network.input_gradient().unwrap().values(), input);
    assert_close(&what, &found, &expect(&case["input_gradient"]), tolerance);
    let gradients = network.gradients().unwrap();
    for (name, value) in case["parameter_gradients"].as_object().unwrap() {
        assert_close(&what, &gradients.tensor(&our_name(name)).unwrap().values, &expect(value), tolerance);
    }
    let after = network.parameters().unwrap();
    for (key, name) in [
        ("running_mean_after_one_step", "it.running_mean"),
        ("running_variance_after_one_step", "it.running_var"),
    ] {
        if case.get(key).is_some() {
            assert_close(&what, &after.tensor(name).unwrap().values, &expect(&case[key]), tolerance);
        }
    }
}

#[test]
fn every_layer_gives_the_numbers_of_pytorch_on_every_set_of_instructions() {
    let file = file();
    let cases = file["layers"].as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        for set in instructions() {
            layer_agrees(case, &Settings { instructions: Some(set), ..Settings::default() }, LAYER);
        }
    }
}

#[test]
fn every_convolution_gives_the_numbers_of_pytorch_through_winograd() {
    for case in file()["layers"].as_array().unwrap().iter().filter(|case| case["layer"] == "conv2d") {
        for set in instructions() {
            let settings =
                Settings { instructions: Some(set), convolution: Algorithm::Winograd, ..Settings::default() };
            layer_agrees(case, &settings, WINOGRAD);
        }
    }
}

/// One linear layer whose weight has six numbers: with the input one at its place, the gradient of the weight is what
/// `backward` is given.
fn optimizer_agrees(case: &Value, optimizer: Optimizer, rate: f64) {
    for set in instructions() {
        let architecture = single(Layer::Linear { outputs: 6 }, Shape::row(1));
        let settings = Settings { batch: 1, optimizer, instructions: Some(set), ..Settings::default() };
        let mut network = planned(&architecture, &settings);
        let mut parameters = Parameters::new();
        parameters.insert("it.weight", Tensor { shape: vec![6, 1], values: numbers(&case["start"]) });
        parameters.insert("it.bias", Tensor { shape: vec![6], values: vec![0.0; 6] });
        network.load(&parameters).unwrap();
        let steps = case["gradients"].as_array().unwrap().iter().zip(case["after"].as_array().unwrap());
        for (index, (gradient, after)) in steps.enumerate() {
            network.forward(&Input::Rows(&[1.0]), Mode::Train).unwrap();
            network.backward(&Matrix::from_values(1, 6, numbers(gradient)).unwrap()).unwrap();
            network.step(rate).unwrap();
            let weight = network.parameters().unwrap().tensor("it.weight").unwrap().values.clone();
            assert_close(
                &format!("{optimizer:?} after step {}", index + 1),
                &weight,
                &wide(&numbers(after)),
                OPTIMIZER,
            );
        }
    }
}

#[test]
fn every_optimizer_makes_the_steps_of_pytorch() {
    let file = file();
    let cases = file["optimizers"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    optimizer_agrees(&cases[0], Optimizer::Adam(Adam::default()), 1e-2);
    optimizer_agrees(&cases[1], Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 }), 0.1);
}

#[test]
fn evaluation_uses_the_running_statistics() {
    let architecture: Architecture = single(Layer::BatchNorm, Shape::row(2));
    let mut network = planned(&architecture, &Settings { batch: 4, ..Settings::default() });
    let mut parameters = network.parameters().unwrap();
    for (name, values) in [
        ("running_mean", [1.0, -2.0]),
        ("running_var", [4.0, 0.25]),
        ("weight", [2.0, 1.0]),
        ("bias", [0.5, 0.0]),
    ] {
        parameters.insert(format!("it.{name}"), Tensor { shape: vec![2], values: values.to_vec() });
    }
    network.load(&parameters).unwrap();
    let logits = network.forward(&Input::Rows(&[3.0, -1.5, 1.0, -2.0]), Mode::Evaluate).unwrap();
    let expected = [2.5 - 2.5e-6, 1.0 - 2e-5, 0.5, 0.0];
    assert_close("evaluation", logits.values(), &expected, 1e-6);
    assert_eq!(network.parameters().unwrap(), parameters, "evaluation changes nothing");
}
