//! What a user of a network meets: batches, files, and errors that say what to mend.

use cleanest_engine::{
    Error, Input, Matrix, Mode, Model, ModelOptions, Network, Normalization, Optimizer, Sgd, Shape, Tensor,
    architecture::Layer,
    cpu::{self, Settings},
};

use crate::check::{normal, planned, single};

fn digits(settings: &Settings) -> Box<dyn Network> {
    let architecture = Model::MnistCnn.build(&ModelOptions::new(Shape::image(12, 12, 1), 4)).unwrap();
    cpu::network(&architecture, settings).unwrap()
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn bytes_become_numbers_of_the_scale_asked_for() {
    let architecture = single(Layer::Relu, Shape::image(1, 2, 2));
    let mut network = planned(&architecture, &Settings::default());
    let normalization = Normalization { mean: vec![0.0, 0.5], deviation: vec![1.0, 0.25] };
    let input = Input::Images { pixels: &[0, 255, 51, 255], normalization: &normalization };
    assert_eq!(network.forward(&input, Mode::Evaluate).unwrap().values(), [0.0, 2.0, 0.2, 2.0]);
    let plain = Normalization::default();
    let input = Input::Images { pixels: &[255, 0, 0, 255], normalization: &plain };
    assert_eq!(network.forward(&input, Mode::Evaluate).unwrap().values(), [1.0, 0.0, 0.0, 1.0]);
    let three = Normalization { mean: vec![0.0; 3], deviation: vec![] };
    let input = Input::Images { pixels: &[0; 4], normalization: &three };
    let error = message(network.forward(&input, Mode::Evaluate));
    assert_eq!(error, "a batch of images has a mean for each of 2 channels, or none: found 3");
}

#[test]
fn a_smaller_batch_trains_as_if_planned_for_it() {
    let x = normal(3, "x", 3 * 144);
    let trained = [3, 8].map(|batch| {
        let mut network = digits(&Settings { batch, ..Settings::default() });
        let logits = network.forward(&Input::Rows(&x), Mode::Train).unwrap();
        let gradient = Matrix::from_values(logits.rows(), 4, normal(3, "gradient", 12)).unwrap();
        network.backward(&gradient).unwrap();
        network.step(0.01).unwrap();
        network.parameters().unwrap()
    });
    assert_eq!(trained[0], trained[1]);
}

#[test]
fn a_batch_that_does_not_fit_is_refused() {
    let mut network = digits(&Settings { batch: 2, ..Settings::default() });
    let error = message(network.forward(&Input::Rows(&[0.0; 3 * 144]), Mode::Train));
    assert_eq!(error, "a batch of at most 2 examples was planned for training: found 3");
    let error = message(network.forward(&Input::Rows(&[0.0; 145]), Mode::Evaluate));
    assert!(error.ends_with("has a multiple of 144 numbers: found 145"), "{error}");
    assert!(network.forward(&Input::Rows(&[]), Mode::Evaluate).is_err());
}

#[test]
fn backward_needs_a_training_forward_and_a_gradient_that_fits() {
    let mut network = digits(&Settings { batch: 2, ..Settings::default() });
    let x = [0.0; 288];
    let error = message(network.backward(&Matrix::zeros(2, 4)));
    assert_eq!(error, "`backward` needs a `forward` in training mode before it");
    network.forward(&Input::Rows(&x), Mode::Evaluate).unwrap();
    assert!(network.backward(&Matrix::zeros(2, 4)).is_err());
    network.forward(&Input::Rows(&x), Mode::Train).unwrap();
    let error = message(network.backward(&Matrix::zeros(2, 5)));
    assert_eq!(error, "the gradient of the logits: expected (2, 4) rows and columns, found (2, 5)");
    network.backward(&Matrix::zeros(2, 4)).unwrap();
    assert!(matches!(network.input_gradient(), Err(Error::NoInputGradient)));
}

#[test]
fn a_parameter_that_is_missing_misshapen_or_unknown_is_named_and_nothing_is_loaded() {
    let mut network = digits(&Settings::default());
    let before = network.parameters().unwrap();
    let mut lacking = before.clone();
    lacking.insert("conv1.bias", Tensor { shape: vec![32], values: vec![9.0; 32] });
    lacking.remove("conv3.weight").unwrap();
    assert_eq!(
        message(network.load(&lacking)),
        "parameter `conv3.weight` is missing: expected shape [64, 32, 3, 3]"
    );
    let mut misshapen = before.clone();
    misshapen.insert("fc2.bias", Tensor { shape: vec![5], values: vec![0.0; 5] });
    assert_eq!(message(network.load(&misshapen)), "parameter `fc2.bias`: expected shape [4], found [5]");
    let mut unknown = before.clone();
    unknown.insert("fc3.bias", Tensor { shape: vec![1], values: vec![0.0] });
    assert_eq!(message(network.load(&unknown)), "parameter `fc3.bias` belongs to no layer of `mnist-cnn`");
    assert_eq!(network.parameters().unwrap(), before);
}

#[test]
fn an_optimizer_state_of_another_optimizer_is_refused_by_name() {
    let adam = digits(&Settings::default()).optimizer_state().unwrap();
    let mut sgd = digits(&Settings { optimizer: Optimizer::Sgd(Sgd::default()), ..Settings::default() });
    let error = message(sgd.load_optimizer_state(&adam));
    assert!(error.starts_with("parameter `conv1.weight.momentum_buffer` is missing"), "{error}");
}

#[test]
fn parameters_start_where_pytorch_starts_them() {
    let parameters = digits(&Settings { seed: 5, ..Settings::default() }).parameters().unwrap();
    for (name, fan_in) in
        [("conv1.weight", 9.0_f32), ("conv1.bias", 9.0), ("conv4.weight", 576.0), ("fc2.weight", 128.0)]
    {
        let (values, bound) = (&parameters.tensor(name).unwrap().values, 1.0 / fan_in.sqrt());
        let most = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!(most <= bound && most > 0.8 * bound, "{name}: {most} of {bound}");
        assert!(mean.abs() < 3.0 * bound / (3.0 * values.len() as f32).sqrt(), "{name}: mean {mean}");
    }
    let other = digits(&Settings { seed: 6, ..Settings::default() }).parameters().unwrap();
    assert_ne!(parameters, other);
    assert_eq!(parameters, digits(&Settings { seed: 5, ..Settings::default() }).parameters().unwrap());
}

#[test]
fn dropout_keeps_the_mean_and_draws_anew_each_step() {
    let net = single(Layer::Dropout { rate: 0.25 }, Shape::row(20_000));
    let mut network = planned(&net, &Settings { batch: 1, ..Settings::default() });
    let ones = vec![1.0; 20_000];
    let first = network.forward(&Input::Rows(&ones), Mode::Train).unwrap().clone();
    let zeros = first.values().iter().filter(|&&x| x == 0.0).count();
    assert!((4750..5250).contains(&zeros), "{zeros} of 20000 were dropped");
    assert!(first.values().iter().all(|&x| x == 0.0 || (x - 4.0 / 3.0).abs() < 1e-6));
    assert_eq!(
        network.forward(&Input::Rows(&ones), Mode::Train).unwrap(),
        &first,
        "a step draws the same again"
    );
    network.backward(&Matrix::from_values(1, 20_000, ones.clone()).unwrap()).unwrap();
    assert_eq!(network.input_gradient().unwrap(), first);
    network.step(0.1).unwrap();
    assert_ne!(network.forward(&Input::Rows(&ones), Mode::Train).unwrap(), &first);
    assert_eq!(network.forward(&Input::Rows(&ones), Mode::Evaluate).unwrap().values(), ones);
}

#[test]
fn dead_layers_keep_their_parameters_and_move_their_statistics() {
    let architecture = Model::Resnet18Lio.build(&ModelOptions::new(Shape::image(32, 32, 3), 4)).unwrap();
    let optimizer = Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 0.1 });
    let mut network =
        cpu::network(&architecture, &Settings { batch: 1, optimizer, ..Settings::default() }).unwrap();
    let before = network.parameters().unwrap();
    network.forward(&Input::Rows(&normal(1, "x", 3072)), Mode::Train).unwrap();
    network.backward(&Matrix::from_values(1, 4, vec![1.0, -1.0, 0.5, 0.0]).unwrap()).unwrap();
    network.step(0.1).unwrap();
    let after = network.parameters().unwrap();
    assert_eq!(before.tensor("layer1.0.bn1.weight"), after.tensor("layer1.0.bn1.weight"));
    assert_ne!(before.tensor("layer1.0.bn1.running_mean"), after.tensor("layer1.0.bn1.running_mean"));
    assert_ne!(before.tensor("layer2.0.bn1.weight"), after.tensor("layer2.0.bn1.weight"));
    assert!(network.gradients().unwrap().tensor("layer1.0.bn1.weight").is_none());
}
