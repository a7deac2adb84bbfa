//! Times whole training steps of several workers on processors, and what of the exchange is hidden behind computing.
//!
//! `cargo build --release -p cleanest-engine --features mpi --example bench_together`, then
//! `mpirun -n N target/release/examples/bench_together MODEL BATCH STEPS`, where BATCH is that of one worker. Prints one
//! line of JSON: milliseconds of a step, fastest and median, and of the exchange of gradients in a step: how long it was
//! under way, and how long the training waited for it.

use std::{error::Error, sync::Arc, time::Instant};

use cleanest_core::random::Stream;
use cleanest_engine::{
    Input, Matrix, Mode, Model, ModelOptions, Optimizer, Sgd, Shape,
    cpu::{self, Settings},
    peers::{Alone, Group, Part, launch::Launch, mpi},
};

const WARM_UP: usize = 3;
const CLASSES: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, batch, steps] = &arguments[..] else { return Err("expected MODEL BATCH STEPS".into()) };
    let (model, batch, steps): (Model, usize, usize) = (model.parse()?, batch.parse()?, steps.parse()?);
    let group: Arc<dyn Group> = if Launch::found()?.is_some() { mpi::join()? } else { Arc::new(Alone) };
    let (rank, size) = (group.rank(), group.size());
    let shape = if model == Model::MnistCnn { Shape::image(28, 28, 1) } else { Shape::image(32, 32, 3) };
    let architecture = model.build(&ModelOptions::new(shape, CLASSES))?;
    let optimizer = Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 });
    let mut network = cpu::network(&architecture, &Settings { batch, optimizer, ..Settings::default() })?;
    if size > 1 {
        network.join(Arc::clone(&group), false)?;
        network.part(Part { first: rank * batch, own: batch, whole: size * batch });
    }
    let mut stream = Stream::new(1, "numbers", rank as u64);
    let numbers: Vec<f32> = (0..batch * shape.size()).map(|_| stream.uniform() as f32).collect();
    let (mut times, mut before) = (Vec::new(), group.exchanged());
    for step in 0..WARM_UP + steps {
        if step == WARM_UP {
            before = group.exchanged();
        }
        let clock = Instant::now();
        let logits = network.forward(&Input::Rows(&numbers), Mode::Train)?.clone();
        let bytes: Vec<u8> = logits.values().iter().flat_map(|logit| logit.to_le_bytes()).collect();
        let all = group.gather_known(&bytes, &vec![bytes.len(); size]);
        std::hint::black_box(all);
        let slopes = logits.values().iter().map(|logit| (logit - 0.1) / (batch * size) as f32).collect();
        network.backward(&Matrix::from_values(batch, CLASSES, slopes)?)?;
        network.step(1e-3)?;
        if step >= WARM_UP {
            times.push(clock.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    let after = group.exchanged();
    let each = |now: std::time::Duration, then: std::time::Duration| {
        now.saturating_sub(then).as_secs_f64() * 1e3 / steps as f64
    };
    if rank == 0 {
        println!(
            "{{\"model\": \"{model}\", \"workers\": {size}, \"threads\": {}, \"batch\": {batch}, \"fastest\": {:.2}, \
             \"median\": {:.2}, \"numbers\": {}, \"exchange\": {:.2}, \"waited\": {:.2}}}",
            rayon::current_num_threads(),
            times[0],
            times[times.len() / 2],
            (after.numbers - before.numbers) / steps as u64,
            each(after.busy, before.busy),
            each(after.waited, before.waited),
        );
    }
    group.leave();
    Ok(())
}
