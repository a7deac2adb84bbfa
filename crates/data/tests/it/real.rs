//! The published files themselves, where `CLEANEST_DATA` says they lie.

use cleanest_data::{ClassOrder, Dataset, Options, Parts, Summary};
use std::path::PathBuf;

/// The folder of a set; none, said loudly, where the files are not at hand.
fn folder(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("CLEANEST_DATA").map(|root| PathBuf::from(root).join(name));
    if found.is_none() {
        eprintln!("SKIPPED: CLEANEST_DATA is not set, `{name}` was not read");
    }
    found
}

fn firsts(set: &Dataset) -> &[u32] {
    &set.labels().indices()[..5]
}

#[test]
fn mnist_is_read() {
    let Some(folder) = folder("mnist") else { return };
    let parts = Parts::open(&folder, &Options::default()).unwrap();
    let test = parts.test.unwrap();
    assert_eq!((parts.train.len(), test.len()), (60_000, 10_000));
    assert_eq!((firsts(&parts.train), firsts(&test)), (&[5, 0, 4, 1, 9][..], &[7, 2, 1, 0, 4][..]));
    assert_eq!(parts.train.labels().counts(), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);
    let fingerprint = "0ae922e6f4f82b13eda51cbdbbe05ac108017ec5a85d7a5eacd18be420306351";
    assert_eq!(parts.train.fingerprint().to_string(), fingerprint);
}

#[test]
fn cifar_10_is_read() {
    let Some(folder) = folder("cifar-10-batches-bin") else { return };
    let parts = Parts::open(&folder, &Options::default()).unwrap();
    let test = parts.test.unwrap();
    assert_eq!((parts.train.len(), test.len()), (50_000, 10_000));
    assert_eq!((firsts(&parts.train), firsts(&test)), (&[6, 9, 9, 4, 1][..], &[3, 8, 8, 0, 6][..]));
    assert_eq!(parts.train.labels().counts(), [5000; 10]);
    let mean = cleanest_data::Standardization::of(&parts.train).mean;
    for (found, published) in mean.iter().zip([0.4914, 0.4822, 0.4465]) {
        assert!((found - published).abs() < 1e-4, "{mean:?}");
    }
}

#[test]
fn cifar_100_is_read_and_its_conflicts_are_found() {
    let Some(folder) = folder("cifar-100-binary") else { return };
    let train = Dataset::open(&folder, &Options::default()).unwrap();
    assert_eq!((train.len(), train.labels().counts()), (50_000, vec![500; 100]));
    let found = Summary::of(&train).duplicates;
    assert_eq!((found.copies, found.conflicting_groups), (14, 9));
    let paper = Options { class_order: ClassOrder::Paper, ..Options::default() };
    let paper = Dataset::open(&folder, &paper).unwrap();
    assert_eq!(paper.labels().classes().names()[..5], ["beaver", "dolphin", "otter", "seal", "whale"]);
    assert_eq!(paper.labels().counts(), [500; 100]);
}
