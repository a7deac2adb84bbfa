//! Labels in files of their own, and what classes become of them.

use crate::fixtures::{idx_labels, npy, npz, write};
use cleanest_core::npy::Element;
use cleanest_data::labels::read;
use cleanest_data::{Classes, Dataset, Error, Labels, Options, Warning};
use std::path::PathBuf;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn listed(names: &[&str]) -> Options {
    Options { classes: Some(names.iter().map(ToString::to_string).collect()), ..Options::default() }
}

fn text(name: &str, content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let path = write(folder.path(), name, content.as_bytes());
    (folder, path)
}

#[test]
fn numbers_are_ordered_by_size_and_texts_by_the_alphabet() {
    let (_kept, path) = text("y.txt", "10\n9\n2\n10\n");
    let labels = read(&path, &Options::default()).unwrap();
    assert_eq!(labels.classes().names(), ["2", "9", "10"]);
    assert_eq!(labels.indices(), [2, 1, 0, 2]);
    let (_kept, path) = text("y.txt", "owl\ncat\nowl\n");
    let labels = read(&path, &Options::default()).unwrap();
    assert_eq!(labels.classes().names(), ["cat", "owl"]);
    assert_eq!(labels.indices(), [1, 0, 1]);
}

#[test]
fn numbers_written_as_floats_are_the_numbers_they_are() {
    let (_kept, path) = text("y.csv", "label\n1.0\n0.0\n1\n");
    let labels = read(&path, &Options::default()).unwrap();
    assert_eq!(labels.classes().names(), ["0", "1"]);
    assert_eq!(labels.indices(), [1, 0, 1]);
}

#[test]
fn a_header_is_told_from_a_label() {
    for (content, count) in
        [("label\ncat\ndog\n", 2), ("cat\ndog\n", 2), ("y\n1\n2\n", 2), ("species\n1\n2\n", 2)]
    {
        let (_kept, path) = text("y.csv", content);
        assert_eq!(read(&path, &Options::default()).unwrap().len(), count, "{content}");
    }
}

