use cleanest::experiment::Config;
use cleanest::run::RunFolder;
use cleanest::train::{Silent, Stop, cross_fit};
use std::path::Path;
fn main() {
    let out = std::env::args().nth(1).unwrap();
    let data = std::env::args().nth(2).unwrap();
    let folds: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    for noise in std::env::args().nth(4).unwrap().split(',') {
        for seed in 0..std::env::args().nth(5).unwrap().parse::<u64>().unwrap() {
            let dir = format!("{out}/{}-{seed}", noise.replace(':', "_"));
            let run = RunFolder::create(Path::new(&dir)).unwrap();
            let config = Config {
                data: data.clone().into(),
                noise: Some(noise.parse().unwrap()),
                seed,
                ..Config::default()
            };
            let stop = Stop::default();
            let (prepared, outcome) = run.fit(&config, &stop, &mut Silent).unwrap();
            let config = run.config().unwrap();
            let npy = |name: &str, m: &cleanest_core::Matrix| {
                let mut b = cleanest_core::npy::Header::write(
                    cleanest_core::npy::Element::F64,
                    &[m.rows(), m.columns()],
                );
                b.extend(m.values().iter().flat_map(|v| v.to_le_bytes()));
                std::fs::write(format!("{dir}/{name}.npy"), b).unwrap();
            };
            npy("running", &outcome.running_mean);
            npy("final", &outcome.probabilities);
            if folds > 0 {
                let cf = cross_fit(&run, (&config, folds), &prepared, &stop, &mut Silent).unwrap();
                npy("cf", &cf.probabilities);
                npy("cft", cf.transition.matrix());
            }
            npy("T", prepared.truth.as_ref().unwrap().matrix());
            let int = |v: &[u32]| cleanest_core::Matrix::from_vec(1, v.iter().map(|&x| x as f64).collect());
            npy("noisy", &int(prepared.train.labels().indices()));
            npy("clean", &int(prepared.clean.as_ref().unwrap()));
        }
    }
}
