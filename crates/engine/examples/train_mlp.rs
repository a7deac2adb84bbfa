//! The whole interface: two classes of points, told apart by a small network.
//!
//! `cargo run --release -p cleanest-engine --example train_mlp`

use cleanest_core::random::Stream;
use cleanest_engine::{
    Error, Input, Matrix, Mode, Model, ModelOptions, Parameters, Schedule, Shape,
    cpu::{self, Settings},
};

const BATCH: usize = 64;

fn main() -> Result<(), Error> {
    let options = ModelOptions { hidden: vec![32, 32], ..ModelOptions::new(Shape::row(2), 2) };
    let architecture = Model::Mlp.build(&options)?;
    let mut network = cpu::network(&architecture, &Settings { batch: BATCH, ..Settings::default() })?;
    let schedule = Schedule::Exponential { rate: 1e-2, factor: 0.1, steps: 500 };

    let mut gradient = Matrix::zeros(BATCH, 2);
    for step in 0..500 {
        let (points, labels) = ring(step);
        let logits = network.forward(&Input::Rows(&points), Mode::Train)?;
        // Softmax cross-entropy: the gradient of the logits is the probability, less one for the label.
        for (row, slopes) in gradient.values_mut().chunks_exact_mut(2).enumerate() {
            let probability = 1.0 / (1.0 + (logits.row(row)[0] - logits.row(row)[1]).exp());
            let wrong = (probability - f32::from(labels[row])) / BATCH as f32;
            slopes.copy_from_slice(&[-wrong, wrong]);
        }
        network.backward(&gradient)?;
        network.step(schedule.rate(step))?;
    }

    let saved = network.parameters()?.to_safetensors()?;
    let mut copy = cpu::network(&architecture, &Settings::default())?;
    copy.load(&Parameters::from_safetensors(&saved)?)?;
    let (points, labels) = ring(1_000_000);
    let logits = copy.forward(&Input::Rows(&points), Mode::Evaluate)?;
    let right = |&row: &usize| (logits.row(row)[1] > logits.row(row)[0]) == (labels[row] == 1);
    println!("{} of {BATCH} points on their side of the circle", (0..BATCH).filter(right).count());
    Ok(())
}

/// Points, and whether each lies within the unit circle.
fn ring(step: u64) -> (Vec<f32>, Vec<u8>) {
    let mut stream = Stream::new(1, "ring", step);
    let points: Vec<f32> = (0..2 * BATCH).map(|_| stream.normal() as f32).collect();
    let labels = points.chunks(2).map(|p| u8::from(p[0] * p[0] + p[1] * p[1] < 1.0)).collect();
    (points, labels)
}
