//! Runs whose data have changed since they were trained.

use crate::resume::{checkpoints, spawn};
use crate::typed;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

const PROBLEM: &str = "error: the data of `run` are not those it was trained on: sha256 ";

/// A table of two classes; the label of the first example is given.
fn write(folder: &Path, first: usize) {
    let mut text = "a,b,label\n".to_owned();
    for row in 0..200 {
        writeln!(text, "{},{},{}", row % 7, row % 5, if row == 0 { first } else { row % 2 }).unwrap();
    }
    std::fs::write(folder.join("t.csv"), text).unwrap();
}

fn said(folder: &Path, words: &str, code: i32) -> String {
    let output = typed(words).current_dir(folder).assert().code(code).get_output().clone();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_run_is_not_resumed_on_other_data() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0);
    let words = "fit t.csv --steps 100000 --quiet --out run --set checkpoint_steps=5";
    let mut child = spawn(folder.path(), words);
    let run = folder.path().join("run");
    while !run.join("checkpoints").is_dir() || checkpoints(&run).is_empty() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    write(folder.path(), 1);
    let said = said(folder.path(), "resume run --quiet", 2);
    assert!(said.starts_with(PROBLEM), "{said}");
}

#[test]
fn what_a_run_says_of_other_labels_has_to_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, 0);
    said(path, "fit t.csv --steps 50 --quiet --out run", 0);
    let before = std::fs::read(path.join("run/audit.json")).unwrap();
    write(path, 1);
    let refused = said(path, "audit run --fix relabel", 2);
    assert!(refused.starts_with(PROBLEM), "{refused}");
    assert!(
        refused.contains("judges other labels of the same examples by `cleanest audit run --labels FILE`")
    );
    assert_eq!(std::fs::read(path.join("run/audit.json")).unwrap(), before);
    assert!(!path.join("run/cleaned.csv").exists());
    said(path, "audit run --labels t.csv --label label", 0);
    assert_ne!(std::fs::read(path.join("run/audit.json")).unwrap(), before);
}
