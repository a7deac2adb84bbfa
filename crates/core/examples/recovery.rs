//! How well each method recovers the noise without any network: `cargo run --release -p cleanest-core --example recovery`.
//!
//! Three Gaussian classes, far apart or overlapping as in the paper's overconfidence example, and a classifier that is
//! a softmax of a linear map of quadratic features: it can express the true posteriors exactly.
#![allow(clippy::unwrap_used)]

#[path = "../tests/it/mixture.rs"]
mod mixture;

use cleanest_core::Matrix;
use cleanest_core::methods::Choice;
use cleanest_core::noise::{Noise, Transition};
use cleanest_core::stats::Summary;
use mixture::{Mixture, train};

const SEEDS: u64 = 5;

fn main() {
    // The noise of the paper's example: two row-stochastic matrices one after the other.
    let example =
        Transition::new(Matrix::from_vec(3, vec![0.70, 0.25, 0.05, 0.15, 0.60, 0.25, 0.05, 0.15, 0.80]))
            .unwrap();
    let second =
        Transition::new(Matrix::from_vec(3, vec![0.90, 0.05, 0.05, 0.15, 0.80, 0.05, 0.0, 0.10, 0.90]))
            .unwrap();
    let example = example.then(&second).unwrap();
    let pair = "pair:0.4".parse::<Noise>().unwrap().transition(3, 0).unwrap();
    println!(
        "average TV x100 of the noise as the method says it, as its classifier implies it; accuracy in percent"
    );
    println!("mean(deviation) over {SEEDS} seeds\n");
    println!(
        "| classes | noise | method | T of the method | T implied | accuracy |\n|---|---|---|---|---|---|"
    );
    for (classes, mixture) in [("separated", Mixture::SEPARATED), ("overlapping", Mixture::OVERLAPPING)] {
        for (noise, transition) in [("pair:0.4", &pair), ("the paper's", &example)] {
            for method in ["cce", "gce", "tvg", "tvd", "volminnet"] {
                row([classes, noise, method], &mixture, transition);
            }
        }
    }
}

fn row(names: [&str; 3], mixture: &Mixture, noise: &Transition) {
    let method = Choice::named(names[2]).unwrap();
    let outcomes: Vec<_> = (0..SEEDS).map(|seed| train(mixture, noise, &method, seed)).collect();
    let error = |found: &Transition| 100.0 * found.average_tv(noise).unwrap();
    let over = |values: Vec<f64>| Summary::of(&values).map_or("-".to_owned(), |summary| summary.to_string());
    let learnt = over(outcomes.iter().filter_map(|outcome| outcome.learnt.as_ref().map(error)).collect());
    let implied = over(outcomes.iter().map(|outcome| error(&outcome.implied)).collect());
    let accuracy = over(outcomes.iter().map(|outcome| 100.0 * outcome.accuracy).collect());
    println!("| {} | {learnt} | {implied} | {accuracy} |", names.join(" | "));
}
