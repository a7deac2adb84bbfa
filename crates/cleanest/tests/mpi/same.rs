//! Any number of workers finds the same.

use crate::{LONG, WORDS, alone, apart, assert_near, assert_same, bytes, done, started, workers};
use cleanest_core::random::Stream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[test]
fn one_two_and_four_workers_end_with_the_same_matrix_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // One stage with counts, one by gradient, two stages; with folds and their audit.
    for method in ["tvd", "tvg", "t-revision"] {
        let words = WORDS.replace("tvd", method);
        let run = |name: &str| path.join(format!("{method}-{name}"));
        let expected = alone(path, &format!("{words} --out {method}-1"));
        for count in [2, 4] {
            let found = done(workers(path, count, &format!("{words} --out {method}-{count}")));
            assert_same(&run("1"), &run(&count.to_string()));
            let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().next().unwrap().to_owned();
            assert_eq!(said(&found.stdout), said(&expected.stdout), "what is said, and by one worker");
            assert_eq!(String::from_utf8_lossy(&found.stdout).matches("look at").count(), 1);
        }
    }
}

#[test]
fn two_runs_of_the_same_size_have_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for count in [2, 3] {
        for run in ["a", "b"] {
            done(workers(path, count, &format!("{WORDS} --out {count}{run}")));
        }
        for file in ["model.safetensors", "transition.json", "metrics.jsonl", "posteriors.npy", "config.toml"]
        {
            let of = |run: &str| bytes(&path.join(format!("{count}{run}")), file);
            assert_eq!(of("a"), of("b"), "{count} workers: {file}");
        }
    }
}

#[test]
fn a_short_batch_has_nothing_for_some_workers_and_counts_right() {
    let folder = tempfile::tempdir().unwrap();
    // 1,438 examples are 8 batches of 179 and one of 6, or 7 of 205 and one of 3.
    for batch in [179, 205] {
        let words = format!("{WORDS} --batch {batch} --set audit=false").replace("--folds 2", "--folds 0");
        alone(folder.path(), &format!("{words} --out {batch}-1"));
        done(workers(folder.path(), 4, &format!("{words} --out {batch}-4")));
        assert_same(&folder.path().join(format!("{batch}-1")), &folder.path().join(format!("{batch}-4")));
    }
}

/// A few square images in the files of MNIST: a residual network takes its time.
fn images(folder: &Path, side: u32) {
    std::fs::create_dir(folder).unwrap();
    for (part, count) in [("train", 48_u32), ("t10k", 6)] {
        let mut stream = Stream::new(5, part, 0);
        let mut images = vec![0, 0, 8, 3];
        images.extend([count, side, side].iter().flat_map(|length| length.to_be_bytes()));
        images.extend((0..count * side * side).map(|_| stream.word() as u8));
        std::fs::write(folder.join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        let mut labels = vec![0, 0, 8, 1];
        labels.extend(count.to_be_bytes());
        labels.extend((0..count).map(|row| (row % 3) as u8));
        std::fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
    }
}

#[test]
fn a_convolutional_network_with_dropout_stays_the_same_until_rounding_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    images(&path.join("images"), 16);
    // Maxima and thresholds let rounding grow: after some hundred steps as far as two ways to convolve come apart.
    let words = "fit images --model mnist-cnn --batch 24 --steps 50 --folds 0 --quiet --set audit=false \
                 --set optimizer.name=sgd --set schedule.rate=0.01";
    alone(path, &format!("{words} --out 1"));
    for count in [2, 4] {
        done(workers(path, count, &format!("{words} --out {count}")));
        assert_same(&path.join("1"), &path.join(count.to_string()));
    }
}

#[test]
fn batch_norms_of_the_whole_batch_or_of_each_worker() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    images(&path.join("images"), 8);
    let words = "fit images --model resnet18 --batch 24 --steps 1 --folds 0 --quiet --set audit=false";
    alone(path, &format!("{words} --out one"));
    done(workers(path, 2, &format!("{words} --set sync_batch_norm=true --out whole")));
    done(workers(path, 2, &format!("{words} --set sync_batch_norm=false --out own")));
    let distance = |run: &str| apart(&path.join("one"), &path.join(run)).0;
    // A unit at its threshold may fall to either side by rounding alone, and a residual network has many.
    assert!(distance("whole") < 1e-4, "{}", distance("whole"));
    assert!(distance("own") > 10.0 * distance("whole"), "{} {}", distance("own"), distance("whole"));
}

#[test]
fn a_run_goes_on_with_another_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    alone(path, &format!("{LONG} --out uncut"));
    for (first, then) in [(3, 2), (2, 1)] {
        let run = format!("cut-{first}-{then}");
        let mut child = started(workers(path, first, &format!("{LONG} --out {run}")));
        let checkpoints = path.join(&run).join("checkpoints");
        while !checkpoints.is_dir() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was cut");
            std::thread::sleep(Duration::from_millis(5));
        }
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        assert!(!child.wait().unwrap().success());
        assert!(!path.join(&run).join("about.json").exists());
        if then == 1 {
            alone(path, &format!("resume {run} --quiet"));
        } else {
            done(workers(path, then, &format!("resume {run} --quiet")));
        }
        assert_near(&path.join("uncut"), &path.join(&run), 1e-3);
    }
}

#[test]
fn anchors_of_varied_images_are_the_same_for_any_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let varied =
        "--set audit=false --set augment.padding=1 --set augment.flip=true --set augment_anchors=true";
    let words = WORDS.replace("tvd", "forward").replace("--folds 2", varied);
    alone(path, &format!("{words} --out 1"));
    for count in [2, 3] {
        done(workers(path, count, &format!("{words} --out {count}")));
        assert_same(&path.join("1"), &path.join(count.to_string()));
    }
}
