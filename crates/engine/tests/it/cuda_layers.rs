//! Layers on the GPU: against PyTorch's numbers, and against the processor on random shapes.

use cleanest_core::random::Stream;
use cleanest_engine::{
    Crop, Input, Matrix, Mode, Normalization, Optimizer, Parameters, Set, Sgd, Shape, Tensor,
    architecture::{Convolution, Layer, Window},
    cpu,
    cuda::{Precision, Settings},
};

use crate::{
    check::{apart, channels_first, channels_last, normal, single, wide},
    cuda::{PRECISIONS, Pass, judge, planned},
    properties::{pooled_network, small_network},
    reference::{file, give_parameters, layer, numbers, our_name, shape},
};

#[test]
#[ignore = "needs a GPU"]
fn every_layer_gives_the_numbers_of_pytorch_on_the_gpu() {
    let mut failed = Vec::new();
    for case in file()["layers"].as_array().unwrap() {
        for (precision, tolerance) in PRECISIONS {
            let architecture = single(layer(case), shape(&case["input"]));
            let mut network =
                planned(&architecture, &Settings { batch: 8, precision, ..Settings::default() });
            give_parameters(network.as_mut(), case);
            let (input, output) = (shape(&case["input"]), shape(&case["output"]));
            let rows = channels_last(&numbers(&case["input"]), input);
            let gradient = channels_last(&numbers(&case["output_gradient"]), output);
            let pass = Pass::of(network.as_mut(), &rows, &gradient);
            let off = |found: &[f32], key: &str| apart(found, &wide(&numbers(&case[key])));
            let mut errors = vec![
                off(&channels_first(&pass.logits, output), "output"),
                off(&channels_first(&pass.input, input), "input_gradient"),
            ];
            for (name, value) in case["parameter_gradients"].as_object().unwrap() {
                let found = &pass.gradients.tensor(&our_name(name)).unwrap().values;
                errors.push(apart(found, &wide(&numbers(value))));
            }
            for (key, name) in [
                ("running_mean_after_one_step", "it.running_mean"),
                ("running_variance_after_one_step", "it.running_var"),
            ] {
                if case.get(key).is_some() {
                    errors.push(off(&pass.after.tensor(name).unwrap().values, key));
                }
            }
            let what = format!("{precision} {} {}", case["layer"], case["config"]);
            judge(&what, &errors, tolerance, &mut failed);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "needs a GPU"]
fn every_optimizer_makes_the_steps_of_pytorch_on_the_gpu() {
    let (file, mut failed) = (file(), Vec::new());
    let adam = (Optimizer::default(), 1e-2);
    let sgd = (Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 }), 0.1);
    for (case, (optimizer, rate)) in file["optimizers"].as_array().unwrap().iter().zip([adam, sgd]) {
        let architecture = single(Layer::Linear { outputs: 6 }, Shape::row(1));
        let settings = Settings { batch: 1, optimizer, precision: Precision::F32, ..Settings::default() };
        let mut network = planned(&architecture, &settings);
        let mut parameters = Parameters::new();
        parameters.insert("it.weight", Tensor { shape: vec![6, 1], values: numbers(&case["start"]) });
        parameters.insert("it.bias", Tensor { shape: vec![6], values: vec![0.0; 6] });
        network.load(&parameters).unwrap();
        let steps = case["gradients"].as_array().unwrap().iter().zip(case["after"].as_array().unwrap());
        let mut errors = Vec::new();
        for (gradient, after) in steps {
            network.forward(&Input::Rows(&[1.0]), Mode::Train).unwrap();
            network.backward(&Matrix::from_values(1, 6, numbers(gradient)).unwrap()).unwrap();
            network.step(rate).unwrap();
            let weight = network.parameters().unwrap().tensor("it.weight").unwrap().values.clone();
            errors.push(apart(&weight, &wide(&numbers(after))));
        }
        judge(&format!("{optimizer:?}"), &errors, 1e-6, &mut failed);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Layers of random shapes: convolutions, norms, pools and linear layers in turn.
fn random_layer(stream: &mut Stream, round: usize) -> (Layer, Shape) {
    let image = Shape::image(4 + stream.below(12), 4 + stream.below(12), 1 + stream.below(70));
    let kernel = 1 + stream.below(4);
    let window = Window { kernel, stride: 1 + stream.below(3), padding: stream.below(kernel / 2 + 1) };
    let convolution = Convolution {
        channels: 1 + stream.below(100),
        kernel,
        stride: window.stride,
        padding: stream.below(3),
        bias: stream.below(2) == 1,
    };
    match round % 6 {
        0 | 1 => (Layer::Convolution(convolution), image),
        2 => (Layer::BatchNorm, image),
        3 => (Layer::MaxPool(window), image),
        4 => (Layer::AveragePool(window), image),
        _ => (Layer::Linear { outputs: 1 + stream.below(300) }, Shape::row(1 + stream.below(700))),
    }
}

#[test]
#[ignore = "needs a GPU"]
fn layers_of_random_shapes_agree_with_the_processor() {
    let (mut stream, mut failed) = (Stream::new(7, "shapes", 0), Vec::new());
    for round in 0..36 {
        let (layer, input) = random_layer(&mut stream, round);
        let architecture = single(layer, input);
        let batch = 2 + stream.below(30);
        let x = normal(round as u64, "x", batch * input.size());
        let gradient = normal(round as u64, "gradient", batch * architecture.output_shape().size());
        let settings = cpu::Settings { batch, input_gradient: true, ..cpu::Settings::default() };
        let expected = Pass::of(cpu::network(&architecture, &settings).unwrap().as_mut(), &x, &gradient);
        for (precision, tolerance) in PRECISIONS {
            let mut network = planned(&architecture, &Settings { batch, precision, ..Settings::default() });
            let found = Pass::of(network.as_mut(), &x, &gradient);
            // Two equal numbers may win a window in another order once they are rounded.
            let tolerance = if precision != Precision::F32 && round % 6 == 3 { 1.0 } else { tolerance };
            judge(
                &format!("{precision} {layer:?} {input}, batch {batch}"),
                &found.apart(&expected),
                tolerance,
                &mut failed,
            );
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "needs a GPU"]
fn networks_with_every_kind_of_layer_agree_with_the_processor() {
    let mut failed = Vec::new();
    for architecture in [small_network(), pooled_network()] {
        let (batch, input) = (5, architecture.input_shape());
        let x = normal(3, "x", batch * input.size());
        let gradient = normal(3, "gradient", batch * architecture.output_shape().size());
        let settings = cpu::Settings { batch, input_gradient: true, ..cpu::Settings::default() };
        let expected = Pass::of(cpu::network(&architecture, &settings).unwrap().as_mut(), &x, &gradient);
        for (precision, tolerance) in PRECISIONS {
            let mut network = planned(&architecture, &Settings { batch, precision, ..Settings::default() });
            let found = Pass::of(network.as_mut(), &x, &gradient);
            // Errors of a layer pass through all others, and norms of five examples are steep.
            judge(
                &format!("{precision} {}", architecture.name()),
                &found.apart(&expected),
                20.0 * tolerance,
                &mut failed,
            );
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "needs a GPU"]
fn dropout_draws_what_the_processor_draws() {
    for channels in [16, 13] {
        let net = single(Layer::Dropout { rate: 0.3 }, Shape::image(5, 3, channels));
        let x = normal(1, "x", 7 * 15 * channels);
        let settings = cpu::Settings { batch: 7, seed: 9, ..cpu::Settings::default() };
        let mut processor = cpu::network(&net, &settings).unwrap();
        let settings = Settings { batch: 7, seed: 9, precision: Precision::F32, ..Settings::default() };
        let mut gpu = planned(&net, &settings);
        for step in 0..3 {
            let expected = processor.forward(&Input::Rows(&x), Mode::Train).unwrap().clone();
            assert_eq!(gpu.forward(&Input::Rows(&x), Mode::Train).unwrap(), &expected, "step {step}");
            for network in [&mut processor, &mut gpu] {
                network.backward(&expected).unwrap();
                network.step(0.1).unwrap();
            }
        }
        println!("ok dropout of {channels} channels: the same bits in three steps");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_kept_set_gives_the_crops_of_the_processor() {
    let shape = Shape::image(6, 5, 3);
    let mut stream = Stream::new(2, "pixels", 0);
    let pixels: Vec<u8> = (0..10 * shape.size()).map(|_| stream.word() as u8).collect();
    let normalization = Normalization { mean: vec![0.1, 0.2, 0.3], deviation: vec![0.5, 0.6, 0.7] };
    // Evaluation takes dropout for nothing, so that what comes out is what went in.
    let net = single(Layer::Dropout { rate: 0.5 }, shape);
    let mut gpu = planned(&net, &Settings { batch: 4, precision: Precision::F32, ..Settings::default() });
    let set = gpu.keep(&Set::Images { pixels: &pixels, normalization: &normalization }).unwrap().unwrap();
    let rows: Vec<u32> = vec![3, 9, 0, 0, 7];
    let crops: Vec<Crop> = (0..5).map(|i| Crop { top: i - 2, left: 2 - i, flipped: i % 2 == 1 }).collect();
    let found =
        gpu.forward(&Input::Kept { set, rows: &rows, crops: &crops }, Mode::Evaluate).unwrap().clone();
    let mut expected = Vec::new();
    for (&row, crop) in rows.iter().zip(&crops) {
        for (y, x, c) in (0..6).flat_map(|y| (0..5).flat_map(move |x| (0..3).map(move |c| (y, x, c)))) {
            let column = if crop.flipped { 4 - x } else { x } + i32::from(crop.left);
            let line = y + i32::from(crop.top);
            let inside = (0..6).contains(&line) && (0..5).contains(&column);
            let at = (row as usize * 30 + (line * 5 + column).max(0) as usize) * 3 + c;
            let byte = if inside { pixels[at] } else { 0 };
            expected.push((f32::from(byte) / 255.0 - normalization.mean[c]) / normalization.deviation[c]);
        }
    }
    assert_eq!(found.values(), expected);
    let plain = gpu.forward(&Input::Kept { set, rows: &rows, crops: &[] }, Mode::Evaluate).unwrap().clone();
    let same: Vec<u8> = rows.iter().flat_map(|&row| &pixels[row as usize * 90..][..90]).copied().collect();
    let host =
        gpu.forward(&Input::Images { pixels: &same, normalization: &normalization }, Mode::Evaluate).unwrap();
    assert_eq!(host, &plain);
    println!("ok crops, flips and normalization: the same bits");
}

#[test]
#[ignore = "needs a GPU"]
fn a_kept_table_is_standardized_and_what_is_missing_stands_at_the_mean() {
    let net = single(Layer::Dropout { rate: 0.5 }, Shape::row(3));
    let mut gpu = planned(&net, &Settings { batch: 2, precision: Precision::F32, ..Settings::default() });
    let numbers = [1.0, f32::NAN, 3.0, -4.0, 5.0, 0.5];
    let normalization = Normalization { mean: vec![0.5, 1.0, 2.0], deviation: vec![2.0, 1.0, 0.25] };
    let set = gpu.keep(&Set::Rows { numbers: &numbers, normalization: &normalization }).unwrap().unwrap();
    let found = gpu.forward(&Input::Kept { set, rows: &[1, 0], crops: &[] }, Mode::Evaluate).unwrap();
    assert_eq!(found.values(), [-2.25, 4.0, -6.0, 0.25, 0.0, 4.0]);
    let error = gpu.forward(&Input::Kept { set, rows: &[2], crops: &[] }, Mode::Evaluate).unwrap_err();
    assert_eq!(error.to_string(), "a batch of rows below 2: found 2");
    println!("ok a table: the same bits");
}
