//! The files of the paper's experiments ask for what the paper and its authors' code say, and leave nothing open.
//!
//! They are resolved here on sets of a few examples: whatever a file does not say would come out as the default of
//! small data, and be seen.

use cleanest::experiment::{Config, Keep, Planned, Prepared, Sweep};
use cleanest_core::methods::{Choice, Task};
use cleanest_core::noise::Noise;
use cleanest_data::Augment;
use cleanest_engine::{Adam, Optimizer, Schedule, Sgd};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rates of wrong labels in the paper: clean, symmetric, pair, pair squared, tridiagonal, random.
const RATES: [(&str, f64); 6] = [
    ("clean", 0.0),
    ("symmetric:0.5", 0.5),
    ("pair:0.4", 0.4),
    ("pair2:0.3,0.2", 0.44),
    ("tridiagonal:0.3", 0.42),
    ("random:0.5", 0.5),
];
const METHODS: [&str; 8] = ["mae", "cce", "gce", "forward", "t-revision", "dual-t", "tvg", "tvd"];
const CLASSES_10: &str = "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/paper").join(name)
}

fn idx(lengths: &[u32], bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let head = [0, 0, 8, lengths.len() as u8];
    head.into_iter().chain(lengths.iter().flat_map(|length| length.to_be_bytes())).chain(bytes).collect()
}

/// Twenty examples in the layout of MNIST.
fn mnist(folder: &Path) {
    for part in ["train", "t10k"] {
        let images = idx(&[20, 28, 28], (0..20 * 784).map(|at| at as u8));
        std::fs::write(folder.join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        let labels = idx(&[20], (0..20).map(|at| at % 10));
        std::fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
    }
}

fn record(labels: &[u8]) -> Vec<u8> {
    labels.iter().copied().chain((0..3072).map(|at| at as u8)).collect()
}

/// Two records a file in the layout of CIFAR-10.
fn cifar_10(folder: &Path) {
    let two = |at: u8| [record(&[2 * at % 10]), record(&[(2 * at + 1) % 10])].concat();
    (0..5).for_each(|at| std::fs::write(folder.join(format!("data_batch_{}.bin", at + 1)), two(at)).unwrap());
    std::fs::write(folder.join("test_batch.bin"), two(0)).unwrap();
    std::fs::write(folder.join("batches.meta.txt"), CLASSES_10).unwrap();
}

/// A record for each class in the layout of CIFAR-100, five fine classes in each coarse one.
fn cifar_100(folder: &Path) {
    let all: Vec<u8> = (0..100_u8).flat_map(|fine| record(&[fine % 20, fine])).collect();
    std::fs::write(folder.join("train.bin"), &all).unwrap();
    std::fs::write(folder.join("test.bin"), &all).unwrap();
    let names = |count: u32| (0..count).map(|class| format!("class{class}\n")).collect::<String>();
    std::fs::write(folder.join("fine_label_names.txt"), names(100)).unwrap();
    std::fs::write(folder.join("coarse_label_names.txt"), names(20)).unwrap();
}

/// The runs of a file, each with its configuration resolved on a small set in the right layout.
fn resolved(name: &str, make: fn(&Path)) -> Vec<(Planned, Config, Prepared)> {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let set = format!("data=\"{}\"", folder.path().display());
    let sweep = Sweep::read(&file(name), &[set]).unwrap();
    let resolve = |run: Planned| {
        let data = Prepared::open(&run.config).unwrap();
        let config = run.config.resolved(&data.train).unwrap();
        (run, config, data)
    };
    sweep.runs.into_iter().filter(|run| run.config.seed < 2).map(resolve).collect()
}

/// What holds for every file: noises and methods of the paper, settings of methods.md, nothing paid for in vain.
fn common(runs: &[(Planned, Config, Prepared)], methods: &[&str], prior: f64) {
    let found = |key: fn(&Config) -> String| runs.iter().map(|run| key(&run.1)).collect::<BTreeSet<_>>();
    assert_eq!(found(|config| config.method.clone()), methods.iter().map(ToString::to_string).collect());
    let noises = found(|config| config.noise.as_ref().unwrap().to_string());
    assert_eq!(noises, RATES.iter().map(|(noise, _)| (*noise).to_owned()).collect());
    assert_eq!(runs.len(), methods.len() * RATES.len() * 2);
    for (run, config, data) in runs {
        assert_eq!(
            (config.batch, config.evaluations, config.folds),
            (Some(512), 10, Some(0)),
            "{}",
            run.name
        );
        assert!(!config.audit && config.keep == Keep::Small, "{}", run.name);
        assert!(!config.augment_anchors, "{}", run.name);
        let classes = data.train.labels().classes().len();
        let task = Task { classes, steps: config.steps.unwrap(), seed: config.seed };
        let stages = config.choice().unwrap().build(&task).unwrap().stages();
        let two = ["forward", "t-revision", "dual-t"].contains(&config.method.as_str());
        assert_eq!(stages, if two { 2 } else { 1 }, "{}", run.name);
        assert_eq!(run.cost, config.steps.unwrap() * stages as u64, "{}", run.name);
        method(config, prior);
    }
    for (noise, rate) in RATES {
        let truth = noise.parse::<Noise>().unwrap().transition(10, 3).unwrap();
        assert!((truth.noise_rate() - rate).abs() < 1e-9, "{noise}");
    }
}

/// The settings of a method, as a table of JSON.
fn method(config: &Config, prior: f64) {
    let expected = match config.method.as_str() {
        "mae" => serde_json::json!({ "scale": 1.0 }),
        "gce" => serde_json::json!({ "q": 0.7 }),
        "forward" => serde_json::json!({ "anchors": "argmax" }),
        "t-revision" => serde_json::json!({ "anchors": "argmax", "rate": 2e-6, "warmup": 400 }),
        "dual-t" => serde_json::json!({ "anchors": "argmax", "order": "reference" }),
        "tvg" => {
            serde_json::json!({ "gamma": 0.1, "pairs": 512, "diagonal": 0.5, "rate": 5e-3, "warmup": 400 })
        }
        "tvd" => serde_json::json!({
            "gamma": 0.1, "pairs": 512, "prior": prior, "keep": 0.999, "weight": 0.01, "final_pass": false
        }),
        _ => serde_json::json!({}),
    };
    let found: Choice = config.choice().unwrap();
    assert_eq!(found, Choice::with_settings(&config.method, &expected).unwrap());
    assert!(!found.counts_at_the_end(), "the paper's T is the method's own");
}

#[test]
fn mnist_is_run_as_in_the_paper() {
    let runs = resolved("mnist.toml", mnist);
    common(&runs, &METHODS, 10.0);
    for (run, config, data) in &runs {
        assert_eq!((config.model.as_str(), config.steps), ("mnist-cnn", Some(2000)), "{}", run.name);
        assert_eq!(config.optimizer().unwrap(), Optimizer::Adam(Adam::default()));
        let schedule = config.schedule().unwrap();
        assert_eq!(schedule, Schedule::Exponential { rate: 1e-3, factor: 0.1, steps: 2000 });
        assert!((schedule.rate(2000) - 1e-4).abs() < 1e-12);
        assert_eq!(config.augment, Some(Augment::default()));
        let constants = config.standardization.clone().unwrap();
        assert_eq!((constants.mean, constants.deviation), (vec![0.0], vec![1.0]));
        assert!(data.test.is_some());
    }
}

#[test]
fn cifar_is_run_as_in_the_paper() {
    let ten = ([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]);
    let hundred = ([0.5071, 0.4867, 0.4408], [0.2675, 0.2565, 0.2761]);
    for (name, make, model, methods, (mean, deviation)) in [
        ("cifar10.toml", cifar_10 as fn(&Path), "resnet18-lio", &METHODS[..], ten),
        ("cifar10-standard.toml", cifar_10, "resnet18", &["cce", "forward", "tvg", "tvd"][..], ten),
        ("cifar100.toml", cifar_100, "resnet18-lio", &METHODS[..], hundred),
    ] {
        let runs = resolved(name, make);
        common(&runs, methods, 100.0);
        for (run, config, _) in &runs {
            assert_eq!((config.model.as_str(), config.steps), (model, Some(4000)), "{name}: {}", run.name);
            let sgd = Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-4 });
            assert_eq!(config.optimizer().unwrap(), sgd);
            let schedule = config.schedule().unwrap();
            assert_eq!(schedule, Schedule::Triangle { rate: 0.1, warm_up: 400, steps: 4000 });
            assert_eq!((schedule.rate(0), schedule.rate(400), schedule.rate(4000)), (0.0, 0.1, 0.0));
            assert_eq!(config.augment, Some(Augment { padding: 4, flip: true }));
            let constants = config.standardization.clone().unwrap();
            assert_eq!((constants.mean, constants.deviation), (mean.to_vec(), deviation.to_vec()));
        }
    }
}

