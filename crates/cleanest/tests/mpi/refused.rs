//! Workers that are not about to do the same do not begin.

use crate::{WORDS, mpirun, program, stderr, workers};
use std::path::Path;
use std::process::Output;

/// Two workers with different words.
fn two(folder: &Path, words: [&str; 2]) -> Output {
    let mut command = mpirun(folder);
    for (index, words) in words.iter().enumerate() {
        command.args(if index == 0 { &["-n", "1"][..] } else { &[":", "-n", "1"] });
        command.arg(program()).args(words.split_whitespace());
    }
    command.output().unwrap()
}

#[test]
fn other_data_or_settings_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let table = |value: u32| -> String {
        let rows: String = (0..200).map(|row| format!("{},{value},{}\n", row % 7, row % 2)).collect();
        format!("a,b,label\n{rows}")
    };
    std::fs::write(folder.path().join("a.csv"), table(1)).unwrap();
    std::fs::write(folder.path().join("b.csv"), table(2)).unwrap();
    let cases = [
        ("fit a.csv --out run", "fit b.csv --out run", " has other data than the first worker: sha256 "),
        (
            "fit a.csv --out run",
            "fit a.csv --steps 77 --out run",
            " was asked for `steps` 77, and the first worker for ",
        ),
        (
            "fit a.csv --out run",
            "fit a.csv --set tvd.gamma=0.5 --out run",
            " was asked for `tvd.gamma` 0.5, and the first worker for 0.1",
        ),
        ("fit a.csv --out run", "fit c.csv --out run", " cannot begin: "),
    ];
    for (first, second, sentence) in cases {
        let output = two(folder.path(), [first, second]);
        let said = stderr(&output);
        assert!(!output.status.success());
        assert!(said.contains("error: worker 1 of 2 ("), "{said}");
        assert!(said.contains(sentence), "{said}");
        assert!(!folder.path().join("run").exists(), "nothing was begun");
    }
}

#[test]
fn a_mistake_of_all_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    for (words, sentence) in [
        ("fit nowhere", "error: there is no `nowhere`"),
        (
            "fit digits --batch 2 --out run",
            "error: `batch` is 2: expected an example or more for each of 3 workers",
        ),
        ("fit digits --mehod tvd", "error: unexpected argument '--mehod'"),
        ("sweep some.toml", "error: a sweep is not trained by several workers together"),
    ] {
        let output = workers(folder.path(), 3, words).output().unwrap();
        let said = stderr(&output);
        assert!(!output.status.success());
        assert_eq!(said.matches(sentence).count(), 1, "{said}");
    }
    let occupied = folder.path().join("occupied");
    std::fs::create_dir(&occupied).unwrap();
    std::fs::write(occupied.join("something"), "").unwrap();
    let output = workers(folder.path(), 2, &format!("{WORDS} --out occupied")).output().unwrap();
    assert_eq!(stderr(&output).matches("already holds something").count(), 1);
}
