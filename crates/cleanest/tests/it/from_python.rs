//! Run folders whose data were arrays in Python's memory, as `NoisyLabelClassifier.save` writes them.

use crate::typed;
use cleanest::data::{Classes, Dataset, Labels, Parts};
use cleanest::experiment::{Config, Prepared};
use cleanest::run::RunFolder;
use cleanest::train::{Silent, Stop};
use std::fmt::Write as _;
use std::path::Path;

const EXAMPLES: usize = 200;

/// Two numbers and a label for each example: which of them is larger, and every ninth label is wrong.
fn rows() -> (Vec<f32>, Vec<u32>) {
    let pair = |at: usize| [(at * 7 % 40) as f32, (at * 11 % 37) as f32];
    let label = |at: usize| u32::from((pair(at)[0] > pair(at)[1]) != at.is_multiple_of(9));
    ((0..EXAMPLES).flat_map(pair).collect(), (0..EXAMPLES).map(label).collect())
}

/// A folder that holds `saved`, a run, and the labels in a file.
fn saved(audit: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("data = \"array\"\nsteps = 60\ndevice = \"cpu\"\naudit = {audit}");
    let config = Config::from_table(&text.parse().unwrap()).unwrap();
    let (numbers, labels) = rows();
    let classes = Classes::new(vec!["cat".into(), "dog".into()]).unwrap();
    let names: String =
        labels.iter().map(|&label| format!("{}\n", classes.names()[label as usize])).collect();
    std::fs::write(folder.path().join("y.txt"), names).unwrap();
    let train = Dataset::from_rows(2, numbers, Some(Labels::new(labels, classes))).unwrap();
    let data = Prepared::of(Parts { train, test: None }, &config).unwrap();
    let run = RunFolder::create(&folder.path().join("saved")).unwrap();
    run.fit_on(data, &config, &Stop::default(), &mut Silent).unwrap();
    std::fs::write(run.file("python.json"), "{}").unwrap();
    folder
}

fn said(folder: &Path, words: &str, code: i32) -> (String, String) {
    let output = typed(words).current_dir(folder).assert().code(code).get_output().clone();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn read(folder: &Path, file: &str) -> Vec<u8> {
    std::fs::read(folder.join("saved").join(file)).unwrap()
}

const CURE: &str = "error: the data of `saved` were given from Python and are in no file\n\
    hint: in Python, `find_label_issues()` lists the suspects and `fit` trains anew; \
    with the labels in a file, `cleanest audit saved --labels FILE`\n";

#[test]
fn what_needs_the_data_names_a_cure_that_works() {
    let folder = saved(true);
    let path = folder.path();
    assert_eq!(said(path, "audit saved", 2), (String::new(), CURE.to_owned()));
    let files = ["audit.json", "suspects.csv", "suspects.parquet"];
    let before = files.map(|file| read(path, file));
    let (stdout, _) = said(path, "audit saved --labels y.txt --fix relabel", 0);
    assert!(stdout.contains("labels relabeled in saved/cleaned.csv"), "{stdout}");
    assert_eq!(files.map(|file| read(path, file)), before);
    std::fs::write(path.join("short.txt"), "cat\ndog\n").unwrap();
    let (_, refused) = said(path, "audit saved --labels short.txt", 2);
    assert!(refused.contains("2 labels"), "{refused}");
    std::fs::write(path.join("other.txt"), "owl\n".repeat(EXAMPLES)).unwrap();
    let (_, refused) = said(path, "audit saved --labels other.txt", 2);
    assert!(refused.contains("`owl`"), "{refused}");
}

#[test]
fn a_folder_that_was_not_audited_is_audited_by_labels_in_a_file() {
    let folder = saved(false);
    assert_eq!(said(folder.path(), "audit saved", 2).1, CURE);
    let (_, refused) = said(folder.path(), "report saved", 2);
    assert!(refused.starts_with("error: `saved` was not audited"), "{refused}");
    said(folder.path(), "audit saved --labels y.txt --truth y.txt", 0);
    let audit = RunFolder::open(&folder.path().join("saved")).unwrap().audit().unwrap();
    assert_eq!((audit.examples, audit.score.is_some()), (EXAMPLES, true));
    said(folder.path(), "report saved", 0);
}

#[test]
fn a_page_names_the_examples_and_says_why_it_does_not_show_them() {
    let folder = saved(true);
    let (stdout, stderr) = said(folder.path(), "report saved", 0);
    assert_eq!(stdout, "saved/report.html\n");
    assert_eq!(
        stderr,
        "warning: the page names the examples but does not show them: \
        the data of `saved` were given from Python and are in no file\n"
    );
}

#[test]
fn a_complete_run_has_nothing_to_resume_and_another_cannot_be() {
    let folder = saved(true);
    let (_, stderr) = said(folder.path(), "resume saved", 0);
    assert_eq!(stderr, "`saved` is complete: there is nothing to resume\n");
    std::fs::remove_file(folder.path().join("saved/about.json")).unwrap();
    assert_eq!(said(folder.path(), "resume saved", 2).1, CURE);
}

#[test]
fn it_predicts_examples_of_a_file_as_those_of_an_array() {
    let folder = saved(true);
    let (numbers, _) = rows();
    let mut table = "width,height\n".to_owned();
    numbers.chunks(2).for_each(|row| writeln!(table, "{},{}", row[0], row[1]).unwrap());
    std::fs::write(folder.path().join("x.csv"), table).unwrap();
    let mut npy = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({EXAMPLES}, 2), }}");
    npy.push_str(&" ".repeat(117 - npy.len()));
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(npy.bytes().chain([b'\n']));
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    std::fs::write(folder.path().join("x.npy"), bytes).unwrap();
    for file in ["x.csv", "x.npy"] {
        said(folder.path(), &format!("predict saved {file} --out p.npy --device cpu"), 0);
        assert_eq!(
            std::fs::read(folder.path().join("p.npy")).unwrap(),
            read(folder.path(), "probabilities.npy")
        );
    }
    let (_, refused) = said(folder.path(), "predict saved array --out p.npy", 2);
    assert!(refused.starts_with("error: there is no `array`"), "{refused}");
}

#[test]
fn it_is_drawn_and_a_table_says_that_nothing_is_known_to_compare_with() {
    let folder = saved(true);
    said(folder.path(), "plot saved --out figures", 0);
    let (_, stderr) = said(folder.path(), "table saved", 2);
    assert_eq!(
        stderr,
        "not counted: saved: neither clean labels to test on nor injected noise to compare with\n\
        error: no run can be counted: there is nothing to sum up\n"
    );
}
