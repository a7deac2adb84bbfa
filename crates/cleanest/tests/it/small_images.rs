//! What the defaults make of a few hundred images.

use crate::typed;
use cleanest::data::{Dataset, Example, Options};
use cleanest::run::RunFolder;
use cleanest_core::npy::{Element, Header};
use std::path::Path;

const SIDE: usize = 28;
const EXAMPLES: usize = 400;

/// Some of the digits as images of 28 x 28: each pixel nine, and a border.
fn write(folder: &Path) {
    let digits = Dataset::open(Path::new("digits"), &Options::default()).unwrap();
    let mut pixels = Header::write(Element::U8, &[EXAMPLES, SIDE, SIDE]);
    let mut labels = Header::write(Element::I64, &[EXAMPLES]);
    for at in 0..EXAMPLES {
        let Example::Image(image) = digits.example(at) else { panic!("the digits are images") };
        let pixel = |row: usize, column: usize| match ((row + 1) / 3, (column + 1) / 3) {
            (row @ 1..9, column @ 1..9) => image[8 * (row - 1) + column - 1],
            _ => 0,
        };
        pixels.extend((0..SIDE * SIDE).map(|at| pixel(at / SIDE, at % SIDE)));
        labels.extend(i64::from(digits.labels().indices()[at]).to_le_bytes());
    }
    std::fs::write(folder.join("x.npy"), pixels).unwrap();
    std::fs::write(folder.join("y.npy"), labels).unwrap();
}

#[test]
fn a_small_set_of_images_is_not_learnt_by_heart() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let words = "fit x.npy --labels y.npy --noise pair:0.3 --device cpu --quiet --out run";
    typed(words).current_dir(folder.path()).assert().success();
    let run = RunFolder::open(&folder.path().join("run")).unwrap();
    assert_eq!(run.config().unwrap().model, "mnist-cnn");
    let (audit, score) = (run.audit().unwrap(), run.about().unwrap().score);
    let found = audit.score.unwrap();
    let share = audit.wrong.expected / found.wrong as f64;
    assert!((0.8..1.25).contains(&share), "{} of {} wrong labels", audit.wrong.expected, found.wrong);
    assert!(found.calibration_error < 0.08, "calibration error {}", found.calibration_error);
    assert!(score.accuracy.unwrap() > 0.85, "accuracy {:?}", score.accuracy);
}
