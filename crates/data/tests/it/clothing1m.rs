//! The lists of Clothing1M, as they are given out and as they should not be.

use crate::fixtures::{fixture, write};
use cleanest_data::{Dataset, Options, Parts};
use std::path::Path;

/// The fixture with a test part of two of its images, labeled by people.
fn with_test(folder: &Path) {
    write(folder, "clean_test_key_list.txt", b"images/3/03/3.jpg\nimages/5/05/5.jpg\n");
    write(folder, "clean_label_kv.txt", b"images/3/03/3.jpg 13\nimages/5/05/5.jpg 8\nimages/0/00/0.jpg 1\n");
}

#[test]
fn the_million_train_and_what_people_looked_at_tests() {
    let fixture = fixture("clothing1m");
    with_test(&fixture.path);
    let Parts { train, test } = Parts::open(&fixture.path, &fixture.options).unwrap();
    let test = test.unwrap();
    assert_eq!((train.len(), train.labels().indices()), (6, &[0, 1, 2, 0, 1, 2][..]));
    assert_eq!((test.len(), test.labels().indices()), (2, &[13, 8][..]));
    let names = train.labels().classes().names();
    assert_eq!((names.len(), &*names[0], &*names[8], &*names[13]), (14, "T-Shirt", "Down Coat", "Underwear"));
    assert_eq!(train.labels().classes(), test.labels().classes());
    let cleanest_data::Source::File(name) = test.source(0) else { panic!("an image has a name") };
    assert_eq!(name, "images/3/03/3.jpg");
}

#[test]
fn lists_in_a_folder_of_their_own_and_images_without_one_are_found_too() {
    let fixture = fixture("clothing1m");
    let moved = tempfile::tempdir().unwrap();
    let to = moved.path().join("annotations");
    std::fs::create_dir(&to).unwrap();
    for name in ["noisy_train_key_list.txt", "noisy_label_kv.txt"] {
        std::fs::rename(fixture.path.join(name), to.join(name)).unwrap();
    }
    for at in 0..6 {
        let name = at.to_string();
        std::fs::rename(fixture.path.join("images").join(&name), moved.path().join(&name)).unwrap();
    }
    let before = Dataset::open(moved.path(), &Options::default()).unwrap();
    assert_eq!((before.len(), before.format()), (6, "clothing1m"));
}

#[test]
fn a_list_that_is_wrong_is_refused_by_file_and_row() {
    let labels = "images/0/00/0.jpg 0\nimages/1/01/1.jpg";
    for (file, text, expected) in [
        (
            "noisy_label_kv.txt",
            labels,
            "noisy_label_kv.txt`, row 2: expected an image and the number of its class, found `images/1/01/1.jpg`",
        ),
        (
            "noisy_label_kv.txt",
            "images/0/00/0.jpg 14",
            "noisy_label_kv.txt`, row 1: the label 14 is not in 0 to 13",
        ),
        (
            "noisy_label_kv.txt",
            "images/0/00/0.jpg 3",
            "noisy_train_key_list.txt`, row 2: `images/1/01/1.jpg` has no label in `",
        ),
        ("noisy_train_key_list.txt", "images/../../secret.jpg", "secret.jpg"),
        ("category_names_eng.txt", "Shirt\nHat\n", "category_names_eng.txt` names 2 classes, expected 14"),
    ] {
        let fixture = fixture("clothing1m");
        write(&fixture.path, file, text.as_bytes());
        if file == "noisy_train_key_list.txt" {
            write(&fixture.path, "noisy_label_kv.txt", format!("{text} 0").as_bytes());
        }
        let error = Dataset::open(&fixture.path, &fixture.options).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.is_wrong_use());
    }
}
