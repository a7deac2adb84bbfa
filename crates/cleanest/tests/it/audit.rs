//! `cleanest audit`: of a run, and of anybody's probabilities.

use crate::{cleanest, typed};
use cleanest_core::npy::{Element, Header};
use cleanest_core::random::Stream;
use snapbox::str;
use std::path::Path;
use std::process::Output;

/// Examples of a model that is right and equally sure of all, of which every eleventh has the label of the next class.
struct Model {
    rows: Vec<Vec<f32>>,
    truth: Vec<usize>,
    given: Vec<usize>,
}

impl Model {
    fn new(examples: usize, classes: usize) -> Self {
        let mut stream = Stream::new(1, "audit", 0);
        let mut model = Self { rows: vec![], truth: vec![], given: vec![] };
        for at in 0..examples {
            let class = at % classes;
            let mut row: Vec<f64> = (0..classes).map(|_| 0.5 + stream.uniform()).collect();
            row[class] = 0.0;
            let rest: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p *= 0.01 / rest);
            row[class] = 0.99;
            model.rows.push(row.iter().map(|&p| p as f32).collect());
            model.truth.push(class);
            model.given.push(if at % 11 == 0 { (class + 1) % classes } else { class });
        }
        model
    }

    fn wrong(&self) -> Vec<usize> {
        (0..self.given.len()).filter(|&at| self.given[at] != self.truth[at]).collect()
    }

    fn write_npy(&self, folder: &Path) {
        let mut bytes = Header::write(Element::F32, &[self.rows.len(), self.rows[0].len()]);
        bytes.extend(self.rows.iter().flatten().flat_map(|p| p.to_le_bytes()));
        std::fs::write(folder.join("p.npy"), bytes).unwrap();
        std::fs::write(folder.join("y.npy"), labels(&self.given)).unwrap();
        std::fs::write(folder.join("truth.npy"), labels(&self.truth)).unwrap();
    }

    fn write_csv(&self, folder: &Path, header: &str) {
        let rows = self.rows.iter().map(|row| row.iter().map(f32::to_string).collect::<Vec<_>>().join(","));
        let text = header.to_owned() + &rows.collect::<Vec<_>>().join("\n") + "\n";
        std::fs::write(folder.join("p.csv"), text).unwrap();
    }
}

fn labels(labels: &[usize]) -> Vec<u8> {
    let mut bytes = Header::write(Element::I64, &[labels.len()]);
    bytes.extend(labels.iter().flat_map(|&label| (label as i64).to_le_bytes()));
    bytes
}

fn folder(model: &Model) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    model.write_npy(folder.path());
    folder
}

fn run(folder: &Path, words: &str) -> Output {
    typed(words).current_dir(folder).output().unwrap()
}

fn record(folder: &Path, run: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join(run).join("audit.json")).unwrap()).unwrap()
}

/// A column of a CSV file.
fn column(path: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let at = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|row| row.unwrap()[at].to_owned()).collect()
}

fn listed(folder: &Path, run: &str) -> Vec<usize> {
    let mut rows: Vec<usize> = column(&folder.join(run).join("suspects.csv"), "index")
        .iter()
        .map(|row| row.parse().unwrap())
        .collect();
    rows.sort_unstable();
    rows
}

