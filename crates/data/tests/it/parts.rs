//! Training and test sets: as published, by name, and split off.

use crate::fixtures::{cifar_record, idx, idx_labels, npy, npz, png, write};
use cleanest_core::npy::Element;
use cleanest_data::{ClassOrder, Dataset, Error, Granularity, Options, Part, Parts, Shape};

fn digits() -> Dataset {
    Dataset::open("digits".as_ref(), &Options::default()).unwrap()
}

#[test]
fn a_published_folder_has_both_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    for (part, count) in [("train", 6), ("t10k", 3)] {
        write(folder.path(), &format!("{part}-images-idx3-ubyte"), &idx(&[count, 2, 2], count as usize * 4));
        let labels = [&idx(&[count], 0)[..], &idx_labels()[8..8 + count as usize]].concat();
        write(folder.path(), &format!("{part}-labels-idx1-ubyte"), &labels);
    }
    let parts = Parts::open(folder.path(), &Options::default()).unwrap();
    assert_eq!((parts.train.len(), parts.test.as_ref().unwrap().len()), (6, 3));
    assert_eq!(
        parts.train.labels().classes().len(),
        10,
        "digits have ten classes even where some are absent"
    );
    assert_eq!(parts.train.labels().classes(), parts.test.unwrap().labels().classes());
}

#[test]
fn a_class_that_is_absent_from_one_part_keeps_its_number_in_the_other() {
    let folder = tempfile::tempdir().unwrap();
    for (part, labels) in [("train", [3_u8, 20, 30]), ("t10k", [30, 30, 3])] {
        write(folder.path(), &format!("{part}-images-idx3-ubyte"), &idx(&[3, 1, 1], 3));
        write(folder.path(), &format!("{part}-labels-idx1-ubyte"), &[&idx(&[3], 0)[..], &labels].concat());
    }
    let parts = Parts::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(parts.train.labels().indices(), [0, 1, 2]);
    assert_eq!(parts.test.unwrap().labels().indices(), [2, 2, 0]);
}

#[test]
fn an_archive_has_the_parts_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let array = |count: usize| npy(Element::U8, &[count, 2, 2], &vec![7; count * 4]);
    let labels =
        |count: usize| npy(Element::U8, &[count, 1], &(0..count as u8).map(|at| at % 2).collect::<Vec<_>>());
    let bytes = npz(&[
        ("x_train.npy", array(4)),
        ("y_train.npy", labels(4)),
        ("x_test.npy", array(2)),
        ("y_test.npy", labels(2)),
    ]);
    let path = write(folder.path(), "mnist.npz", &bytes);
    let parts = Parts::open(&path, &Options::default()).unwrap();
    assert_eq!((parts.train.len(), parts.test.unwrap().len()), (4, 2));
}

#[test]
fn a_folder_of_images_can_have_two_parts() {
    let folder = tempfile::tempdir().unwrap();
    for (part, count) in [("train", 3_u8), ("val", 2)] {
        for class in ["cat", "dog"] {
            for at in 0..count {
                png(&folder.path().join(part).join(class), &format!("{at}.png"), [at, 0, 0]);
            }
        }
    }
    let parts = Parts::open(folder.path(), &Options::default()).unwrap();
    assert_eq!((parts.train.len(), parts.test.unwrap().len()), (6, 4));
}

#[test]
fn a_set_without_a_test_part_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "train-images-idx3-ubyte", &idx(&[6, 2, 2], 24));
    write(folder.path(), "train-labels-idx1-ubyte", &idx_labels());
    let train = Dataset::open(folder.path(), &Options::default()).unwrap();
    let error = train.open_like(folder.path(), Part::Test, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::NoTestPart { .. }), "{error}");
}

#[test]
fn a_test_set_of_another_shape_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let labels = write(folder.path(), "y.txt", b"0\n1\n");
    let path = write(folder.path(), "x.npy", &npy(Element::U8, &[2, 9, 9], &[0; 162]));
    let options = Options { labels: Some(labels), ..Options::default() };
    let error = digits().open_like(&path, Part::Test, &options).unwrap_err().to_string();
    assert!(
        error.ends_with("has examples of 9 x 9 x 1 pixels, the training set of 8 x 8 x 1 pixels"),
        "{error}"
    );
}

#[test]
fn a_split_is_stratified_seeded_and_complete() {
    let set = digits();
    let (train, test) = set.split(0.2, 7).unwrap();
    assert_eq!(train.len() + test.len(), set.len());
    for (all, some) in set.labels().counts().iter().zip(test.labels().counts()) {
        assert_eq!(some, (*all as f64 * 0.2).round() as usize);
    }
    let sources =
        |set: &Dataset| -> Vec<_> { (0..set.len()).map(|row| format!("{:?}", set.source(row))).collect() };
    let mut both = [sources(&train), sources(&test)].concat();
    both.sort_unstable();
    both.dedup();
    assert_eq!(both.len(), set.len());
    let again = set.split(0.2, 7).unwrap();
    assert_eq!(again.1.fingerprint(), test.fingerprint());
    assert_ne!(set.split(0.2, 8).unwrap().1.fingerprint(), test.fingerprint());
    assert!(matches!(set.split(1.0, 7), Err(Error::Share(_))));
    assert!(matches!(set.split(f64::NAN, 7), Err(Error::Share(_))));
}

