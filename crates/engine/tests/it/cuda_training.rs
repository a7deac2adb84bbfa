//! Whole networks on the GPU: trajectories, files, memory, and bits that repeat.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    thread,
};

use cleanest_engine::{
    Error, Input, Mode, Model, ModelOptions, Network, Optimizer, Parameters, Sgd, Shape,
    cpu::{self, Algorithm},
    cuda::{self, Precision, Selection, Settings},
};

use crate::{
    check::normal,
    conformance::{cross_entropy, input, step},
    cuda::{judge, planned},
};

fn optimizer(model: Model) -> Optimizer {
    match model {
        Model::MnistCnn => Optimizer::default(),
        _ => Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 }),
    }
}

/// Losses of training steps on batches that repeat after eight.
fn losses(network: &mut dyn Network, shape: Shape, (batch, steps): (usize, u64), rate: f64) -> Vec<f64> {
    (0..steps)
        .map(|step| {
            let x = normal(step % 8, "trajectory", batch * shape.size());
            let logits = network.forward(&Input::Rows(&x), Mode::Train).unwrap();
            let (loss, gradient) = cross_entropy(logits);
            network.backward(&gradient).unwrap();
            network.step(rate).unwrap();
            loss
        })
        .collect()
}

#[test]
#[ignore = "needs a GPU"]
fn fifty_steps_follow_the_processor_loss_by_loss() {
    let mut failed = Vec::new();
    for (model, shape, rate) in
        [(Model::MnistCnn, Shape::image(28, 28, 1), 1e-3), (Model::Resnet18, Shape::image(32, 32, 3), 1e-3)]
    {
        let architecture = model.build(&ModelOptions::new(shape, 10)).unwrap();
        let (batch, steps, optimizer) = (32, 50, optimizer(model));
        let processor = |convolution| {
            let settings = cpu::Settings { batch, optimizer, convolution, ..cpu::Settings::default() };
            losses(cpu::network(&architecture, &settings).unwrap().as_mut(), shape, (batch, steps), rate)
        };
        // How far rounding alone carries apart: two ways to compute the same convolutions.
        let (expected, other) = (processor(Algorithm::Auto), processor(Algorithm::Direct));
        let off =
            |found: &[f64]| -> Vec<f64> { found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).collect() };
        let most = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
        let rounding = most(&off(&other));
        println!(
            "{model} on the processor: losses {:.5} to {:.5}, two ways off by {rounding:.1e}",
            expected[0], expected[49]
        );
        for (precision, first, all) in [
            (Precision::F32, 1e-5, 4.0 * rounding),
            (Precision::Tf32, 2e-3, 0.05),
            (Precision::Bf16, 2e-3, 0.1),
        ] {
            let settings = Settings { batch, optimizer, precision, ..Settings::default() };
            let found = losses(
                cuda::network(&architecture, &settings).unwrap().as_mut(),
                shape,
                (batch, steps),
                rate,
            );
            let off = off(&found);
            for (step, (found, expected)) in found.iter().zip(&expected).enumerate().step_by(7) {
                println!("  {model} {precision} step {step}: {found:.6}, on the processor {expected:.6}");
            }
            judge(&format!("{model} {precision}, the first step"), &off[..1], first, &mut failed);
            judge(&format!("{model} {precision}, 50 steps"), &[most(&off)], all, &mut failed);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "needs a GPU"]
fn every_model_learns_and_treats_each_example_alone() {
    for &model in Model::ALL {
        for precision in [Precision::Bf16, Precision::F32] {
            let architecture = model.build(&ModelOptions::new(input(model), 4)).unwrap();
            let x = normal(1, model.name(), 3 * input(model).size());
            let mut network =
                planned(&architecture, &Settings { batch: 3, precision, ..Settings::default() });
            let first = step(network.as_mut(), &x);
            let last = (0..8).map(|_| step(network.as_mut(), &x)).last().unwrap();
            println!("{model} {precision}: the loss went from {first:.4} to {last:.4}");
            assert!(last < first, "{model}: the loss went from {first} to {last}");
            let (size, many) = (input(model).size(), [&x[..], &x[..], &x[..input(model).size()]].concat());
            let together = network.forward(&Input::Rows(&many), Mode::Evaluate).unwrap().clone();
            for example in [0, 2, 6] {
                let alone = &many[example * size..][..size];
                let alone = network.forward(&Input::Rows(alone), Mode::Evaluate).unwrap();
                assert_eq!(alone.values(), together.row(example), "{model}, example {example}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_checkpoint_moves_between_processor_and_gpu_both_ways() {
    let mut failed = Vec::new();
    for model in [Model::MnistCnn, Model::Resnet18, Model::Resnet18Lio] {
        let architecture = model.build(&ModelOptions::new(input(model), 4)).unwrap();
        let (batch, optimizer) = (4, optimizer(model));
        let x = normal(1, model.name(), batch * input(model).size());
        let settings = Settings { batch, optimizer, precision: Precision::F32, ..Settings::default() };
        let mut gpu = cuda::network(&architecture, &settings).unwrap();
        let settings = cpu::Settings { batch, optimizer, ..cpu::Settings::default() };
        let mut processor = cpu::network(&architecture, &settings).unwrap();
        assert_eq!(gpu.parameters().unwrap(), processor.parameters().unwrap(), "{model}: the same start");
        step(gpu.as_mut(), &x);
        let move_over = |from: &dyn Network, to: &mut dyn Network| {
            let bytes = from.parameters().unwrap().to_safetensors().unwrap();
            let state = from.optimizer_state().unwrap().to_safetensors().unwrap();
            to.load(&Parameters::from_safetensors(&bytes).unwrap()).unwrap();
            to.load_optimizer_state(&Parameters::from_safetensors(&state).unwrap()).unwrap();
            assert_eq!(from.parameters().unwrap(), to.parameters().unwrap());
            assert_eq!(from.optimizer_state().unwrap(), to.optimizer_state().unwrap());
        };
        move_over(gpu.as_ref(), processor.as_mut());
        let losses = (step(gpu.as_mut(), &x), step(processor.as_mut(), &x));
        judge(&format!("{model}: a step after moving"), &[(losses.0 - losses.1).abs()], 1e-3, &mut failed);
        move_over(processor.as_ref(), gpu.as_mut());
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A few steps of a network; the hash of every bit of its parameters.
fn trained(model: Model, precision: Precision, selection: Selection) -> u64 {
    let shape = input(model);
    let architecture = model.build(&ModelOptions::new(shape, 10)).unwrap();
    let settings =
        Settings { batch: 64, optimizer: optimizer(model), precision, selection, ..Settings::default() };
    let mut network = cuda::network(&architecture, &settings).unwrap();
    losses(network.as_mut(), shape, (64, 12), 1e-3);
    // A smaller batch has plans of its own.
    losses(network.as_mut(), shape, (20, 3), 1e-3);
    let mut hasher = DefaultHasher::new();
    for (name, tensor) in network.parameters().unwrap().iter() {
        name.hash(&mut hasher);
        tensor.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    }
    hasher.finish()
}

#[test]
#[ignore = "needs a GPU"]
fn training_gives_the_same_bits_again_and_beside_others() {
    for model in [Model::MnistCnn, Model::Resnet18, Model::Resnet18Lio] {
        for precision in [Precision::Bf16, Precision::Tf32, Precision::F32] {
            let first = trained(model, precision, Selection::Reproducible);
            let again = trained(model, precision, Selection::Reproducible);
            // `bench/gpu-tests` compares these lines between two processes.
            println!("BITS {model} {precision} {first:016x}");
            assert_eq!(first, again, "{model} {precision}");
            let beside =
                (0..3).map(|_| thread::spawn(move || trained(model, precision, Selection::Reproducible)));
            for other in beside.collect::<Vec<_>>() {
                assert_eq!(other.join().unwrap(), first, "{model} {precision}, three at once");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_smaller_batch_trains_as_if_planned_for_it() {
    let x = normal(3, "x", 3 * 144);
    let trained = [3, 8].map(|batch| {
        let architecture = Model::MnistCnn.build(&ModelOptions::new(Shape::image(12, 12, 1), 4)).unwrap();
        let mut network = cuda::network(&architecture, &Settings { batch, ..Settings::default() }).unwrap();
        (0..3).for_each(|_| _ = step(network.as_mut(), &x));
        network.parameters().unwrap()
    });
    assert!(trained[0] == trained[1]);
    println!("ok a smaller batch: the same bits");
}

#[test]
#[ignore = "needs a GPU"]
fn a_batch_that_does_not_fit_is_refused_with_one_that_would() {
    let architecture = Model::Resnet18.build(&ModelOptions::new(Shape::image(32, 32, 3), 10)).unwrap();
    let plan = |batch| cuda::network(&architecture, &Settings { batch, ..Settings::default() });
    let error = plan(1_000_000).err().unwrap();
    println!("ok {error}; hint: {}", error.hint().unwrap());
    let Error::Memory { fits: Some(fits), .. } = error else { panic!("{error}") };
    assert!(fits > 10_000, "{fits}");
    let error = cuda::network(&architecture, &Settings { ordinal: 99, ..Settings::default() }).err().unwrap();
    assert!(error.to_string().starts_with("there is no `cuda:99`"), "{error}");
}