#[test]
fn the_classes_of_cifar_are_in_the_order_of_the_authors() {
    let runs = resolved("cifar10.toml", cifar_10);
    let names = runs[0].2.train.labels().classes().names().join(" ");
    assert_eq!(names, "airplane ship automobile truck bird deer frog cat dog horse");
    // In the small set fine class i is in coarse class i mod 20: the five of a coarse class stand side by side.
    let runs = resolved("cifar100.toml", cifar_100);
    let names = runs[0].2.train.labels().classes().names();
    assert_eq!(names[..6].join(" "), "class0 class20 class40 class60 class80 class1");
}

#[test]
fn clothing1m_is_asked_for_as_in_the_paper() {
    let sweep = Sweep::read(&file("clothing1m.toml"), &[]).unwrap();
    let methods: Vec<&str> = sweep.runs.iter().map(|run| run.config.method.as_str()).collect();
    assert_eq!(methods, ["cce", "forward", "t-revision", "dual-t", "tvd"]);
    for Planned { config, .. } in &sweep.runs {
        assert_eq!((config.model.as_str(), config.steps, config.batch), ("resnet50", Some(5000), Some(2048)));
        assert_eq!(config.optimizer().unwrap(), Optimizer::Sgd(Sgd { momentum: 0.9, weight_decay: 1e-3 }));
        let schedule = config.schedule().unwrap();
        assert_eq!(schedule, Schedule::Steps { rate: 1e-3, factor: 0.1, milestones: vec![2500] });
        assert!(config.noise.is_none() && config.weights.is_some());
        assert_eq!(config.augment, Some(Augment { padding: 0, flip: true }));
        assert_eq!(config.read.image_size, Some([224, 224]));
        assert_eq!(config.standardization.clone().unwrap().deviation, [1.0; 3]);
    }
    let tvd = serde_json::to_value(sweep.runs[4].config.choice().unwrap()).unwrap();
    assert_eq!((&tvd["prior"], &tvd["gamma"], &tvd["keep"]), (&1.0.into(), &0.1.into(), &0.999.into()));
    // The counts of 64 devices with 32 images each are averaged: a row of 14 settles at 0.01 x 32 / 14 / 0.001.
    let mass = tvd["weight"].as_f64().unwrap() * 2048.0 / 14.0 / 0.001;
    assert!((mass - 22.86).abs() < 0.01, "{mass}");
}
