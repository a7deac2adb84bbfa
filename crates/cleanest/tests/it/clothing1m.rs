//! The pipeline of Clothing1M on a small made-up folder: its layout, its noise, and weights from elsewhere.

use crate::typed;
use cleanest::run::RunFolder;
use cleanest_core::Matrix;
use cleanest_core::noise::Transition;
use cleanest_core::random::Stream;
use cleanest_engine::cpu;
use cleanest_engine::{Model, ModelOptions, Shape, Tensor};
use std::path::Path;

const CLASSES: usize = 14;

/// The published shares of the classes, and the published noise with its rows brought to 1.
fn published() -> (Vec<f64>, Transition) {
    let text = include_str!("confusion.csv");
    let (mut shares, mut rows) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let numbers: Vec<f64> = line.split(',').skip(1).map(|number| number.parse().unwrap()).collect();
        let whole: f64 = numbers[1..].iter().sum();
        shares.push(numbers[0]);
        rows.extend(numbers[1..].iter().map(|number| number / whole));
    }
    (shares, Transition::new(Matrix::from_vec(CLASSES, rows)).unwrap())
}

/// Images of 8 x 8: each class lights a cell of its own, more or less.
fn image(class: usize, stream: &mut Stream) -> image::RgbImage {
    image::RgbImage::from_fn(8, 8, |x, y| {
        let lit = (y / 2 * 4 + x / 2) as usize == class;
        let shade = 40.0 + 60.0 * stream.uniform() + if lit { 140.0 } else { 0.0 };
        image::Rgb([shade as u8; 3])
    })
}

/// Writes a folder in the published layout, and gives how often each true class got each label.
fn folder(at: &Path, train: usize, test: usize) -> Matrix {
    let (shares, noise) = published();
    let mut stream = Stream::new(3, "clothing", 0);
    let mut seen = Matrix::zeros(CLASSES, CLASSES);
    for (list, labels, count) in [
        ("noisy_train_key_list.txt", "noisy_label_kv.txt", train),
        ("clean_test_key_list.txt", "clean_label_kv.txt", test),
    ] {
        let (mut keys, mut pairs) = (Vec::new(), Vec::new());
        for number in 0..count {
            let class = stream.weighted(&shares);
            let key = format!("images/{}/{:02}/{list}-{number}.jpg", number % 10, number % 100);
            let file = at.join(&key);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            image(class, &mut stream).save(&file).unwrap();
            let label = if count == train { stream.weighted(noise.row(class)) } else { class };
            if count == train {
                seen[(class, label)] += 1.0;
            }
            keys.push(key.clone());
            pairs.push(format!("{key} {label}"));
        }
        std::fs::write(at.join(list), keys.join("\n")).unwrap();
        std::fs::write(at.join(labels), pairs.join("\n")).unwrap();
    }
    seen
}

#[test]
fn a_folder_in_its_layout_is_learnt_from_and_its_noise_found() {
    let place = tempfile::tempdir().unwrap();
    let seen = folder(&place.path().join("clothing1m"), 3000, 400);
    let (_, truth) = published();
    let drawn = cleanest_core::estimate::frequencies(seen);
    assert!(drawn.average_tv(&truth).unwrap() < 0.08, "the folder has the published noise");
    typed("fit clothing1m --model mlp --folds 0 --quiet --out run")
        .current_dir(place.path())
        .assert()
        .success();
    let run = RunFolder::open(&place.path().join("run")).unwrap();
    let found = run.transition().unwrap();
    assert_eq!(found.name(10), "Shawl");
    let of_identity = Transition::identity(CLASSES).average_tv(&truth).unwrap();
    let error = found.average_tv(&truth).unwrap();
    assert!(error < 0.7 * of_identity, "{error} of {of_identity}");
    // Most sweaters are labeled knitwear, so that not every class can be told by the labels alone.
    let accuracy = run.about().unwrap().score.accuracy.unwrap();
    assert!(accuracy > 0.7, "{accuracy}");
}

#[test]
fn resnet_50_begins_with_weights_of_imagenet_and_a_last_layer_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    folder(&place.path().join("clothing1m"), 24, 8);
    // A file as torchvision's would be saved: its names and shapes, 1000 classes, no count of batches.
    let imagenet = Model::Resnet50.build(&ModelOptions::new(Shape::image(32, 32, 3), 1000)).unwrap();
    let network =
        cpu::network(&imagenet, &cpu::Settings { batch: 4, seed: 9, ..cpu::Settings::default() }).unwrap();
    let mut weights = network.parameters().unwrap();
    let counts: Vec<String> = weights
        .iter()
        .map(|(name, _)| name.to_owned())
        .filter(|name| name.ends_with("num_batches_tracked"))
        .collect();
    counts.iter().for_each(|name| drop(weights.remove(name)));
    assert_eq!((counts.len(), weights.len()), (53, 267));
    std::fs::write(place.path().join("resnet50.safetensors"), weights.to_safetensors().unwrap()).unwrap();
    // A rate of nothing leaves what the network began with.
    let words = "fit clothing1m --model resnet50 --method cce --steps 1 --batch 4 --set read.image_size=[32,32] \
        --set weights=resnet50.safetensors --set schedule.rate=0 --set audit=false --out run";
    let output = typed(words).current_dir(place.path()).assert().success();
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(
        said.contains("it tells 1000 classes apart, the data have 14: layer `fc` is drawn anew"),
        "{said}"
    );
    let model = RunFolder::open(&place.path().join("run")).unwrap().model().unwrap();
    for name in ["conv1.weight", "layer1.0.downsample.0.weight", "layer3.5.conv2.weight", "layer4.2.bn3.bias"]
    {
        assert_eq!(model.tensor(name), weights.tensor(name), "{name}");
    }
    assert_eq!(model.tensor("fc.weight").unwrap().shape, [14, 2048]);
    weights.insert("layer1.0.conv1.weight", Tensor { shape: vec![1], values: vec![0.0] });
    std::fs::write(place.path().join("resnet50.safetensors"), weights.to_safetensors().unwrap()).unwrap();
    let output = typed(&words.replace("--out run", "--out other")).current_dir(place.path()).assert().code(2);
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(said.contains("`layer1.0.conv1.weight` has shape [1], expected [64, 64, 1, 1]"), "{said}");
    assert!(!place.path().join("other").exists());
}
