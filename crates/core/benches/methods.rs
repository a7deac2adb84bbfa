//! What a training step of each method costs on one core, for a batch of 512: `cargo bench -p cleanest-core`.
//!
//! Methods are measured where a run spends its time: in their last stage, with every entry of T in use.
#![allow(clippy::unwrap_used)]

use cleanest_core::Matrix;
use cleanest_core::estimate::Posteriors;
use cleanest_core::methods::maths::Softmax;
use cleanest_core::methods::{Alone, Batch, Choice, Method, State, Task};
use cleanest_core::noise::{Dirichlet, Noise};
use cleanest_core::random::Stream;
use divan::{Bencher, black_box};
use serde_json::json;

const BATCH: usize = 512;

fn main() {
    divan::main();
}

/// Logits of a classifier in training, and labels.
fn batch(classes: usize) -> (Matrix, Vec<u32>) {
    let mut stream = Stream::new(0, "bench", 0);
    let logits = Matrix::from_fn(BATCH, classes, |row, class| {
        stream.normal() + if row % classes == class { 6.0 } else { 0.0 }
    });
    (logits, (0..BATCH).map(|row| (row / 2 % classes) as u32).collect())
}

fn symmetric(classes: usize) -> Matrix {
    "symmetric:0.5".parse::<Noise>().unwrap().transition(classes, 0).unwrap().matrix().clone()
}

fn in_use(name: &str, classes: usize) -> Box<dyn Method> {
    let given = if name == "known-t" { json!({"noise": "symmetric:0.5"}) } else { json!({}) };
    let task = Task { classes, steps: 1_000_000, seed: 0 };
    let mut method = Choice::with_settings(name, &given).unwrap().build(&task).unwrap();
    if method.stages() > 1 {
        let labels: Vec<u32> = (0..classes as u32).collect();
        let posteriors = symmetric(classes);
        method.begin(1, Some(&Posteriors::new(&posteriors, &labels).unwrap())).unwrap();
    }
    if name == "tvd" {
        // The mass a row of counts settles at: 0.01 * batch / classes / 0.001.
        let mass = 10.0 * BATCH as f64 / classes as f64;
        let counts: Vec<f64> = symmetric(classes).values().iter().map(|share| share * mass).collect();
        method.restore(&State::default().with("counts", &counts)).unwrap();
    }
    method
}

/// Loss and update.
#[divan::bench(args = Choice::NAMES, consts = [10, 100])]
fn step<const CLASSES: usize>(bencher: Bencher<'_, '_>, name: &&str) {
    let (logits, labels) = batch(CLASSES);
    let mut method = in_use(name, CLASSES);
    let mut gradient = Matrix::default();
    let mut step = 0;
    bencher.bench_local(|| {
        let batch = Batch { logits: &logits, labels: &labels, seed: 0, step };
        let loss = method.loss(black_box(&batch), &mut gradient);
        method.update(&batch, &Alone);
        step += 1;
        loss
    });
}

/// One matrix from the counts of a long TVD run.
#[divan::bench(args = [10, 100])]
fn draw_transition(bencher: Bencher<'_, '_>, classes: usize) {
    let mass = 10.0 * BATCH as f64 / classes as f64;
    let mut counts = symmetric(classes);
    counts.values_mut().iter_mut().for_each(|share| *share *= mass);
    let counts = Dirichlet::new(counts).unwrap();
    let mut stream = Stream::new(0, "bench", 0);
    let mut logs = Matrix::default();
    bencher.bench_local(|| counts.draw_logs(&mut logs, &mut stream));
}

/// The probabilities of a batch of 100 classes: ours against a loop over the standard library's `exp`.
#[divan::bench(args = ["ours", "std"])]
fn softmax(bencher: Bencher<'_, '_>, whose: &str) {
    let (logits, _) = batch(100);
    let (mut softmax, mut plain) = (Softmax::default(), logits.clone());
    let ours = whose == "ours";
    bencher.bench_local(|| {
        if ours {
            softmax.of(black_box(&logits));
        } else {
            for (row, logits) in plain.iter_rows_mut().zip(black_box(&logits).iter_rows()) {
                let largest = logits.iter().copied().fold(f64::MIN, f64::max);
                row.iter_mut().zip(logits).for_each(|(p, logit)| *p = (logit - largest).exp());
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|p| *p /= sum);
            }
        }
    });
}

/// Ten thousand random numbers.
#[divan::bench]
fn uniforms(bencher: Bencher<'_, '_>) {
    let mut stream = Stream::new(0, "bench", 0);
    let mut numbers = vec![0.0; 10_000];
    bencher.bench_local(|| stream.uniforms(black_box(&mut numbers)));
}
