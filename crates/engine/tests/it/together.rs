//! Workers that train together learn what one would: the same batch, cut in parts.

use std::sync::Arc;

use cleanest_core::random::Stream;
use cleanest_engine::{
    Architecture, Input, Matrix, Mode, Optimizer, Parameters, Sgd, Shape,
    architecture::{Convolution, Layer},
    cpu::{self, Settings},
    cuda::{self, Precision},
    peers::{Group, Part, part, threads::together},
};

/// The batch sizes of the steps: the last one is too short for four workers.
const BATCHES: [usize; 6] = [12, 12, 11, 12, 5, 2];

/// A network with dropout, and one with batch norms and a residual sum.
fn architectures() -> [Architecture; 2] {
    let shape = Shape::image(8, 8, 3);
    let convolution =
        |channels| Layer::Convolution(Convolution { padding: 1, ..Convolution::new(channels, 3) });
    let mut dropped = Architecture::new("dropped", shape);
    let x = dropped.then("conv", convolution(8), dropped.input()).unwrap();
    let x = dropped.then("relu", Layer::Relu, x).unwrap();
    let x = dropped.then("flatten", Layer::Flatten, x).unwrap();
    let x = dropped.then("dropout", Layer::Dropout { rate: 0.5 }, x).unwrap();
    dropped.then("fc", Layer::Linear { outputs: 5 }, x).unwrap();
    let mut normed = Architecture::new("normed", shape);
    let stem = normed.then("stem", convolution(8), normed.input()).unwrap();
    let stem = normed.then("bn1", Layer::BatchNorm, stem).unwrap();
    let stem = normed.then("relu", Layer::Relu, stem).unwrap();
    let x = normed.then("conv", convolution(8), stem).unwrap();
    let x = normed.then("bn2", Layer::BatchNorm, x).unwrap();
    let x = normed.sum("add", x, stem).unwrap();
    let x = normed.then("pool", Layer::GlobalAveragePool, x).unwrap();
    let x = normed.then("flatten", Layer::Flatten, x).unwrap();
    normed.then("fc", Layer::Linear { outputs: 5 }, x).unwrap();
    [dropped, normed]
}

/// The gradient of some loss of the whole batch, the same for every number of workers.
fn gradient(logits: &[f32], batch: usize) -> Vec<f32> {
    logits.iter().enumerate().map(|(place, logit)| (logit - (place % 7) as f32) / batch as f32).collect()
}

/// Where workers compute.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Processor,
    /// All on the first one, so that what they exchange goes by way of the host.
    Gpu,
}

/// Trains as one of several workers.
fn train(
    architecture: &Architecture,
    group: &Arc<dyn Group>,
    (place, whole_norms): (Place, bool),
) -> Parameters {
    let (rank, size, shape) = (group.rank(), group.size(), architecture.input_shape());
    let optimizer = Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 });
    let (batch, seed) = (12_usize.div_ceil(size), 3);
    let mut network = match place {
        Place::Processor => {
            cpu::network(architecture, &Settings { batch, seed, optimizer, ..Settings::default() })
        }
        Place::Gpu => {
            let precision = Precision::F32;
            cuda::network(
                architecture,
                &cuda::Settings { batch, seed, optimizer, precision, ..cuda::Settings::default() },
            )
        }
    }
    .unwrap();
    let remark = network.join(Arc::clone(group), whole_norms).unwrap();
    assert_eq!(remark.is_some(), place == Place::Gpu && size > 1, "{remark:?}");
    for (step, &batch) in BATCHES.iter().enumerate() {
        let mut stream = Stream::new(1, "numbers", step as u64);
        let numbers: Vec<f32> = (0..batch * shape.size()).map(|_| stream.uniform() as f32).collect();
        let own = part(batch, rank, size);
        let taken = if own.is_empty() { 0..1 } else { own.clone() };
        network.part(Part { first: own.start, own: own.len(), whole: batch });
        let input = Input::Rows(&numbers[taken.start * shape.size()..taken.end * shape.size()]);
        let logits = network.forward(&input, Mode::Train).unwrap().values()[..own.len() * 5].to_vec();
        let bytes: Vec<u8> = logits.iter().flat_map(|logit| logit.to_le_bytes()).collect();
        let all = group.gather(&bytes).concat();
        let all: Vec<f32> =
            all.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        let slopes = gradient(&all, batch);
        let mut mine = slopes[own.start * 5..own.end * 5].to_vec();
        mine.resize(taken.len() * 5, 0.0);
        network.backward(&Matrix::from_values(taken.len(), 5, mine).unwrap()).unwrap();
        network.step(0.05).unwrap();
    }
    network.parameters().unwrap()
}

