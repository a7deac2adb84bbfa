//! Times whole training steps: forward, cross-entropy, backward, optimizer.
//!
//! `cargo run --release -p cleanest-engine --example bench_step -- MODEL BATCH STEPS [--direct]` prints one line of
//! JSON: milliseconds of each step after a warm-up, the loss of the last one, peak memory in MiB. Images come as bytes, rows
//! as numbers. Threads are `RAYON_NUM_THREADS`.

use std::{error::Error, time::Instant};

use cleanest_core::random::Stream;
use cleanest_engine::{
    Adam, Input, Matrix, Mode, Model, ModelOptions, Normalization, Optimizer, Sgd, Shape,
    cpu::{self, Algorithm, Settings},
};

const WARM_UP: usize = 2;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // On a thread of the pool, a step does not have to find its way there.
    rayon::scope(|_| run())
}

fn run() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, batch, steps, ..] = &arguments[..] else {
        return Err("expected MODEL BATCH STEPS".into());
    };
    let (model, batch, steps): (Model, usize, usize) = (model.parse()?, batch.parse()?, steps.parse()?);
    let direct = arguments.iter().any(|argument| argument == "--direct");
    let input = match model {
        Model::MnistCnn => Shape::image(28, 28, 1),
        Model::Mlp | Model::Linear => Shape::row(512),
        Model::Resnet50 => Shape::image(224, 224, 3),
        _ => Shape::image(32, 32, 3),
    };
    let optimizer = match model {
        Model::MnistCnn | Model::Mlp | Model::Linear => Optimizer::Adam(Adam::default()),
        _ => Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 }),
    };
    let convolution = if direct { Algorithm::Direct } else { Algorithm::Auto };
    let architecture = model.build(&ModelOptions::new(input, 10))?;
    let mut network =
        cpu::network(&architecture, &Settings { batch, optimizer, convolution, ..Settings::default() })?;

    let mut stream = Stream::new(1, "pixels", 0);
    let pixels: Vec<u8> = (0..batch * input.size()).map(|_| stream.word() as u8).collect();
    let numbers: Vec<f32> = pixels.iter().map(|&byte| f32::from(byte) / 255.0).collect();
    let (normalization, mut gradient) = (Normalization::default(), Matrix::zeros(batch, 10));
    let input = match input.height {
        1 => Input::Rows(&numbers),
        _ => Input::Images { pixels: &pixels, normalization: &normalization },
    };
    let (mut times, mut loss) = (Vec::new(), 0.0);
    for _ in 0..WARM_UP + steps {
        let start = Instant::now();
        loss = cross_entropy(network.forward(&input, Mode::Train)?, &mut gradient);
        network.backward(&gradient)?;
        network.step(1e-3)?;
        times.push(format!("{:.3}", start.elapsed().as_secs_f64() * 1e3));
    }
    let times = times[WARM_UP..].join(", ");
    println!("{{\"milliseconds\": [{times}], \"loss\": {loss:.4}, \"peak_mib\": {}}}", peak_mib());
    Ok(())
}

/// The mean loss against made-up labels, and its gradient.
fn cross_entropy(logits: &Matrix, gradient: &mut Matrix) -> f64 {
    let (rows, columns) = (logits.rows(), logits.columns());
    let mut loss = 0.0;
    for (row, slopes) in gradient.values_mut().chunks_exact_mut(columns).enumerate() {
        let (logits, label) = (logits.row(row), (row * 7 + row / 3) % columns);
        let most = logits.iter().fold(f32::MIN, |most, &x| most.max(x));
        slopes.iter_mut().zip(logits).for_each(|(slope, x)| *slope = (x - most).exp());
        let sum: f32 = slopes.iter().sum();
        for slope in &mut *slopes {
            *slope /= sum * rows as f32;
        }
        slopes[label] -= 1.0 / rows as f32;
        loss += f64::from(sum.ln() + most - logits[label]) / rows as f64;
    }
    loss
}

/// The most memory this process has had, where the system tells.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
