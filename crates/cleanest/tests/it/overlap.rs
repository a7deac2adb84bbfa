//! What is said of labels that are right, where classes overlap and no model can know them.

use crate::typed;
use cleanest::run::RunFolder;
use cleanest_core::npy::{Element, Header};
use cleanest_core::random::Stream;
use std::path::Path;

const EXAMPLES: usize = 400;
const COLUMNS: usize = 6;

/// Three classes around points that are one and a half deviations from the middle; no label is wrong.
fn write(folder: &Path) {
    let mut stream = Stream::new(0, "overlap", 0);
    let mut rows = Header::write(Element::F32, &[EXAMPLES, COLUMNS]);
    let mut labels = Header::write(Element::I64, &[EXAMPLES]);
    for at in 0..EXAMPLES {
        let class = at % 3;
        for column in 0..COLUMNS {
            let center = if column == class { 1.5 } else { 0.0 };
            rows.extend(((center + stream.normal()) as f32).to_le_bytes());
        }
        labels.extend((class as i64).to_le_bytes());
    }
    std::fs::write(folder.join("x.npy"), rows).unwrap();
    std::fs::write(folder.join("y.npy"), labels).unwrap();
}

#[test]
fn right_labels_of_classes_that_overlap_may_all_be_right() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    for seed in 0..3 {
        let words = format!("fit x.npy --labels y.npy --seed {seed} --device cpu --quiet --out {seed}");
        let output = typed(&words).current_dir(folder.path()).assert().success();
        let wrong = RunFolder::open(&folder.path().join(seed.to_string())).unwrap().audit().unwrap().wrong;
        assert_eq!(wrong.low, 0.0, "none of them is wrong: {wrong:?}");
        // What cannot be told as give or take is told with its bounds.
        let said = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        assert!(said.contains(" (0 to ") || wrong.expected < 0.5, "{said}");
    }
}
