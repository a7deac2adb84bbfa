//! CSV, TSV, JSON lines and Parquet.

use crate::fixtures::{gzip, parquet_with, write};
use cleanest_data::{
    Dataset, Error, Example, Feature, Labeling, Missing, Options, Part, Shape, Source, Standardization,
    Warning,
};
use std::path::PathBuf;

fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), name, content);
    (folder, path)
}

fn open(name: &str, content: &str, options: &Options) -> Result<Dataset, Error> {
    let (_folder, path) = file(name, content.as_bytes());
    Dataset::open(&path, options)
}

/// What the message says after the name of the file.
fn said(name: &str, content: &str, options: &Options) -> String {
    let error = open(name, content, options).unwrap_err().to_string();
    error.split_once(&format!("{name}`")).unwrap().1.to_owned()
}

fn values(set: &Dataset) -> Vec<f32> {
    let row = |row| match set.example(row) {
        Example::Row(values) => values.to_vec(),
        Example::Image(_) => panic!("a table has rows"),
    };
    (0..set.len()).flat_map(row).collect()
}

fn missing(missing: Missing) -> Options {
    Options { missing, ..Options::default() }
}

#[test]
fn numbers_are_features_and_texts_are_one_hot() {
    let set = open("t.csv", "a,color,label\n1,red,x\n2,blue,y\n3,red,x\n", &Options::default()).unwrap();
    assert_eq!(values(&set), [1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0]);
    let color = Feature::Category { name: "color".into(), values: vec!["blue".into(), "red".into()] };
    assert_eq!(set.features(), [Feature::Number { name: "a".into() }, color]);
}

#[test]
fn a_test_table_has_the_features_of_the_training_table() {
    let (_kept, path) = file("t.csv", b"a,color,label\n1,red,x\n2,blue,y\n3,red,x\n");
    let train = Dataset::open(&path, &Options::default()).unwrap();
    let (_kept, path) = file("u.csv", b"id,label,color,a\n9,y,green,5\n9,x,red,6\n");
    let test = train.open_like(&path, Part::Test, &Options::default()).unwrap();
    assert_eq!(values(&test), [5.0, 0.0, 0.0, 6.0, 0.0, 1.0]);
    assert_eq!(test.labels().indices(), [1, 0]);
    let unseen: Vec<String> = test.warnings().iter().map(ToString::to_string).collect();
    let expected = "column `color` holds what it did not in the training set, such as `green` (1 in all)";
    assert!(unseen.iter().any(|warning| warning == expected), "{unseen:?}");
    let (_kept, path) = file("u.csv", b"label,a\nx,5\n");
    let error = train.open_like(&path, Part::Test, &Options::default()).unwrap_err();
    assert!(error.to_string().ends_with("has no column `color`; it has `label`, `a`"), "{error}");
}

#[test]
fn quotes_line_ends_and_delimiters_are_understood() {
    let quoted = "a,label\r\n\"1.5\",\"x, \"\"y\"\"\"\r\n2,\"two\nlines\"\r\n3, plain \r\n";
    let set = open("t.csv", quoted, &Options::default()).unwrap();
    assert_eq!(values(&set), [1.5, 2.0, 3.0]);
    assert_eq!(set.labels().classes().names(), ["plain", "two\nlines", "x, \"y\""]);
    for (name, content) in [
        ("t.tsv", "a\tb\tlabel\n1\t2\tx\n3\t4\ty\n"),
        ("t.csv", "a;b;label\n1;2;x\n3;4;y"),
        ("t.csv", "\u{feff}a,b,label\n\n1,2,x\n\n3,4,y\n\n\n"),
    ] {
        assert_eq!(
            values(&open(name, content, &Options::default()).unwrap()),
            [1.0, 2.0, 3.0, 4.0],
            "{content}"
        );
    }
}

#[test]
fn a_compressed_table_is_a_table() {
    let (_kept, path) = file("t.csv.gz", &gzip(b"a,label\n1,x\n2,y\n"));
    assert_eq!(values(&Dataset::open(&path, &Options::default()).unwrap()), [1.0, 2.0]);
}

