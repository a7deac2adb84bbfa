//! What holds for every format of the list.

use crate::fixtures::fixture;
use cleanest_data::formats::{self, FORMATS};
use cleanest_data::{Dataset, Example, Labeling, Options, Part};

#[test]
fn every_format_recognizes_its_own_and_says_what_it_is() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        assert_eq!(formats::of(&fixture.path).unwrap().name, format.name);
        assert!(!format.about.is_empty() && !format.about.ends_with('.'), "{}", format.name);
    }
}

#[test]
fn every_format_gives_a_label_for_each_example() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let set = Dataset::open(&fixture.path, &fixture.options).unwrap();
        assert_eq!(set.format(), format.name);
        assert_eq!(set.labels().len(), set.len(), "{}", format.name);
        if format.name != "digits" {
            let mut labels = set.labels().indices().to_vec();
            labels.sort_unstable();
            assert_eq!(labels, [0, 0, 1, 1, 2, 2], "{}", format.name);
        }
    }
}

#[test]
fn every_format_reads_the_same_twice() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let [first, second] = [(); 2].map(|()| Dataset::open(&fixture.path, &fixture.options).unwrap());
        assert_eq!(first.fingerprint(), second.fingerprint(), "{}", format.name);
        for row in 0..first.len() {
            assert_eq!(first.example(row), second.example(row), "{}", format.name);
        }
    }
}

#[test]
fn every_format_can_be_read_without_labels() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let options = Options { labeling: Labeling::Absent, ..fixture.options.clone() };
        let set = Dataset::open(&fixture.path, &options).unwrap();
        assert!(!set.is_labeled() && !set.is_empty(), "{}", format.name);
    }
}

#[test]
fn every_format_gives_a_test_set_like_its_training_set() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let train = Dataset::open(&fixture.path, &fixture.options).unwrap();
        let test = train.open_like(&fixture.path, Part::Train, &fixture.options).unwrap();
        assert_eq!(test.labels(), train.labels(), "{}", format.name);
        assert_eq!(test.fingerprint(), train.fingerprint(), "{}", format.name);
    }
}

#[test]
fn every_example_is_finite_and_of_the_shape_that_is_said() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let set = Dataset::open(&fixture.path, &fixture.options).unwrap();
        for row in 0..set.len() {
            match set.example(row) {
                Example::Image(pixels) => assert_eq!(pixels.len(), set.shape().size()),
                Example::Row(values) => {
                    assert_eq!(values.len(), set.shape().size());
                    assert!(values.iter().all(|value| value.is_finite()), "{}", format.name);
                }
            }
        }
    }
}

#[test]
fn no_format_panics_wherever_its_file_is_cut() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let Some(file) = &fixture.file else { continue };
        let whole = std::fs::read(file).unwrap();
        let step = (whole.len() / 300).max(1);
        for length in (0..whole.len()).step_by(step) {
            std::fs::write(file, &whole[..length]).unwrap();
            if let Err(error) = Dataset::open(&fixture.path, &fixture.options) {
                let name = fixture.path.file_name().unwrap().to_str().unwrap();
                assert!(error.to_string().contains(name), "{}: {error}", format.name);
            }
        }
    }
}

#[test]
fn no_format_panics_whichever_byte_of_its_file_is_changed() {
    for format in FORMATS {
        let fixture = fixture(format.name);
        let Some(file) = &fixture.file else { continue };
        let whole = std::fs::read(file).unwrap();
        let step = (whole.len() / 300).max(1);
        for at in (0..whole.len()).step_by(step) {
            for byte in [0x00, 0xff, whole[at].wrapping_add(1)] {
                let mut changed = whole.clone();
                changed[at] = byte;
                std::fs::write(file, &changed).unwrap();
                let _ = Dataset::open(&fixture.path, &fixture.options);
            }
        }
    }
}

#[test]
fn a_hint_ends_without_a_full_stop_and_a_path_that_is_not_there_is_named() {
    let error = Dataset::open("no/such/place".as_ref(), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "there is no `no/such/place`");
    let folder = tempfile::tempdir().unwrap();
    let file = crate::fixtures::write(folder.path(), "thesis.docx", b"words");
    let error = Dataset::open(&file, &Options::default()).unwrap_err();
    assert!(error.to_string().ends_with("thesis.docx` is none of the formats known here"), "{error}");
    assert!(!error.hint().unwrap().ends_with('.'));
}
