//! What the trainer adds to bare steps of the engine: `cargo run --release -p cleanest --example overhead`.
//!
//! Both train the MNIST CNN with batches of 512 random images, in turn; a trainer's step also prepares the batch, runs the
//! method (TVD), and looks whether anything is due.

use cleanest::Error;
use cleanest::experiment::Config;
use cleanest::run::RunFolder;
use cleanest::train::{Architect, Observer, Progress, Stop};
use cleanest_core::npy::{Element, Header};
use cleanest_core::random::Stream;
use cleanest_data::Shape;
use cleanest_engine::{Input, Matrix, Mode};
use std::path::Path;
use std::time::Instant;

const BATCH: usize = 512;
const STEPS: u64 = 13;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("cleanest-overhead-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    write_images(&folder)?;
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let config = config(&folder);
        let (bare, trainer) = (bare(&config)?, trainer(&config, &folder.join(format!("run-{round}")))?);
        println!("bare {bare:.1} ms, trainer {trainer:.1} ms");
        ratios.push(trainer / bare);
    }
    println!("the trainer adds {:.1} % (median of {ROUNDS} rounds)", 100.0 * (median(ratios) - 1.0));
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn write_images(folder: &Path) -> std::io::Result<()> {
    let mut stream = Stream::new(0, "images", 0);
    let mut images = Header::write(Element::U8, &[4 * BATCH, 28, 28]);
    images.extend((0..4 * BATCH * 28 * 28).map(|_| stream.word() as u8));
    let mut labels = Header::write(Element::U8, &[4 * BATCH]);
    labels.extend((0..4 * BATCH).map(|row| (row % 10) as u8));
    std::fs::write(folder.join("x.npy"), images)?;
    std::fs::write(folder.join("y.npy"), labels)
}

fn config(folder: &Path) -> Config {
    let mut config = Config {
        data: folder.join("x.npy"),
        model: "mnist-cnn".into(),
        batch: Some(BATCH),
        steps: Some(STEPS),
        evaluations: 1,
        ..Config::default()
    };
    config.read.labels = Some(folder.join("y.npy"));
    config
}

/// The median step of the engine alone, in milliseconds.
fn bare(config: &Config) -> Result<f64, Error> {
    let config = Config { optimizer: "name = 'adam'".parse().unwrap_or_default(), ..config.clone() };
    let mut network =
        Architect::new(&config, Shape::Image { height: 28, width: 28, channels: 1 }, 10)?.network(0)?;
    let values = vec![0.5; BATCH * 28 * 28];
    let mut gradient = Matrix::zeros(BATCH, 10);
    gradient.values_mut().iter_mut().enumerate().for_each(|(at, slope)| *slope = (at % 7) as f32 * 1e-5);
    let mut times = Vec::new();
    for _ in 0..STEPS {
        let begun = Instant::now();
        network.forward(&Input::Rows(&values), Mode::Train)?;
        network.backward(&gradient)?;
        network.step(1e-3)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

/// The median step of a whole run, in milliseconds.
fn trainer(config: &Config, folder: &Path) -> Result<f64, Error> {
    struct Clock(Vec<Instant>);
    impl Observer for Clock {
        fn step(&mut self, _progress: &Progress<'_>) {
            self.0.push(Instant::now());
        }
        fn note(&mut self, _sentence: &str) {}
    }
    let mut clock = Clock(Vec::new());
    RunFolder::create(folder)?.fit(config, &Stop::default(), &mut clock)?;
    Ok(median(clock.0.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3).collect()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