#[test]
fn the_wrong_labels_are_listed_with_the_right_ones() {
    let model = Model::new(3000, 4);
    let folder = folder(&model);
    for posterior in ["noisy", "clean"] {
        let words = format!(
            "audit --probabilities p.npy --labels y.npy --posterior {posterior} --truth truth.npy --out {posterior}"
        );
        let output = run(folder.path(), &words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(listed(folder.path(), posterior), model.wrong(), "{posterior}");
        let path = folder.path().join(posterior).join("suspects.csv");
        let rows = column(&path, "index");
        for (row, suggested) in rows.iter().zip(column(&path, "suggested")) {
            assert_eq!(suggested, model.truth[row.parse::<usize>().unwrap()].to_string());
        }
        let found = record(folder.path(), posterior);
        let wrong = found["wrong"]["expected"].as_f64().unwrap();
        assert!((wrong - 273.0).abs() < 15.0, "{posterior}: {wrong} of 273");
        assert_eq!(found["score"]["wrong"], 273);
        assert!(found["score"]["average_precision"].as_f64().unwrap() > 0.999);
        assert!(found["score"]["suggestions_right"].as_f64().unwrap() > 0.999);
    }
}

#[test]
fn every_format_of_the_same_numbers_gives_the_same_list() {
    let model = Model::new(500, 3);
    let folder = folder(&model);
    assert!(run(folder.path(), "audit --probabilities p.npy --labels y.npy --out npy").status.success());
    let expected = listed(folder.path(), "npy");
    for (name, header) in [("names", "p(a),p(b),p(c)\n"), ("numbers", "0,1,2\n"), ("bare", "")] {
        model.write_csv(folder.path(), header);
        let output = run(folder.path(), &format!("audit --probabilities p.csv --labels y.npy --out {name}"));
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(listed(folder.path(), name), expected, "{name}");
    }
    let path = folder.path().join("names/suspects.csv");
    assert!(column(&path, "given").iter().all(|given| ["a", "b", "c"].contains(&given.as_str())));
}

#[test]
fn predictions_of_a_run_are_probabilities_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        run(folder.path(), "fit digits --method cce --steps 60 --folds 0 --quiet --out r").status.success()
    );
    let mut lists = Vec::new();
    for ending in ["npy", "csv", "parquet"] {
        assert!(run(folder.path(), &format!("predict r digits --out p.{ending}")).status.success());
        let digits =
            cleanest_data::Dataset::open("digits".as_ref(), &cleanest_data::Options::default()).unwrap();
        let given: Vec<usize> = digits.labels().indices().iter().map(|&label| label as usize).collect();
        std::fs::write(folder.path().join("y.npy"), labels(&given)).unwrap();
        let output =
            run(folder.path(), &format!("audit --probabilities p.{ending} --labels y.npy --out {ending}"));
        assert!(output.status.success(), "{ending}: {}", String::from_utf8_lossy(&output.stderr));
        lists.push(listed(folder.path(), ending));
    }
    assert!(!lists[0].is_empty());
    assert!(lists[0] == lists[1] && lists[1] == lists[2], "{lists:?}");
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let folder = folder(&Model::new(200_000, 3));
    for posterior in ["noisy", "clean"] {
        let outputs = ["1", "3"].map(|threads| {
            let out = format!("{posterior}-{threads}");
            let words =
                format!("audit --probabilities p.npy --labels y.npy --posterior {posterior} --out {out}");
            let command = typed(&words).current_dir(folder.path()).env("RAYON_NUM_THREADS", threads);
            assert!(command.output().unwrap().status.success());
            ["audit.json", "suspects.csv", "suspects.parquet"]
                .map(|name| std::fs::read(folder.path().join(&out).join(name)).unwrap())
        });
        assert!(outputs[0] == outputs[1], "{posterior}");
    }
}

#[test]
fn labels_are_dropped_or_put_right_above_a_bar() {
    let model = Model::new(1000, 4);
    let folder = folder(&model);
    let words = "audit --probabilities p.npy --labels y.npy --fix relabel --above 0.9 --out fixed";
    assert!(run(folder.path(), words).status.success());
    let cleaned = column(&folder.path().join("fixed/cleaned.csv"), "label");
    let truth: Vec<String> = model.truth.iter().map(usize::to_string).collect();
    assert_eq!(cleaned, truth);
    let words = "audit --probabilities p.npy --labels y.npy --fix drop --above 0.9 --out dropped";
    assert!(run(folder.path(), words).status.success());
    let kept = column(&folder.path().join("dropped/cleaned.csv"), "index");
    assert_eq!(kept.len(), 1000 - model.wrong().len());
    assert!(kept.iter().all(|row| row.parse::<usize>().unwrap() % 11 != 0));
}

