//! `sweep`: many runs from one file.

use crate::typed;
use cleanest::experiment::{Shard, Sweep};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Four short runs, two of them of two stages.
const FILE: &str = r#"
data = "digits"
steps = 40
audit = false
keep = "small"
out = "runs"

[grid]
method = ["tvd", "forward"]
noise = ["pair:0.3"]
seed = [0, 1]

[tvd]
prior = 20

[[when]]
if = { method = "tvd" }
evaluations = 4
"#;

/// What must not differ by a byte, and is all that is kept beside the record.
const KEPT: [&str; 6] =
    ["config.toml", "data.json", "input.json", "metrics.jsonl", "transition.json", "truth.json"];
const NAMES: [&str; 4] =
    ["tvd_pair-0.3_seed-0", "tvd_pair-0.3_seed-1", "forward_pair-0.3_seed-0", "forward_pair-0.3_seed-1"];

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), text).unwrap();
    folder
}

fn swept(folder: &Path, words: &str, code: i32) -> String {
    let command = typed(&format!("sweep s.toml {words}")).current_dir(folder);
    String::from_utf8(command.assert().code(code).get_output().stderr.clone()).unwrap()
}

fn listed(folder: &Path, words: &str) -> Vec<String> {
    let command = typed(&format!("sweep s.toml --dry-run {words}")).current_dir(folder);
    let text = String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn files(run: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(run).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn same(a: &Path, b: &Path) {
    for name in NAMES {
        for file in KEPT {
            let read = |root: &Path| std::fs::read(root.join(name).join(file)).unwrap();
            assert_eq!(read(a), read(b), "{name}/{file}");
        }
    }
}

#[test]
fn the_product_of_the_lists_is_run_and_only_what_is_small_is_kept() {
    let folder = folder_with(FILE);
    let missing: Vec<String> = NAMES.iter().map(|name| format!("missing   runs/{name}")).collect();
    assert_eq!(listed(folder.path(), ""), missing);
    let said = swept(folder.path(), "", 0);
    assert_eq!(said.lines().filter(|line| line.contains("accuracy")).count(), 4, "{said}");
    for name in NAMES {
        let run = folder.path().join("runs").join(name);
        let mut expected = KEPT.to_vec();
        expected.insert(0, "about.json");
        assert_eq!(files(&run), expected, "{name}");
        let config = cleanest::run::RunFolder::open(&run).unwrap().config().unwrap();
        assert_eq!(config.evaluations, if name.starts_with("tvd") { 4 } else { 10 }, "{name}");
    }
    let tvd = std::fs::read_to_string(folder.path().join("runs").join(NAMES[0]).join("config.toml")).unwrap();
    assert!(tvd.contains("prior = 20"), "{tvd}");
}

#[test]
fn what_is_complete_is_left_alone_and_only_the_rest_is_made() {
    let folder = folder_with(FILE);
    swept(folder.path(), "--only seed=1 --only method=tvd", 0);
    let record = folder.path().join("runs").join(NAMES[1]).join("about.json");
    let before = std::fs::read(&record).unwrap();
    let said = swept(folder.path(), "", 0);
    assert!(said.starts_with("1 of 4 runs are complete already\n"), "{said}");
    assert_eq!(std::fs::read(&record).unwrap(), before);
    assert!(listed(folder.path(), "").iter().all(|line| line.starts_with("complete")));
}

#[test]
fn constants_that_are_no_binary_fractions_are_written_as_given_and_known_again() {
    let folder = folder_with(&format!("{FILE}\n[standardization]\nmean = [0.4914]\ndeviation = [0.2023]\n"));
    let one = "--only seed=1 --only method=tvd";
    swept(folder.path(), one, 0);
    let config = folder.path().join("runs").join(NAMES[1]).join("config.toml");
    let written = std::fs::read_to_string(config).unwrap();
    assert!(written.contains("deviation = [0.2023]\nmean = [0.4914]\n"), "{written}");
    assert!(swept(folder.path(), one, 0).starts_with("1 of 1 runs are complete already\n"));
    let other = swept(folder.path(), &format!("{one} --set standardization.deviation=[0.2024]"), 2);
    assert!(
        other.contains("was made with `standardization.deviation` = 0.2023, and `0.2024` is asked for"),
        "{other}"
    );
}

#[test]
fn several_jobs_and_any_number_of_cuts_give_the_same_bytes() {
    let folder = folder_with(FILE);
    let steps = "--set steps=300 --set checkpoint_steps=20";
    swept(folder.path(), &format!("{steps} --out uncut"), 0);
    swept(folder.path(), &format!("{steps} --out jobs --jobs 3"), 0);
    same(&folder.path().join("uncut"), &folder.path().join("jobs"));
    let mut cuts = 0;
    for pause in (20..).step_by(35) {
        let mut child = Command::new(snapbox::cmd::cargo_bin!("cleanest"))
            .args(format!("sweep s.toml {steps} --out cut --jobs 2 --quiet").split(' '))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        cuts += 1;
    }
    assert!(cuts > 0, "it was never cut");
    same(&folder.path().join("uncut"), &folder.path().join("cut"));
}

#[test]
fn a_first_stage_that_runs_have_in_common_is_trained_once_and_no_byte_differs() {
    let folder = folder_with(FILE);
    let methods = r#"--set grid.method=["cce","forward","dual-t","t-revision"] --set grid.seed=[0]"#;
    swept(folder.path(), &format!("{methods} --out together"), 0);
    for (method, taken) in [("cce", false), ("forward", true), ("dual-t", true), ("t-revision", true)] {
        let name = format!("{method}_pair-0.3_seed-0");
        swept(folder.path(), &format!("{methods} --only method={method} --out alone"), 0);
        for file in KEPT {
            let read = |root: &str| std::fs::read(folder.path().join(root).join(&name).join(file)).unwrap();
            assert_eq!(read("together"), read("alone"), "{name}/{file}");
        }
        let record = |root: &str| {
            let path = folder.path().join(root).join(&name).join("about.json");
            std::fs::read_to_string(path).unwrap().contains("first_stage_taken")
        };
        assert_eq!((record("together"), record("alone")), (taken, false), "{name}");
    }
}

#[test]
fn a_run_that_fails_is_passed_over_and_told_in_the_end() {
    let text = FILE.to_owned() + "\n[[when]]\nif = { method = \"tvd\", seed = 0 }\nschedule.rate = 1e38\n";
    let folder = folder_with(&text);
    let said = swept(folder.path(), "", 1);
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    assert!(last[2].starts_with("failed: runs/tvd_pair-0.3_seed-0: "), "{said}");
    assert_eq!(last[1], "error: 1 of 4 runs failed");
    assert!(last[0].starts_with("hint: "), "{said}");
    let states = listed(folder.path(), "");
    assert!(states[0].starts_with("begun"), "{states:?}");
    assert!(states[1..].iter().all(|line| line.starts_with("complete")), "{states:?}");
    let why = std::fs::read_to_string(folder.path().join("runs").join(NAMES[0]).join("failure.txt")).unwrap();
    assert!(why.contains("step"), "{why}");
}

#[test]
fn a_folder_made_with_other_settings_is_refused_before_anything_is_run() {
    let folder = folder_with(FILE);
    swept(folder.path(), "--only seed=0 --only method=forward --set steps=20", 0);
    let said = swept(folder.path(), "", 2);
    assert_eq!(
        said.lines().find(|line| line.starts_with("error: ")).unwrap(),
        "error: `runs/forward_pair-0.3_seed-0` was made with `steps` = 20, and `40` is asked for"
    );
    assert!(!folder.path().join("runs").join(NAMES[0]).exists());
    swept(folder.path(), "--set steps=20 --set device=cpu --only method=forward", 0);
}

#[test]
fn every_mistake_in_a_file_has_its_sentence() {
    for (wrong, sentence) in [
        ("[grid]\nseed = 3", "`s.toml`: `grid.seed`: expected a list of values: 3"),
        ("[grid]\nseed = []", "`s.toml`: `grid.seed`: expected a list of values: []"),
        ("[grid]\nseed = [1, 1]", "`s.toml`: `grid`: two runs would be called `seed-1`"),
        ("[grid]\nmetod = [\"tvd\"]", "`s.toml`: no key is called `metod`"),
        ("[grid]\nmethod = [\"tvx\"]", "`s.toml`: no method is called `tvx`"),
        ("[grid]\nseed = [0]\n[[when]]\nif = { sead = 0 }", "`s.toml`: no key is called `sead`"),
        (
            "[grid]\nseed = [0]\n[[when]]\nsteps = 3",
            "`s.toml`: `when`: expected `if = { KEY = VALUE }` in each section",
        ),
    ] {
        let folder = folder_with(&format!("data = \"digits\"\n{wrong}"));
        let said = swept(folder.path(), "", 2);
        assert_eq!(said.lines().next().unwrap(), format!("error: {sentence}"), "{wrong}");
    }
    let folder = folder_with(FILE);
    let said = swept(folder.path(), "--set seed=3", 2);
    assert!(said.contains("choose with --only seed=VALUE or --set grid.seed=[VALUE]"), "{said}");
    let said = swept(folder.path(), "--only method=mae", 2);
    assert_eq!(said, "error: `method`: no run of the sweep has mae\n");
    let said = swept(folder.path(), "--shard 0/4", 2);
    assert!(said.contains("expected a part such as 1/8, from 1/8 to 8/8"), "{said}");
}

#[test]
fn shards_have_nothing_in_common_leave_nothing_out_and_cost_about_the_same() {
    let text = FILE.replace("seed = [0, 1]", "seed = [0, 1, 2, 3, 4, 5, 6, 7, 8]");
    let folder = folder_with(&text);
    let read = || Sweep::read(&folder.path().join("s.toml"), &[]).unwrap();
    for of in [1, 2, 3, 5, 8] {
        let (mut seen, mut costs) = (BTreeSet::new(), Vec::new());
        for index in 1..=of {
            let mut part = read();
            part.keep_shard(Shard { index, of });
            costs.push(part.runs.iter().map(|run| run.cost).sum::<u64>());
            for run in part.runs {
                assert!(seen.insert(run.name.clone()), "{} is in two parts of {of}", run.name);
            }
        }
        assert_eq!(seen.len(), 18);
        // The longest run has two stages of 40 steps: no part can be behind another by more than that.
        assert!(costs.iter().max().unwrap() - costs.iter().min().unwrap() <= 80, "{of}: {costs:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_all_its_runs_with_a_checkpoint() {
    let folder = folder_with(FILE);
    let words = "sweep s.toml --set steps=100000 --jobs 2 --out long";
    let mut child = Command::new(snapbox::cmd::cargo_bin!("cleanest"))
        .args(words.split(' '))
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = |name: &str| folder.path().join("long").join(name).join("metrics.jsonl").exists();
    while !(begun(NAMES[0]) && begun(NAMES[1])) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was asked to");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("interrupted with 0 of 4 runs complete; the same command goes on\n"), "{said}");
    for name in &NAMES[..2] {
        assert!(folder.path().join("long").join(name).join("checkpoints").is_dir());
    }
}
