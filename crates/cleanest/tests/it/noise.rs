use crate::typed;
use snapbox::str;
use std::path::Path;

#[test]
fn a_matrix_is_shown_in_percent() {
    typed("noise tridiagonal:0.2 --classes 4").assert().success().stderr_eq("").stdout_eq(str![[r#"
tridiagonal:0.2: 32.0 % of the labels wrong
condition number 2.8

      0     1     2     3
0  68.0  16.0     ·  16.0
1  16.0  68.0  16.0     ·
2     ·  16.0  68.0  16.0
3  16.0     ·  16.0  68.0

"#]]);
}

#[test]
fn json_and_csv_hold_every_digit() {
    typed("noise pair:0.1 --classes 2 --format json").assert().success().stdout_eq(str![[r#"
{
  "transition": [
    [0.9,0.1],
    [0.1,0.9]
  ]
}

"#]]);
    typed("noise pair:0.1 --classes 2 --format csv").assert().success().stdout_eq(str![[r#"
true class,0,1
0,0.9,0.1
1,0.1,0.9

"#]]);
}

#[test]
fn noise_that_no_method_can_be_sure_of_is_called_so() {
    typed("noise pair:0.6 --classes 2").assert().success().stdout_eq(str![[r#"
pair:0.6: 60.0 % of the labels wrong
condition number 5.0
not every class is most often labeled as itself: no method can be sure of it

      0     1
0  40.0  60.0
1  60.0  40.0

"#]]);
}

#[test]
fn every_mistake_has_its_sentence_and_exit_code_2() {
    let said = |words: &str| {
        let output = typed(words).assert().code(2).stdout_eq("").get_output().stderr.clone();
        String::from_utf8(output).unwrap()
    };
    assert_eq!(
        said("noise pare:0.4 --classes 3"),
        "error: no noise is called `pare`\nhint: did you mean `pair`?\n"
    );
    assert_eq!(said("noise pair:7 --classes 3"), "error: `noise` must be a rate in [0, 1]: pair:7\n");
    assert_eq!(said("noise pair --classes 3"), "error: `pair` is not of the form `pair:RATE`\n");
    assert_eq!(said("noise pair:0.4 --classes 1"), "error: there must be at least two classes: 1\n");
    assert_eq!(
        said("noise file:/nowhere/t.json --classes 3"),
        "error: cannot read `/nowhere/t.json`: No such file or directory (os error 2)\n"
    );
    assert!(said("noise pair:0.4").contains("--classes <K>"));
    assert!(said("noise pair:0.4 --apply y.npy").contains("--out <FILE>"));
    assert!(
        said("noise pair:0.4 --classes 3 --out t.txt")
            .contains("`t.txt` is not a file of a transition matrix")
    );
}

#[test]
fn what_cannot_be_written_is_exit_code_1() {
    let output =
        typed("noise pair:0.4 --classes 3 --out /nowhere/t.json").assert().code(1).get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write `/nowhere/t.json`: "));
}

fn labels(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn labels_are_corrupted_as_the_matrix_says() {
    let folder = tempfile::tempdir().unwrap();
    let animals: String = (0..3000).map(|row| ["cat\n", "dog\n", "eel\n"][row % 3]).collect();
    let clean = labels(folder.path(), "clean.csv", &format!("label\n{animals}"));
    let noisy = folder.path().join("noisy.csv").display().to_string();
    let words = format!("noise pair:0.4 --apply {clean} --out {noisy} --seed 7");
    let said = typed(&words).assert().success().stdout_eq("").get_output().stderr.clone();
    let text = std::fs::read_to_string(&noisy).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("label"));
    let mut wrong = 0;
    for (row, label) in lines.enumerate() {
        let (own, next) = (["cat", "dog", "eel"][row % 3], ["dog", "eel", "cat"][row % 3]);
        assert!(label == own || label == next, "row {row}: {label}");
        wrong += usize::from(label == next);
    }
    assert!((wrong as f64 / 3000.0 - 0.4).abs() < 4.0 * (0.24_f64 / 3000.0).sqrt(), "{wrong}");
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with(&format!("{wrong} of 3000 labels in ")), "{said}");

    let again = folder.path().join("again.csv").display().to_string();
    typed(&format!("noise pair:0.4 --apply {clean} --out {again} --seed 7")).assert().success();
    assert_eq!(
        std::fs::read(&again).unwrap(),
        std::fs::read(&noisy).unwrap(),
        "the same seed, the same bytes"
    );
}

#[test]
fn classes_absent_from_the_labels_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let clean = labels(folder.path(), "clean.csv", "label\n0\n0\n1\n1\n");
    let noisy = folder.path().join("noisy.csv").display().to_string();
    typed(&format!("noise pair:1 --apply {clean} --out {noisy} --classes 3")).assert().success();
    assert_eq!(std::fs::read_to_string(&noisy).unwrap(), "label\n1\n1\n2\n2\n");
}

#[test]
fn the_clean_labels_are_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let clean = labels(folder.path(), "clean.csv", "label\n0\n0\n1\n1\n");
    let output = typed(&format!("noise pair:0.4 --apply {clean} --out {clean}")).assert().code(2);
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(said.starts_with("error: --out would write over the clean labels"), "{said}");
    assert_eq!(std::fs::read_to_string(&clean).unwrap(), "label\n0\n0\n1\n1\n");
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(snapbox::cmd::cargo_bin!("cleanest"))
        .args(["noise", "symmetric:0.5", "--classes", "500", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