#[test]
fn label_studio_gets_a_task_for_each_suspect() {
    let folder = folder(&Model::new(1000, 4));
    assert!(
        run(folder.path(), "audit --probabilities p.npy --labels y.npy --label-studio --out a")
            .status
            .success()
    );
    let tasks: Vec<serde_json::Value> =
        serde_json::from_slice(&std::fs::read(folder.path().join("a/label-studio.json")).unwrap()).unwrap();
    assert_eq!(tasks.len(), 91);
    let choices = &tasks[0]["predictions"][0]["result"][0]["value"]["choices"];
    assert_eq!(choices.as_array().unwrap().len(), 1);
    assert_ne!(choices[0], tasks[0]["data"]["given"]);
}

#[test]
fn too_many_wrong_labels_can_fail_a_pipeline() {
    let folder = folder(&Model::new(1000, 4));
    let audit = |limit: &str| {
        let words =
            format!("audit --probabilities p.npy --labels y.npy --fail-over {limit} --out over-{limit}");
        run(folder.path(), &words)
    };
    assert_eq!(audit("0.2").status.code(), Some(0));
    let failed = audit("0.05");
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8(failed.stderr).unwrap();
    assert!(said.contains("more than the 5.0 % that are allowed"), "{said}");
    assert!(folder.path().join("over-0.05/suspects.csv").is_file(), "what was found is kept");
}

#[test]
fn each_mistake_in_the_input_has_its_own_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let fails = |words: &str, expected: &str| {
        let output = run(folder.path(), &format!("audit {words} --out none"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
        assert!(!folder.path().join("none").exists(), "nothing is left behind");
    };
    write("p.csv", "a,b\n0.5,0.5\n0.9,0.3\n");
    write("y.csv", "label\na\nb\n");
    fails(
        "--probabilities p.csv --labels y.csv",
        "`p.csv`: row 2: the probabilities sum to 1.2, not to 1\nhint: ",
    );
    write("p.csv", "a,b\n0.5,0.5\n1.1,-0.1\n");
    fails("--probabilities p.csv --labels y.csv", "row 2, class 1 (from 0): not a probability: -0.1");
    write("p.csv", "a,b\n0.5,0.5\n0.5,nan\n");
    fails("--probabilities p.csv --labels y.csv", "row 2");
    write("p.csv", "a,b\n0.5,0.5\n0.7,0.3\n0.7,0.3\n");
    fails("--probabilities p.csv --labels y.csv", "`y.csv` holds 2 labels for 3 examples");
    write("y.csv", "label\na\nb\nc\n");
    fails("--probabilities p.csv --labels y.csv", "`c` is none of the classes");
    std::fs::write(folder.path().join("y.npy"), labels(&[0, 1, 2])).unwrap();
    fails("--probabilities p.csv --labels y.npy", "row 3: the label 2 is not in 0 to 1");
    fails("--probabilities p.csv --labels y.npy --classes one", "names 1 classes, expected 2");
    fails("--probabilities absent.npy --labels y.npy", "absent.npy");
    std::fs::write(folder.path().join("y.npy"), labels(&[0, 1, 1])).unwrap();
    fails("--probabilities p.csv --labels y.npy --prune clas", "did you mean `class`?");
    fails("--probabilities p.csv --labels y.npy --above 2 --fix drop", "`above` must be in 0 to 1: 2");
}

#[test]
fn scores_are_made_probabilities_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..40).map(|at| if at % 2 == 0 { "9,1\n" } else { "2,6\n" }).collect();
    std::fs::write(folder.path().join("p.csv"), format!("a,b\n{rows}")).unwrap();
    let given: String = (0..40).map(|at| if at % 2 == 0 || at == 7 { "a\n" } else { "b\n" }).collect();
    std::fs::write(folder.path().join("y.csv"), format!("label\n{given}")).unwrap();
    let output = run(folder.path(), "audit --probabilities p.csv --labels y.csv --renormalize --out a");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(listed(folder.path(), "a"), [7]);
}