#[test]
fn folds_share_every_class_evenly() {
    let set = digits();
    let folds = set.folds(5, 1).unwrap();
    for class in 0..10 {
        let mut counts = [0; 5];
        let of_class = folds.iter().zip(set.labels().indices()).filter(|pair| *pair.1 == class);
        of_class.for_each(|(&fold, _)| counts[fold as usize] += 1);
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
    assert!(matches!(set.folds(1, 1), Err(Error::Folds { .. })));
}

#[test]
fn a_part_of_a_part_still_knows_where_its_rows_stood() {
    let set = digits().select(&[5, 10, 15]).select(&[2, 0]);
    assert_eq!(set.len(), 2);
    assert_eq!(set.source(0), cleanest_data::Source::Row(15));
    assert_eq!(set.example(1), digits().example(5));
    assert_eq!(set.labels().indices()[1], digits().labels().indices()[5]);
}

#[test]
fn other_labels_make_another_fingerprint_and_leave_the_examples_alone() {
    let set = digits();
    let mut indices = set.labels().indices().to_vec();
    indices[0] = (indices[0] + 1) % 10;
    let noisy = set.with_labels(cleanest_data::Labels::new(indices, set.labels().classes().clone()));
    assert_ne!(noisy.fingerprint(), set.fingerprint());
    assert_eq!(noisy.example(0), set.example(0));
}

/// CIFAR-100 with one record for each fine class; the coarse class of fine class i is i mod 20.
fn cifar_100(folder: &std::path::Path) {
    let records = (0..100_u8).flat_map(|fine| cifar_record(&[fine % 20, fine], fine)).collect::<Vec<_>>();
    write(folder, "train.bin", &records);
    write(folder, "test.bin", &records);
    let names =
        |count: usize, word: &str| (0..count).map(|at| format!("{word}{at:02}\n")).collect::<String>();
    write(folder, "fine_label_names.txt", names(100, "fine").as_bytes());
    write(folder, "coarse_label_names.txt", names(20, "coarse").as_bytes());
}

#[test]
fn cifar_100_has_two_kinds_of_labels_and_the_order_of_the_paper() {
    let folder = tempfile::tempdir().unwrap();
    cifar_100(folder.path());
    let open = |options: &Options| Dataset::open(folder.path(), options).unwrap();
    let fine = open(&Options::default());
    assert_eq!(fine.labels().indices()[42], 42);
    assert_eq!(fine.labels().classes().names()[42], "fine42");
    assert_eq!(fine.shape(), Shape::Image { height: 32, width: 32, channels: 3 });
    assert_eq!(fine.example(42), cleanest_data::Example::Image(&[42, 1, 2].repeat(1024)));
    let coarse = open(&Options { granularity: Granularity::Coarse, ..Options::default() });
    assert_eq!(coarse.labels().indices()[42], 2);
    assert_eq!(coarse.labels().classes().len(), 20);
    let paper = open(&Options { class_order: ClassOrder::Paper, ..Options::default() });
    assert_eq!(paper.labels().indices()[42], 5 * 2 + 2, "the third class of the third group");
    assert_eq!(paper.labels().classes().names()[12], "fine42");
}

#[test]
fn a_test_set_takes_the_class_numbers_of_its_training_set() {
    let fixture = crate::fixtures::fixture("cifar");
    let paper = Options { class_order: ClassOrder::Paper, ..Options::default() };
    let train = Dataset::open(&fixture.path, &paper).unwrap();
    let test = train.open_like(&fixture.path, Part::Train, &Options::default()).unwrap();
    assert_eq!(test.labels(), train.labels());
    let few = Options { classes: Some(vec!["airplane".into(), "bird".into()]), ..Options::default() };
    let error = Dataset::open(&fixture.path, &few).unwrap_err();
    assert!(matches!(error, Error::UnknownClass { row: 2, .. }), "{error}");
}

#[test]
fn cifar_10_takes_the_order_of_the_paper() {
    let fixture = crate::fixtures::fixture("cifar");
    let options = Options { class_order: ClassOrder::Paper, ..Options::default() };
    let set = Dataset::open(&fixture.path, &options).unwrap();
    let names = ["airplane", "ship", "automobile", "truck", "bird", "deer", "frog", "cat", "dog", "horse"];
    assert_eq!(set.labels().classes().names(), names);
    assert_eq!(set.labels().indices(), [0, 2, 4, 0, 2, 4]);
}
