//! `report.html` and `cleanest plot`: what is written, and what is said where something is missing.

use crate::typed;
use cleanest::audit::{
    AuditRecord, AuditScore, CalibrationRecord, ClassRecord, Estimate, Intervals, ListSize, Posterior,
    PrecisionAt, Provenance, Suspect,
};
use cleanest::report;
use cleanest::run::RunFolder;
use cleanest_data::{Dataset, Options};
use std::path::Path;

/// What a careless page would run.
pub(crate) const SCRIPT: &str = "<script>alert(1)</script>";
/// What would end an attribute, a script or a comment.
pub(crate) const NAME: &str = "a\"b' onerror=\"alert(2)\" </script><!-- & \u{1b}[31m.png";

/// An audit of classes with these names, a tenth of each labeled as the next.
pub(crate) fn record(names: &[&str]) -> AuditRecord {
    let classes = names.len();
    let place = |off: f64| {
        let entry = |row: usize, column: usize| match (column + classes - row) % classes {
            0 => 0.9 - off,
            1 => 0.1 + off,
            _ => 0.0,
        };
        (0..classes).map(|row| (0..classes).map(|column| entry(row, column)).collect()).collect()
    };
    let scaled = |rows: Vec<Vec<f64>>| {
        rows.into_iter().map(|row| row.into_iter().map(|entry| 100.0 * entry).collect()).collect()
    };
    let estimate = |expected: f64| Estimate { expected, low: 0.8 * expected, high: 1.2 * expected };
    let class = |name: &&str| ClassRecord {
        name: (*name).to_owned(),
        given: 100,
        true_examples: 100.0,
        wrong: estimate(10.0),
        missed: estimate(10.0),
    };
    AuditRecord {
        version: "1.2.3".to_owned(),
        posterior: Posterior::Clean,
        probabilities: Provenance::RunningMean,
        temperature: None,
        explained: None,
        model_error: 0.0075,
        examples: 100 * classes,
        listed: 10 * classes,
        level: 0.95,
        wrong: estimate(10.0 * classes as f64),
        classes: names.iter().map(class).collect(),
        transition: Intervals { expected: place(0.0), low: place(-0.03), high: place(0.03) },
        joint: scaled(place(0.0)),
        to_check: vec![ListSize { share: 0.8, examples: 9 * classes }],
        confident: None,
        score: None,
    }
}

/// Suspects of the audit above, two of each class, every third one too close to call.
pub(crate) fn suspects(classes: u32) -> Vec<Suspect> {
    let suspect = |at: u32| Suspect {
        row: at as usize,
        source: at.to_string(),
        given: (at + 1) % classes,
        suggested: at % classes,
        p_wrong: 0.99 - 0.001 * f64::from(at),
        p_suggested: 0.9,
        margin: 0.8,
        abstains: at % 3 == 2,
        self_confidence: 0.01,
        normalized_margin: -0.8,
    };
    (0..2 * classes).map(suspect).collect()
}

/// A folder that holds nothing but an audit.
pub(crate) fn audited(path: &Path, record: &AuditRecord) -> RunFolder {
    let run = RunFolder::create(path).unwrap();
    run.write_json("audit.json", record).unwrap();
    run
}

pub(crate) fn digits() -> Dataset {
    Dataset::open(Path::new("digits"), &Options::default()).unwrap()
}

fn page(run: &RunFolder, suspects: &[Suspect], data: Option<&Dataset>) -> String {
    report::page(run, suspects, data).unwrap().replace('\u{a0}', " ")
}

#[test]
fn text_from_files_is_never_markup() {
    let folder = tempfile::tempdir().unwrap();
    let mut record = record(&[SCRIPT, NAME, "\"><img src=x>"]);
    record.probabilities = Provenance::File { path: NAME.to_owned() };
    let mut suspects = suspects(3);
    suspects.iter_mut().for_each(|suspect| NAME.clone_into(&mut suspect.source));
    let page = page(&audited(&folder.path().join("run"), &record), &suspects, Some(&digits()));
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains("<img src=x>") && !page.contains("onerror=\""));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains('\u{1b}'), "what a terminal would obey");
}

#[test]
fn the_page_of_probabilities_says_why_it_shows_no_examples() {
    let folder = tempfile::tempdir().unwrap();
    let run = audited(&folder.path().join("run"), &record(&["cat", "dog"]));
    let page = page(&run, &suspects(2), None);
    assert!(page.contains("not the examples themselves: they are named but not shown"));
    assert!(
        !page.contains("data:image") && !page.contains("id=\"training\"") && !page.contains("config.toml")
    );
}