#[test]
fn a_class_nobody_was_given_is_a_class_all_the_same() {
    let model = Model::new(300, 3);
    let folder = folder(&model);
    std::fs::write(
        folder.path().join("y.npy"),
        labels(&model.given.iter().map(|label| label % 2).collect::<Vec<_>>()),
    )
    .unwrap();
    let output = run(folder.path(), "audit --probabilities p.npy --labels y.npy --out a");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("warning: no example has the label `2`"), "{said}");
    assert_eq!(record(folder.path(), "a")["classes"].as_array().unwrap().len(), 3);
}

#[test]
fn a_spreadsheet_finds_no_formula() {
    let folder = folder(&Model::new(1000, 2));
    let words =
        ["audit", "--probabilities", "p.npy", "--labels", "y.npy", "--out", "a", "--classes", "=1+1,@x"];
    assert!(cleanest().current_dir(folder.path()).args(words).output().unwrap().status.success());
    let given = column(&folder.path().join("a/suspects.csv"), "given");
    assert!(given.iter().all(|given| given == "'=1+1" || given == "'@x"), "{given:?}");
}

#[test]
fn a_run_is_audited_again_with_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "fit digits --noise pair:0.3 --quiet --out r");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let before = std::fs::read(folder.path().join("r/audit.json")).unwrap();
    let suspects = std::fs::read(folder.path().join("r/suspects.csv")).unwrap();
    assert!(run(folder.path(), "audit r").status.success());
    assert!(std::fs::read(folder.path().join("r/suspects.csv")).unwrap() == suspects);
    let (again, before): (serde_json::Value, serde_json::Value) =
        (record(folder.path(), "r"), serde_json::from_slice(&before).unwrap());
    assert_eq!(again["wrong"], before["wrong"]);
    assert_eq!(again["score"], before["score"]);
}

#[test]
fn p_wrong_is_calibrated_and_the_list_is_right_on_the_digits() {
    let folder = tempfile::tempdir().unwrap();
    for noise in ["pair:0.4", "symmetric:0.5", "clean"] {
        let out = noise.replace(':', "-");
        assert!(
            run(folder.path(), &format!("fit digits --noise {noise} --quiet --out {out}")).status.success()
        );
        let found = record(folder.path(), &out);
        assert_eq!(found["probabilities"]["source"], "folds");
        let score = |key: &str| found["score"][key].as_f64().unwrap();
        assert!(score("calibration_error") < 0.03, "{noise}: {}", score("calibration_error"));
        assert_eq!(found["score"]["wrong_covered"], true, "{noise}: {}", found["wrong"]);
        if noise != "clean" {
            assert!(score("average_precision") > 0.97, "{noise}: {}", score("average_precision"));
            assert!(score("right_after") > score("right_before") + 0.3, "{noise}");
        }
    }
}

#[test]
fn one_of_both_ways_has_to_be_named() {
    typed("audit").assert().code(2);
    typed("audit r --probabilities p.npy").assert().code(2);
    typed("audit nowhere").assert().code(2).stderr_eq(str![[r#"
error: there is no `nowhere`

"#]]);
}

#[test]
fn a_model_that_knows_nothing_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut stream = Stream::new(2, "audit", 0);
    let mut row = || {
        let numbers: Vec<String> = (0..8).map(|_| format!("{:.4}", stream.normal())).collect();
        format!("{},{}\n", numbers.join(","), ["cat", "dog"][stream.below(2)])
    };
    let table: String = (0..600).map(|_| row()).collect();
    std::fs::write(folder.path().join("t.csv"), format!("a,b,c,d,e,f,g,h,label\n{table}")).unwrap();
    let output = run(folder.path(), "fit t.csv --quiet --out r");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the networks know the classes badly"), "{said}");
    let wrong = &record(folder.path(), "r")["wrong"];
    let width = wrong["high"].as_f64().unwrap() - wrong["low"].as_f64().unwrap();
    assert!(width > 100.0, "nothing is known of these labels, and the bounds say so: {wrong}");
}
