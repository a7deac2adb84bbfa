//! `cleanest inspect`.

use crate::cleanest;
use snapbox::str;

fn table(content: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

#[test]
fn a_set_is_described() {
    let (folder, _) = table("a,b,label\n1,2,cat\n1,2,dog\n3,4,cat\n5,6,owl\n");
    cleanest().current_dir(&folder).args(["inspect", "t.csv"]).assert().success().stderr_eq("").stdout_eq(
        str![[r#"
format      csv
examples    4
each        2 (numbers)
classes     3
         0  cat         2
         1  dog         1
         2  owl         1
sha256 [..]
duplicates: 1 copies; 1 groups of equal examples with different labels, 2 examples
  the same: 0 is cat, 1 is dog
warning: class `dog` has a single example
warning: class `owl` has a single example

"#]],
    );
}

#[test]
fn programs_get_json() {
    let output = cleanest().args(["inspect", "digits", "--json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["train"]["format"], "digits");
    assert_eq!(report["train"]["shape"], serde_json::json!([8, 8, 1]));
    assert_eq!(report["train"]["classes"][3]["examples"], 183);
    assert!(report["test"].is_null());
}

#[test]
fn a_mistake_is_named_with_its_cure() {
    let (folder, _) = table("a,species\n1,cat\n2,dog\n");
    let inspect = cleanest().current_dir(&folder).args(["inspect", "t.csv"]);
    inspect.assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error: `t.csv` does not say which column is the label; it has `a`, `species`
hint: name it with `--label COLUMN`, or give a file with `--labels FILE`

"#]]);
    let inspect = cleanest().current_dir(&folder).args(["inspect", "t.csv", "--label", "species"]);
    inspect.assert().success();
}

#[test]
fn what_a_terminal_would_obey_is_not_printed() {
    let (folder, _) = table("a,label\n1,\u{1b}[31mred\n2,plain\n3,plain\n4,\u{1b}[31mred\n");
    let output = cleanest().current_dir(&folder).args(["inspect", "t.csv"]).output().unwrap();
    assert!(output.status.success());
    assert!(!output.stdout.contains(&0x1b), "an escape sequence of the file reached the terminal");
}

#[test]
fn a_set_without_labels_is_described_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut array = cleanest_core::npy::Header::write(cleanest_core::npy::Element::U8, &[3, 2]);
    array.extend([1, 2, 3, 4, 1, 2]);
    std::fs::write(folder.path().join("x.npy"), array).unwrap();
    cleanest().current_dir(&folder).args(["inspect", "x.npy"]).assert().success().stdout_eq(str![[r#"
format      npy
examples    3
each        2 (numbers)
classes     none: the set comes without labels
sha256 [..]
duplicates: 1 copies; 0 groups of equal examples with different labels, 0 examples

"#]]);
}

#[test]
fn sizes_are_understood() {
    for (size, code) in [("8", 0), ("8x8", 0), ("0", 2), ("8x", 2), ("big", 2)] {
        cleanest().args(["inspect", "digits", "--image-size", size]).assert().code(code);
    }
}
