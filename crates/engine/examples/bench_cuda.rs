//! Times whole training steps on a GPU: forward, the loss of TVD on the host, backward, optimizer.
//!
//! `cargo run --release -p cleanest-engine --example bench_cuda -- MODEL PRECISION MODE [BATCH [CLASSES [STEPS [JOBS]]]]`
//! prints one line of JSON: milliseconds of a step, mean and median, what the start took, and with several jobs the
//! steps a second of all of them together. Started as one of several workers (`torchrun`, or `RANK`, `WORLD_SIZE`,
//! `MASTER_ADDR` and `MASTER_PORT`) it trains with the others by NCCL, a batch of this size each; CLEANEST_EXERCISE lets one
//! worker do what several do, SYNC_BATCH_NORM lets batch norms see the whole batch. Images are random bytes that the GPU
//! keeps; CIFAR's are cropped and turned.

use std::{
    error::Error,
    sync::{Arc, Barrier},
    thread,
    time::Instant,
};

use cleanest_core::{
    Matrix,
    methods::{Alone, Batch, Choice, Method, Task},
    random::Stream,
};
use cleanest_engine::{
    Adam, Crop, Input, Mode, Model, ModelOptions, Network, Normalization, Optimizer, Set, Sgd, Shape,
    cuda::{self, Settings},
    peers::{Group, Part, gpus, launch::Launch},
};

const WARM_UP: usize = 30;
const EXAMPLES: usize = 20_000;

type Failure = Box<dyn Error + Send + Sync>;

/// What is measured.
#[derive(Clone, Debug)]
struct Job {
    model: Model,
    settings: Settings,
    classes: usize,
    steps: usize,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, precision, mode, rest @ ..] = &arguments[..] else {
        return Err("expected MODEL PRECISION MODE".into());
    };
    let number = |index: usize, otherwise: usize| rest.get(index).map_or(Ok(otherwise), |text| text.parse());
    let model: Model = model.parse()?;
    let optimizer = match model {
        Model::MnistCnn | Model::Mlp | Model::Linear => Optimizer::Adam(Adam::default()),
        _ => Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 }),
    };
    let (precision, selection) = (precision.parse()?, mode.parse()?);
    let settings =
        Settings { batch: number(0, 512)?, optimizer, precision, selection, ..Settings::default() };
    let job = Job { model, settings, classes: number(1, 10)?, steps: number(2, 200)? };
    let jobs = number(3, 1)?;
    let barrier = Barrier::new(jobs);
    let results: Vec<Result<Times, Failure>> = thread::scope(|scope| {
        let started: Vec<_> = (0..jobs).map(|_| scope.spawn(|| run(&job, &barrier))).collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a job failed".into())))
            .collect()
    });
    let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let together: f64 = results.iter().map(|times| 1e3 / times.mean).sum();
    let Times { mean, median, start, first, loss } = results[0];
    println!(
        "{{\"model\": \"{model}\", \"precision\": \"{precision}\", \"mode\": \"{selection}\", \"batch\": {}, \
         \"classes\": {}, \"jobs\": {jobs}, \"mean\": {mean:.4}, \"median\": {median:.4}, \"start\": {start:.3}, \
         \"first_step\": {first:.3}, \"steps_per_second\": {together:.1}, \"loss\": {loss:.4}}}",
        job.settings.batch, job.classes
    );
    Ok(())
}

/// What was measured: milliseconds of a step, seconds until the network was there and until its first step was made.
#[derive(Clone, Copy, Debug)]
struct Times {
    mean: f64,
    median: f64,
    start: f64,
    first: f64,
    loss: f64,
}