#[test]
fn a_table_without_a_header_counts_its_columns() {
    let options = Options { label: Some("3".into()), ..Options::default() };
    let set = open("t.csv", "1,2,0\n3,4,1\n", &options).unwrap();
    assert_eq!(values(&set), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(set.labels().indices(), [0, 1]);
}

#[test]
fn a_column_can_be_left_out_and_one_without_a_name_is() {
    let options = Options { ignore: vec!["id".into()], ..Options::default() };
    let set = open("t.csv", ",id,a,label\n0,q1,5,x\n1,q2,6,y\n", &options).unwrap();
    assert_eq!(values(&set), [5.0, 6.0]);
    assert!(set.warnings().contains(&Warning::Unnamed { number: 1 }));
    let options = Options { ignore: vec!["nope".into()], ..Options::default() };
    assert!(said("t.csv", "a,label\n1,x\n2,y\n", &options).starts_with(" has no column `nope`"));
}

#[test]
fn missing_values_are_named_dropped_or_put_at_the_mean() {
    for (name, content) in [
        ("t.csv", "a,b,label\n1,2,x\n,4,y\n5,nan,x\n7,8,y\n"),
        (
            "t.jsonl",
            "{\"a\":1,\"b\":2,\"label\":\"x\"}\n{\"a\":null,\"b\":4,\"label\":\"y\"}\n{\"a\":5,\"label\":\"x\"}\n{\"a\":7,\"b\":8,\"label\":\"y\"}\n",
        ),
    ] {
        assert_eq!(said(name, content, &Options::default()), ", row 2, column `a`: the value is missing");
        let set = open(name, content, &missing(Missing::Drop)).unwrap();
        assert_eq!(values(&set), [1.0, 2.0, 7.0, 8.0]);
        assert_eq!((set.labels().indices(), set.source(1)), (&[0, 1][..], Source::Row(3)));
        assert!(set.warnings().contains(&Warning::Dropped { count: 2 }));
        let set = open(name, content, &missing(Missing::Mean)).unwrap();
        assert!(set.warnings().contains(&Warning::Filled { count: 2 }));
        let constants = Standardization::of(&set);
        assert!((constants.mean[0] - 13.0 / 3.0).abs() < 1e-6, "{constants:?}");
        let Example::Row(row) = set.example(1) else { panic!() };
        let mut out = [9.0; 2];
        constants.row(row, &mut out);
        assert!(out[0].abs() < 1e-9 && out[1].is_finite(), "{out:?}");
    }
}

#[test]
fn every_mistake_in_a_table_is_named_with_its_place() {
    let none = Options::default();
    let cases = [
        ("a,label\n1,x\n2,y,3\n", ", row 2: 3 fields, expected 2"),
        ("a,label\n1,x\n2\n", ", row 2: 1 fields, expected 2"),
        ("a,label\n1,x\n2,\"y\n", ", row 2: a quote is opened and never closed"),
        ("a,label\n1,x\ninf,y\n", ", row 2, column `a`: `inf` is not a finite 32-bit number"),
        ("a,label\n1,x\n1e300,y\n", ", row 2, column `a`: `1e300` is not a finite 32-bit number"),
        ("a,label\n1,x\n2,\n", ", row 2: the label is empty"),
        ("a,a,label\n1,2,x\n", " has two columns called `a`"),
        ("a,b\n1,2\n", " does not say which column is the label; it has `a`, `b`"),
        ("label\nx\ny\n", " has no column to learn from"),
        ("a,label\n", " has no examples"),
        ("", " has no examples"),
    ];
    for (content, message) in cases {
        assert_eq!(said("t.csv", content, &none), message, "{content:?}");
    }
}

#[test]
fn a_word_among_numbers_is_named_however_late_it_comes() {
    let rows: String = (0..200_000).map(|row| format!("{row},{}\n", row % 2)).collect();
    let content = format!("a,label\n{rows}12o5,1\n7,0\n");
    let message = ", row 200001, column `a`: expected a number, found `12o5`";
    assert_eq!(said("t.csv", &content, &Options::default()), message);
}

#[test]
fn a_column_of_too_many_texts_is_refused_by_name() {
    let rows: String = (0..70).map(|row| format!("text {row},x\n")).collect();
    let message = said("t.csv", &format!("note,label\n{rows}"), &Options::default());
    assert_eq!(message, ", column `note` has more than 64 different texts");
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let (_kept, path) = file("t.csv", b"a,label\n1,x\n2,\xff\xfe\n");
    let error = Dataset::open(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.ends_with("row 2, column `label`: not UTF-8"), "{error}");
    let (_kept, path) = file("t.csv", b"a\xff,label\n1,x\n");
    assert!(matches!(Dataset::open(&path, &Options::default()).unwrap_err(), Error::Utf8 { row: 0, .. }));
}

#[test]
fn json_lines_that_are_none_are_named() {
    let none = Options::default();
    let fine = "{\"a\": 1, \"label\": \"x\"}\n";
    assert!(said("t.jsonl", &format!("{fine}[1]\n"), &none).starts_with(", row 2: not a JSON object"));
    assert!(said("t.jsonl", &format!("{fine}{{\"a\": 1\n"), &none).starts_with(", row 2: not a JSON object"));
    let nested = format!("{fine}{{\"a\": [1], \"label\": \"x\"}}\n");
    assert!(said("t.jsonl", &nested, &none).starts_with(", row 2, column `a`: a list or an object"));
    let many = fine.repeat(1500) + "{\"b\": 1, \"label\": \"x\"}\n";
    assert_eq!(said("t.jsonl", &many, &none), ", row 1501: the key `b` is not in the rows before");
}

#[test]
fn a_parquet_table_is_read_in_the_order_of_its_rows() {
    let numbers = [Some(1.0), Some(-2.5), None, Some(4.0), Some(5.0)];
    let (_kept, path) = file("t.parquet", &parquet_with(&numbers, &["b", "a", "b", "a", "b"]));
    let error = Dataset::open(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.ends_with("row 3, column `a`: the value is missing"), "{error}");
    let set = Dataset::open(&path, &missing(Missing::Drop)).unwrap();
    assert_eq!(values(&set), [1.0, -2.5, 4.0, 5.0]);
    assert_eq!(set.labels().indices(), [1, 0, 0, 1]);
    assert_eq!(set.source(2), Source::Row(3));
    let (_kept, path) = file("t.parquet", &parquet_with(&[Some(1.0), Some(f64::INFINITY)], &["b", "a"]));
    let error = Dataset::open(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.ends_with("row 2, column `a`: `inf` is not a finite 32-bit number"), "{error}");
}

#[test]
fn workers_that_read_a_parquet_file_together_do_not_disturb_each_other() {
    let numbers: Vec<Option<f64>> = (0..400_000).map(|row| Some(f64::from(row) * 0.5)).collect();
    let labels: Vec<String> = (0..400_000).map(|row| format!("class {}", row % 97)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let (_kept, path) = file("t.parquet", &parquet_with(&numbers, &labels));
    let set = Dataset::open(&path, &Options::default()).unwrap();
    for (row, label) in labels.iter().enumerate() {
        assert_eq!(set.example(row), Example::Row(&[row as f32 * 0.5]));
        assert_eq!(&set.labels().classes().names()[set.labels().indices()[row] as usize], label);
    }
}

#[test]
fn rows_stay_in_order_and_numbers_exact_over_many_blocks() {
    let number = |row: u32| f64::from(row) * 0.1 - 3e4;
    let rows: String = (0..300_000_u32).map(|row| format!("{},\"q {}\"\n", number(row), row % 7)).collect();
    let set = open("t.csv", &format!("a,label\n{rows}"), &Options::default()).unwrap();
    assert_eq!(set.len(), 300_000);
    for row in (0..300_000).step_by(997) {
        let expected = number(row).to_string().parse::<f32>().unwrap();
        assert_eq!(set.example(row as usize), Example::Row(&[expected]));
        assert_eq!(set.labels().indices()[row as usize], row % 7);
    }
}

#[test]
fn a_column_that_counts_the_rows_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let row = |at: usize| format!("{},{},{},{}\n", at + 1, 0.5 * (at % 7) as f32, 10 * at + at % 3, at % 2);
    let text = "id,x,serial,label\n".to_owned() + &(0..40).map(row).collect::<String>();
    let path = write(folder.path(), "counted.csv", text.as_bytes());
    let set = Dataset::open(&path, &Options::default()).unwrap();
    let said = [Warning::Counts { column: "id".into() }, Warning::Rises { column: "serial".into() }];
    assert_eq!(set.warnings(), said);
    assert_eq!((set.shape(), set.example(5)), (Shape::Row(2), Example::Row(&[2.5, 52.0])));
    // What new rows call so is not asked for, and not looked at.
    let new = write(folder.path(), "new.csv", b"serial,x\n3,1.5\n");
    let labeling = Labeling::Absent;
    let options = Options { features: Some(set.features().to_vec()), labeling, ..Options::default() };
    assert_eq!(Dataset::open(&new, &options).unwrap().example(0), Example::Row(&[1.5, 3.0]));
    // A count that is all there is stays.
    let alone: String = (0..40).map(|at| format!("{at},{}\n", at % 2)).collect();
    let path = write(folder.path(), "alone.csv", format!("id,label\n{alone}").as_bytes());
    let set = Dataset::open(&path, &Options::default()).unwrap();
    assert_eq!((set.shape(), set.warnings()), (Shape::Row(1), &[Warning::Rises { column: "id".into() }][..]));
}

#[test]
fn a_column_that_was_made_from_the_labels_is_warned_of() {
    let row = |at: usize| format!("{},{},{}\n", at % 3, ["ant", "bee", "cat"][at % 3], at * 7 % 11);
    let text = "number,label,x\n".to_owned() + &(0..60).map(row).collect::<String>();
    let set = open("told.csv", &text, &Options::default()).unwrap();
    assert_eq!(set.warnings(), [Warning::Tells { column: "number".into() }]);
    let set =
        open("told.csv", &text, &Options { label: Some("number".into()), ..Options::default() }).unwrap();
    assert_eq!(set.warnings(), [Warning::Tells { column: "label".into() }]);
    // A single wrong label beside the right one, and it no longer tells.
    let text = text.replacen("1,bee", "1,cat", 1);
    assert_eq!(open("told.csv", &text, &Options::default()).unwrap().warnings(), []);
}