#[test]
fn a_column_is_chosen_by_name() {
    let (_kept, path) = text("y.csv", "id,species\n7,owl\n8,cat\n");
    let options = Options { label: Some("species".into()), ..Options::default() };
    assert_eq!(read(&path, &options).unwrap().classes().names(), ["cat", "owl"]);
    let error = read(&path, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::NoLabel { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--label COLUMN"));
}

#[test]
fn every_kind_of_array_of_whole_numbers_is_read() {
    let folder = folder();
    for (element, bytes) in [
        (Element::U8, vec![2, 0, 2]),
        (Element::I16, [2_i16, 0, 2].iter().flat_map(|n| n.to_le_bytes()).collect()),
        (Element::F64, [2.0_f64, 0.0, 2.0].iter().flat_map(|n| n.to_le_bytes()).collect()),
    ] {
        let path = write(folder.path(), "y.npy", &npy(element, &[3], &bytes));
        let labels = read(&path, &listed(&["a", "b", "c"])).unwrap();
        assert_eq!(labels.indices(), [2, 0, 2], "{element:?}");
    }
    let path = write(folder.path(), "t10k-labels-idx1-ubyte", &idx_labels());
    assert_eq!(read(&path, &Options::default()).unwrap().len(), 6);
}

#[test]
fn a_list_of_classes_names_those_that_are_absent() {
    let (_kept, path) = text("y.txt", "cat\nowl\n");
    let labels = read(&path, &listed(&["owl", "dog", "cat"])).unwrap();
    assert_eq!(labels.indices(), [2, 0]);
    assert_eq!(labels.counts(), [1, 0, 1]);
    let (_kept, path) = text("y.txt", "3\n5\n");
    assert_eq!(read(&path, &listed(&["5", "3"])).unwrap().indices(), [1, 0]);
    assert!(matches!(read(&path, &listed(&["a", "a"])).unwrap_err(), Error::DuplicateClass(_)));
}

#[test]
fn what_is_wrong_with_a_label_is_named_with_its_row() {
    let said = |content: &str, options: &Options| {
        let (_kept, path) = text("y.txt", content);
        let error = read(&path, options).unwrap_err().to_string();
        error.split_once("y.txt`").unwrap().1.to_owned()
    };
    assert_eq!(
        said("cat\nyak\n", &listed(&["cat", "dog"])),
        ", row 2: `yak` is none of the classes `cat`, `dog`"
    );
    assert_eq!(said("0\n1\n7\n", &listed(&["cat", "dog"])), ", row 3: the label 7 is not in 0 to 1");
    assert_eq!(said("cat\n\ndog\n", &Options::default()), ", row 2: the label is empty");
}

#[test]
fn a_fraction_is_no_label() {
    let folder = folder();
    let bytes: Vec<u8> = [1.0_f32, 0.5].iter().flat_map(|n| n.to_le_bytes()).collect();
    let path = write(folder.path(), "y.npy", &npy(Element::F32, &[2], &bytes));
    let error = read(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.ends_with("row 2: the label 0.5 is not a whole number"), "{error}");
}

#[test]
fn as_many_labels_as_examples_are_needed() {
    let folder = folder();
    let path = write(folder.path(), "x.npy", &npy(Element::U8, &[3, 2], &[0; 6]));
    let labels = write(folder.path(), "y.txt", b"1\n2\n");
    let error = Dataset::open(&path, &Options { labels: Some(labels), ..Options::default() }).unwrap_err();
    assert!(error.to_string().ends_with("y.txt` holds 2 labels for 3 examples"), "{error}");
    let error = Dataset::open(&path, &Options::default()).unwrap_err();
    assert!(error.to_string().ends_with("x.npy` comes without labels"), "{error}");
}

#[test]
fn a_class_with_a_single_example_or_none_is_named() {
    let folder = folder();
    let path = write(folder.path(), "x.npy", &npy(Element::U8, &[3, 2], &[0; 6]));
    let labels = write(folder.path(), "y.txt", b"cat\ncat\ndog\n");
    let options = Options { labels: Some(labels), ..listed(&["cat", "dog", "owl"]) };
    let set = Dataset::open(&path, &options).unwrap();
    let expected =
        [Warning::SingleExample { class: "dog".into() }, Warning::EmptyClass { class: "owl".into() }];
    assert_eq!(set.warnings(), expected);
}

#[test]
fn what_is_written_is_read_back() {
    let folder = folder();
    let names = ["plain", "with, comma", "with \"quotes\"", " spaces "].map(String::from).to_vec();
    let labels = Labels::new(vec![3, 0, 2, 1, 0], Classes::new(names).unwrap());
    let path = folder.path().join("y.csv");
    labels.write(&path).unwrap();
    let options = Options { classes: Some(labels.classes().names().to_vec()), ..Options::default() };
    assert_eq!(read(&path, &options).unwrap(), labels);
    let path = folder.path().join("y.npy");
    labels.write(&path).unwrap();
    assert_eq!(read(&path, &options).unwrap(), labels);
    let numbers = Labels::new(vec![1, 0], Classes::new(vec!["-3".into(), "12".into()]).unwrap());
    numbers.write(&path).unwrap();
    assert_eq!(read(&path, &Options::default()).unwrap(), numbers);
    assert!(matches!(labels.write(&folder.path().join("y.doc")), Err(Error::LabelFile { .. })));
    assert!(!labels.write(&folder.path().join("no/y.csv")).unwrap_err().is_wrong_use());
}

/// An array file of texts of up to four letters, as NumPy writes it.
fn texts(kind: &str, texts: &[&str]) -> Vec<u8> {
    let dictionary =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({},), }}\n", texts.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    for text in texts {
        let mut letters: Vec<u32> = text.chars().map(u32::from).collect();
        letters.resize(4, 0);
        match kind {
            "<U4" => bytes.extend(letters.iter().flat_map(|letter| letter.to_le_bytes())),
            ">U4" => bytes.extend(letters.iter().flat_map(|letter| letter.to_be_bytes())),
            _ => bytes.extend(letters.iter().map(|&letter| letter as u8)),
        }
    }
    bytes
}

#[test]
fn labels_that_are_texts_come_as_arrays_too() {
    let folder = folder();
    for (kind, names) in
        [("<U4", ["owl", "dög", "owl"]), (">U4", ["京", "a", "京"]), ("|S4", ["owl", "dog", "owl"])]
    {
        let path = write(folder.path(), "y.npy", &texts(kind, &names));
        let labels = read(&path, &Options::default()).unwrap();
        assert_eq!(labels.classes().names(), [names[1], names[0]], "{kind}");
        assert_eq!(labels.indices(), [1, 0, 1], "{kind}");
    }
    let archive =
        npz(&[("x.npy", npy(Element::U8, &[3, 2], &[0; 6])), ("y.npy", texts("<U4", &["b", "a", "b"]))]);
    let path = write(folder.path(), "set.npz", &archive);
    let set = Dataset::open(&path, &Options::default()).unwrap();
    assert_eq!(set.labels().indices(), [1, 0, 1]);
    assert_eq!(set.labels().classes().names(), ["a", "b"]);
}

#[test]
fn a_label_that_is_no_text_has_its_row() {
    let folder = folder();
    let refused = |bytes: &[u8]| {
        let path = write(folder.path(), "y.npy", bytes);
        read(&path, &Options::default()).unwrap_err().to_string()
    };
    assert!(refused(&texts("<U4", &["a", ""])).ends_with("`, row 2: the label is empty"));
    let mut broken = texts("|S4", &["a", "b"]);
    let last = broken.len() - 4;
    broken[last] = 0xff;
    assert!(refused(&broken).ends_with("row 2 is not a text"));
}