#[test]
fn what_is_known_to_be_true_is_held_against_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut record = record(&["cat", "dog", "eel"]);
    let bin = |share: f64| CalibrationRecord { examples: 20, expected: share, wrong: share };
    record.score = Some(AuditScore {
        wrong: 1234,
        wrong_covered: false,
        average_precision: 0.875,
        precision_at: vec![PrecisionAt { examples: 100, precision: 0.75 }],
        suggestions_right: 0.5,
        right_before: 0.25,
        right_after: 0.625,
        calibration_error: 0.0125,
        calibration: vec![bin(0.1), bin(0.9)],
        transition_covered: Some(0.375),
    });
    let run = audited(&folder.path().join("run"), &record);
    run.write("truth.json", b"{\"transition\": [[0.5,0.5,0],[0,0.5,0.5],[0.5,0,0.5]]}").unwrap();
    let page = page(&run, &[], None);
    assert!(page.contains("In truth 1,234 labels are wrong, which is outside these bounds"));
    // Each estimated row is 0.4 away from the true one.
    assert!(page.contains("differ by <strong>40.0 %</strong>"));
    for number in ["0.875", "75.0 %", "50.0 %", "25.0 %", "62.5 %", "0.013", "37.5 %"] {
        assert!(page.contains(&format!(">{number}</td>")), "{number}");
    }
}

#[test]
fn a_hundred_classes_fit_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..100).map(|class| format!("class {class}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut record = record(&names);
    // Every label is possible, and none of the small ones is worth a cell.
    record.transition.expected.iter_mut().flatten().filter(|p| **p == 0.0).for_each(|p| *p = 1e-4);
    let page = page(&audited(&folder.path().join("run"), &record), &suspects(100), Some(&digits()));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(page.contains("The other 80 classes"));
}

#[test]
fn what_cannot_be_shown_is_refused_with_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    let said = |words: &str| {
        let output = typed(words).current_dir(folder.path()).assert().code(2).get_output().stderr.clone();
        String::from_utf8(output).unwrap()
    };
    std::fs::create_dir(folder.path().join("old")).unwrap();
    std::fs::write(folder.path().join("old/config.toml"), "data = \"digits\"\n").unwrap();
    assert_eq!(
        said("report old"),
        "error: `old` was not audited: it has no `audit.json`\nhint: audit it with `cleanest audit old`\n"
    );
    assert_eq!(said("report nothing"), "error: there is no `nothing`\n");
    assert!(said("plot old --out figures").starts_with("error: `old` is not complete"));
    assert_eq!(said("plot nothing --out figures"), "error: there is no `nothing`\n");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(said("report empty"), "error: `empty` is not a run folder: it has no `audit.json`\n");
    assert_eq!(said("audit empty"), "error: `empty` is not a run folder: it has no `config.toml`\n");
    assert!(said("plot old").contains("--out <DIR>"));
    std::fs::write(folder.path().join("old/audit.json"), "{").unwrap();
    assert!(said("report old").starts_with("error: `old/audit.json`: EOF while parsing"));
    let mut torn = record(&["cat", "dog"]);
    torn.transition.low.pop();
    audited(&folder.path().join("torn"), &torn);
    assert!(said("report torn").contains("do not have 2 rows and columns"));
}

/// The figures of a folder, by name.
fn figures(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_is_drawn_as_svg_and_png() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..300).map(|row| format!("{},{},{}\n", row % 3, row % 7, row % 3)).collect();
    std::fs::write(folder.path().join("t.csv"), format!("a,b,label\n{rows}")).unwrap();
    let words = "fit t.csv --noise pair:0.2 --steps 40 --quiet --out run";
    typed(words).current_dir(folder.path()).assert().success();
    let page = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("of the clean test labels right"));
    let output = typed("plot run --out figures").current_dir(folder.path()).assert().success();
    let said = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let drawn = ["accuracy", "loss", "noise-rate", "simplex", "transition-true", "transition"];
    let expected: Vec<String> =
        drawn.iter().flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]).collect();
    assert_eq!(figures(&folder.path().join("figures")), expected);
    assert_eq!(said.lines().count(), expected.len());
    for name in drawn {
        let picture = image::open(folder.path().join(format!("figures/{name}.png"))).unwrap().to_rgb8();
        let inked = picture.pixels().filter(|pixel| pixel.0 != [255; 3]).count();
        assert!(picture.width() > 600 && inked > 1000, "{name}: {inked} pixels are drawn on");
    }
}