fn run(job: &Job, barrier: &Barrier) -> Result<Times, Failure> {
    let begun = Instant::now();
    let shape = match job.model {
        Model::MnistCnn => Shape::image(28, 28, 1),
        Model::Resnet50 => Shape::image(224, 224, 3),
        _ => Shape::image(32, 32, 3),
    };
    let architecture = job.model.build(&ModelOptions::new(shape, job.classes))?;
    let mut network = cuda::network(&architecture, &job.settings)?;
    let workers = match Launch::found()? {
        Some(launch) if gpus::is_arranged() => {
            let group = gpus::join((launch.rank, launch.size), job.settings.ordinal)?;
            network.join(Arc::clone(&group), std::env::var_os("SYNC_BATCH_NORM").is_some())?;
            let (own, whole) = (job.settings.batch, job.settings.batch * launch.size);
            network.part(Part { first: launch.rank * own, own, whole });
            Some(group)
        }
        _ => None,
    };
    let mut stream = Stream::new(1, "pixels", 0);
    let examples = if job.model == Model::Resnet50 { 2_000 } else { EXAMPLES };
    let pixels: Vec<u8> = (0..examples * shape.size()).map(|_| stream.word() as u8).collect();
    let normalization = Normalization::default();
    let set = network.keep(&Set::Images { pixels: &pixels, normalization: &normalization })?;
    let set = set.ok_or("the images do not fit")?;
    let start = begun.elapsed().as_secs_f64();
    let task = Task { classes: job.classes, steps: 2000, seed: 1 };
    let settings = serde_json::json!({});
    let mut method = Choice::with_settings("tvd", &settings)?.build(&task)?;
    let mut buffers = Buffers { workers, ..Buffers::default() };
    // A step ends when its logits are there: times lie between the moments they came.
    let mut marks = Vec::new();
    let (mut first, mut loss) = (0.0, 0.0);
    for step in 0..=WARM_UP + job.steps {
        if step == WARM_UP {
            buffers.spent = [0.0; 4];
            barrier.wait();
        }
        let rows: Vec<u32> = (0..job.settings.batch).map(|_| stream.below(examples) as u32).collect();
        let crops: Vec<Crop> = match job.model {
            Model::MnistCnn => Vec::new(),
            _ => rows
                .iter()
                .map(|&row| Crop { top: (row % 9) as i16 - 4, left: 0, flipped: row % 2 == 1 })
                .collect(),
        };
        let input = Input::Kept { set, rows: &rows, crops: &crops };
        loss = buffers.step(network.as_mut(), method.as_mut(), &input, step as u64)?;
        marks.push(buffers.mark.map_or(0.0, |mark| mark.duration_since(begun).as_secs_f64() * 1e3));
        if step == 0 {
            network.parameters()?;
            first = begun.elapsed().as_secs_f64();
        }
    }
    let marks = &marks[WARM_UP..];
    let mean = (marks[job.steps] - marks[0]) / job.steps as f64;
    let mut times: Vec<f64> = marks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let spent = buffers.spent.map(|spent| format!("{:.3}", spent * 1e3 / job.steps as f64));
    eprintln!("forward, loss, backward and step, update: {} ms", spent.join(", "));
    times.sort_by(f64::total_cmp);
    Ok(Times { mean, median: times[times.len() / 2], start, first, loss })
}

#[derive(Default)]
struct Buffers {
    /// Those it trains with.
    workers: Option<Arc<dyn Group>>,
    /// Seconds in `forward`, in the loss, in `backward` with `step`, and in what follows.
    spent: [f64; 4],
    /// When the last logits came.
    mark: Option<Instant>,
    logits: Matrix,
    gradient: Matrix,
    slopes: cleanest_engine::Matrix,
}

impl Buffers {
    fn step(
        &mut self,
        network: &mut dyn Network,
        method: &mut dyn Method,
        input: &Input<'_>,
        step: u64,
    ) -> Result<f64, Failure> {
        let clock = Instant::now();
        let found = network.forward(input, Mode::Train)?;
        self.mark = Some(Instant::now());
        let forward = clock.elapsed().as_secs_f64();
        if let Some(workers) = self.workers.as_ref().filter(|all| all.size() > 1 || all.is_exercise()) {
            let mut bytes = vec![0; size_of_val(found.values())];
            let places = bytes.chunks_exact_mut(4).zip(found.values());
            places.for_each(|(bytes, logit)| bytes.copy_from_slice(&logit.to_le_bytes()));
            std::hint::black_box(workers.gather_known(&bytes, &vec![bytes.len(); workers.size()]));
        }
        self.logits.reshape(found.rows(), found.columns());
        let wide = self.logits.values_mut().iter_mut().zip(found.values());
        wide.for_each(|(wide, &logit)| *wide = f64::from(logit));
        let labels: Vec<u32> = (0..found.rows()).map(|row| (row % found.columns()) as u32).collect();
        let batch = Batch { logits: &self.logits, labels: &labels, seed: 1, step };
        let loss = method.loss(&batch, &mut self.gradient);
        self.slopes.resize(self.gradient.rows(), self.gradient.columns());
        let narrow = self.slopes.values_mut().iter_mut().zip(self.gradient.values());
        narrow.for_each(|(narrow, &slope)| *narrow = slope as f32);
        let lost = clock.elapsed().as_secs_f64();
        network.backward(&self.slopes)?;
        network.step(1e-3)?;
        let stepped = clock.elapsed().as_secs_f64();
        method.update(&batch, &Alone);
        let marks = [forward, lost - forward, stepped - lost, clock.elapsed().as_secs_f64() - stepped];
        self.spent.iter_mut().zip(marks).for_each(|(spent, mark)| *spent += mark);
        Ok(loss)
    }
}