fn trained(architecture: &Architecture, size: usize, how: (Place, bool)) -> Vec<Parameters> {
    let groups = together(size);
    std::thread::scope(|scope| {
        // Each worker has threads of its own, as processes have: one that waits must not keep another from working.
        let work = |group| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            pool.install(|| train(architecture, group, how))
        };
        let workers = groups.iter().map(|group| scope.spawn(move || work(group)));
        workers.collect::<Vec<_>>().into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

/// The largest distance between two sets of parameters, relative to the largest number.
fn apart(a: &Parameters, b: &Parameters) -> f32 {
    let mut most = 0.0_f32;
    for (name, tensor) in a.iter() {
        let other = &b.tensor(name).unwrap().values;
        let largest = tensor.values.iter().fold(1e-3_f32, |most, number| most.max(number.abs()));
        let distance = tensor.values.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0_f32, f32::max);
        most = most.max(distance / largest);
    }
    most
}

/// Trains with several numbers of workers; how far each ends from one, none of which may be above `allowed`.
fn compare(place: Place, allowed: f32) {
    for architecture in architectures() {
        let (name, how) = (architecture.name(), (place, true));
        let one = trained(&architecture, 1, how).remove(0);
        for size in [2, 3, 4] {
            let all = trained(&architecture, size, how);
            for other in &all[1..] {
                assert_eq!(apart(&all[0], other), 0.0, "{name}: workers differ");
            }
            let distance = apart(&one, &all[0]);
            println!("{name}, {size} workers: {distance:.1e} from one");
            // Sums are rounded in another order, and a norm after a bias leaves nothing but rounding of its gradient.
            assert!(distance < allowed, "{name}, {size} workers: {distance}");
            let again = trained(&architecture, size, how).remove(0);
            assert_eq!(apart(&all[0], &again), 0.0, "{name}: the same again");
        }
    }
}

/// Trains with norms of each worker's own examples.
fn compare_own_norms(place: Place) {
    let [_, architecture] = architectures();
    let [one, whole] =
        [false, true].map(|whole_norms| trained(&architecture, 1, (place, whole_norms)).remove(0));
    // On a GPU the whole batch's statistics are finished by another kernel, with the same formula.
    assert!(apart(&one, &whole) <= if place == Place::Gpu { 1e-6 } else { 0.0 }, "{}", apart(&one, &whole));
    let all = trained(&architecture, 4, (place, false));
    for other in &all[1..] {
        assert_eq!(apart(&all[0], other), 0.0, "workers differ");
    }
    assert!(apart(&one, &all[0]) > 2e-2, "{}", apart(&one, &all[0]));
    // The mean of the batch is the mean of its parts.
    let mean = |parameters: &Parameters| parameters.tensor("bn1.running_mean").unwrap().values.clone();
    let means = mean(&one).into_iter().zip(mean(&all[0]));
    assert!(means.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 0.05);
    assert_eq!(all[0].tensor("bn1.num_batches_tracked").unwrap().values, [BATCHES.len() as f32]);
}

#[test]
fn any_number_of_workers_learns_what_one_does() {
    compare(Place::Processor, 5e-4);
}

#[test]
fn norms_of_each_worker_are_other_norms_and_all_end_with_the_same_statistics() {
    compare_own_norms(Place::Processor);
}

#[test]
#[ignore = "needs a GPU"]
fn cuda_any_number_of_workers_learns_what_one_does() {
    compare(Place::Gpu, 5e-4);
}

#[test]
#[ignore = "needs a GPU"]
fn cuda_norms_of_each_worker_are_other_norms_and_all_end_with_the_same_statistics() {
    compare_own_norms(Place::Gpu);
}

#[test]
#[ignore = "needs a GPU"]
fn cuda_workers_learn_what_those_on_the_processor_do() {
    for architecture in architectures() {
        for whole_norms in [false, true] {
            let [a, b] = [Place::Processor, Place::Gpu]
                .map(|place| trained(&architecture, 3, (place, whole_norms)).remove(0));
            let (name, distance) = (architecture.name(), apart(&a, &b));
            println!("{name}, three workers on a GPU: {distance:.1e} from three on the processor");
            assert!(distance < 1e-3, "{name}, whole norms {whole_norms}: {distance}");
        }
    }
}