#[test]
fn any_class_name_can_be_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for (at, name) in [SCRIPT, NAME, "\u{0}\u{fffe}", "猫", "\u{202e}tac", "&amp;"].into_iter().enumerate() {
        let path = folder.path().join(at.to_string());
        let run = audited(&path, &record(&[name, "dog"]));
        let drawn = report::plot(&run, &path.join("figures")).unwrap();
        assert_eq!(drawn.len(), 2, "{name:?}");
    }
}

/// Two kinds of bugs, the label of every seventh the other one; a number is missing here and there.
fn bugs(folder: &Path, shift: usize) {
    let row = |at: usize| {
        let (is_bee, is_wrong) = (at.is_multiple_of(2), at.is_multiple_of(7));
        let wobble = ((at * 37) % 100) as f64 / 50.0 - 1.0;
        let legs = if at.is_multiple_of(5) { String::new() } else { (6.0 + wobble).to_string() };
        let size = if is_bee { 4.0 } else { 0.0 } + wobble + shift as f64;
        format!("{size},{legs},{}\n", if is_bee == is_wrong { "ant" } else { "bee" })
    };
    let rows: String = (0..420).map(row).collect();
    std::fs::write(folder.join("bugs.csv"), format!("wing_length,legs,kind\n{rows}")).unwrap();
}

fn made(folder: &Path) -> (String, String) {
    let output = typed("report run").current_dir(folder).assert().success().stdout_eq("run/report.html\n");
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    (std::fs::read_to_string(folder.join("run/report.html")).unwrap().replace('\u{a0}', " "), said)
}

#[test]
fn rows_are_shown_with_what_is_usual_as_long_as_they_are_there() {
    let folder = tempfile::tempdir().unwrap();
    bugs(folder.path(), 0);
    let words = "fit bugs.csv --label kind --missing mean --steps 200 --quiet --out run";
    typed(words).current_dir(folder.path()).assert().success();
    let fitted = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    let (page, said) = made(folder.path());
    assert_eq!(
        (page.as_str(), said.as_str()),
        (fitted.replace('\u{a0}', " ").as_str(), ""),
        "the same bytes"
    );
    assert!(page.contains("<bdi>wing_length</bdi>") && page.contains("usual for <bdi>ant</bdi>"));
    assert!(
        page.contains("<em>missing</em>")
            && page.contains("missing values stand at the mean of their column (84 in all)")
    );
    let (_, cards) = page.split_once("<ol class=\"gallery\">").unwrap();
    assert!(cards.find("wing_length") < cards.find("legs"), "what tells the two apart comes first");

    // Other rows under the same name are not shown as if they were those of the list.
    bugs(folder.path(), 1);
    let (page, said) = made(folder.path());
    assert!(said.starts_with("warning: the page names the examples but does not show them: "), "{said}");
    assert!(page.contains("named but not shown") && !page.contains("usual for"));
    std::fs::remove_file(folder.path().join("bugs.csv")).unwrap();
    let (page, said) = made(folder.path());
    assert!(said.contains("there is no `bugs.csv`"), "{said}");
    assert!(page.contains("named but not shown") && page.contains("labels are wrong"));
}

#[test]
fn an_audit_of_probabilities_leaves_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let right = |at: usize| at % 2;
    let rows: String = (0..200).map(|at| if right(at) == 0 { "0.9,0.1\n" } else { "0.2,0.8\n" }).collect();
    let labels: String =
        (0..200).map(|at| ["cat\n", "dog\n"][if at % 20 == 0 { 1 - right(at) } else { right(at) }]).collect();
    std::fs::write(folder.path().join("p.csv"), format!("cat,dog\n{rows}")).unwrap();
    std::fs::write(folder.path().join("y.csv"), format!("label\n{labels}")).unwrap();
    let words = "audit --probabilities p.csv --labels y.csv --out run";
    typed(words).current_dir(folder.path()).assert().success();
    let page = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    let (again, said) = made(folder.path());
    assert_eq!((again, said.as_str()), (page.replace('\u{a0}', " "), ""));
    assert!(page.contains("<bdi>p.csv</bdi>") && page.contains("<tr data-given=\"1\" data-suggested=\"0\""));
}

#[test]
fn every_confusion_of_a_long_list_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c"];
    // Five hundred of one confusion, and then one of another.
    let mut list: Vec<Suspect> = std::iter::repeat_n(suspects(3)[0].clone(), 500).collect();
    list.push(Suspect { given: 0, suggested: 2, ..suspects(3)[0].clone() });
    let page = page(&audited(&folder.path().join("run"), &record(&names)), &list, None);
    assert_eq!(page.matches("<tr data-given").count(), 200);
    assert_eq!(page.matches("<tr data-given=\"0\" data-suggested=\"2\"").count(), 1);
}
