//! `fit` and `demo` as a user types them.

use crate::{cleanest, typed};
use cleanest::run::RunFolder;
use std::path::Path;

/// A short run on the digits.
fn short(folder: &Path, more: &str) -> snapbox::cmd::Command {
    typed(&format!("fit digits --noise pair:0.3 --steps 40 --quiet --out run {more}")).current_dir(folder)
}

fn said(command: snapbox::cmd::Command, code: i32) -> String {
    String::from_utf8(command.assert().code(code).get_output().stderr.clone()).unwrap()
}

#[test]
fn a_run_leaves_the_files_its_page_lists() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path(), "").assert().success();
    let mut found: Vec<String> = std::fs::read_dir(folder.path().join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let page = include_str!("../../../../docs/reference/run-folder.md");
    let (table, _) = page.split_once("## What the audit wrote").unwrap();
    let always = table.lines().filter(|line| !line.contains("asked for it"));
    let listed = always.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut listed: Vec<&str> = listed.filter(|name| !name.ends_with('/')).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn the_resolved_configuration_asks_for_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path(), "").assert().success();
    typed("fit --config run/config.toml --quiet --out again").current_dir(folder.path()).assert().success();
    for file in ["config.toml", "model.safetensors", "transition.json", "metrics.jsonl", "probabilities.npy"]
    {
        let read = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert_eq!(read("run"), read("again"), "{file}");
    }
}

#[test]
fn every_method_runs_all_its_stages() {
    let folder = tempfile::tempdir().unwrap();
    for method in cleanest_core::methods::Choice::NAMES {
        let words =
            format!("fit digits --noise pair:0.3 --steps 30 --quiet --method {method} --out {method}");
        typed(&words).current_dir(folder.path()).assert().success();
        let run = RunFolder::open(&folder.path().join(method)).unwrap();
        let score = run.about().unwrap().score;
        assert!(score.accuracy.unwrap() > 0.15, "{method}: {score:?}");
        let metrics = std::fs::read_to_string(run.file("metrics.jsonl")).unwrap();
        let last: serde_json::Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
        let stages = last["stage"].as_u64().unwrap() + 1;
        let expected = if ["forward", "t-revision", "dual-t"].contains(method) { 2 } else { 1 };
        assert_eq!((stages, last["step"].as_u64()), (expected, Some(30)), "{method}");
    }
}

/// What the defaults find on the digits: at least this accuracy, at most this average TV, as means over five seeds.
fn the_defaults_promise(noise: &str, least: f64, largest: f64) {
    let folder = tempfile::tempdir().unwrap();
    let score = |seed: u32| {
        let run = folder.path().join(seed.to_string());
        let words = format!("demo --noise {noise} --seed {seed} --quiet --out {}", run.display());
        typed(&words).assert().success();
        let score = RunFolder::open(&run).unwrap().about().unwrap().score;
        (score.accuracy.unwrap(), score.average_tv.unwrap())
    };
    let scores: Vec<(f64, f64)> = (0..5).map(score).collect();
    let accuracy = scores.iter().map(|score| score.0).sum::<f64>() / 5.0;
    let error = scores.iter().map(|score| score.1).sum::<f64>() / 5.0;
    assert!(accuracy >= least && error <= largest, "{noise}: accuracy {accuracy}, average TV {error}");
}

#[test]
fn the_defaults_keep_their_promises_under_strong_pair_noise() {
    the_defaults_promise("pair:0.4", 0.90, 0.15);
}

#[test]
fn the_defaults_keep_their_promises_under_pair_noise() {
    the_defaults_promise("pair:0.3", 0.90, 0.12);
}

#[test]
fn the_defaults_keep_their_promises_under_symmetric_noise() {
    the_defaults_promise("symmetric:0.5", 0.85, 0.12);
}

#[test]
fn the_defaults_keep_their_promises_where_no_label_is_wrong() {
    the_defaults_promise("clean", 0.95, 0.05);
}

#[test]
fn without_a_gpu_auto_goes_on_and_says_why_and_a_named_one_is_an_error() {
    if cleanest_engine::cuda::available(0).is_ok() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let words = "fit digits --noise pair:0.3 --steps 40 --out run";
    let auto = said(typed(words).current_dir(folder.path()), 0);
    assert_eq!(auto.matches("training on the CPU: ").count(), 1, "{auto}");
    let resolved = RunFolder::open(&folder.path().join("run")).unwrap().config().unwrap();
    assert_eq!(resolved.device, "cpu");
    let named = said(typed("fit digits --device cuda:0 --out named").current_dir(folder.path()), 1);
    assert!(named.starts_with("error: ") && named.contains("\nhint: "), "{named}");
    assert!(!folder.path().join("named").exists());
    let devices = said(typed("devices"), 0);
    assert!(devices.starts_with("no GPU can be used: "), "{devices}");
}

#[test]
fn every_mistake_has_its_sentence_and_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |words: &str| said(typed(words).current_dir(folder.path()), 2);
    assert_eq!(
        refused("fit digits --set stepz=3"),
        "error: no key is called `stepz`\nhint: did you mean `steps`?\n"
    );
    assert_eq!(
        refused("fit digits --set tvd.gama=3"),
        "error: method `tvd`: no setting is called `gama`\nhint: did you mean `gamma`?\n"
    );
    assert_eq!(
        refused("fit digits --method tdv"),
        "error: no method is called `tdv`\nhint: did you mean `tvd`?\n"
    );
    assert_eq!(
        refused("fit digits --device tpu"),
        "error: no device is called `tpu`\nhint: there are: auto, cpu, cuda:N\n"
    );
    assert_eq!(refused("fit digits --steps 0"), "error: `steps` must be one or more: 0\n");
    assert!(refused("fit digits --model resnet19").starts_with("error: unknown model `resnet19`"));
    assert!(refused("fit digits --method known-t").contains("hint: set `known_t.noise`"));
    assert_eq!(refused("fit"), "error: no data is given: name a file or a folder\n");
    assert!(refused("fit nothing.csv").starts_with("error: there is no `nothing.csv`"));
    assert_eq!(refused("resume nothing"), "error: there is no `nothing`\n");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .flat_map(|entry| std::fs::read_dir(entry.unwrap().path()))
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_folder_that_holds_something_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path(), "").assert().success();
    let before = std::fs::read(folder.path().join("run/about.json")).unwrap();
    let refused = said(short(folder.path(), ""), 2);
    assert!(refused.starts_with("error: `run` already holds something\nhint: "), "{refused}");
    assert_eq!(std::fs::read(folder.path().join("run/about.json")).unwrap(), before);
    let words = "fit digits --steps 5 --out run/about.json";
    let refused = said(typed(words).current_dir(folder.path()), 2);
    assert!(
        refused.starts_with("error: `run/about.json` is a file, where a folder is to be made\nhint: "),
        "{refused}"
    );
    assert_eq!(std::fs::read(folder.path().join("run/about.json")).unwrap(), before);
    let resumed = said(typed("resume run").current_dir(folder.path()), 0);
    assert_eq!(resumed, "`run` is complete: there is nothing to resume\n");
}

#[test]
fn a_loss_that_is_not_finite_stops_the_run_with_its_step() {
    let folder = tempfile::tempdir().unwrap();
    let words = "fit digits --method cce --steps 40 --quiet --device cpu --out run --set schedule.rate=1e38";
    let refused = said(typed(words).current_dir(folder.path()), 1);
    assert!(refused.starts_with("error: ") && refused.contains("step"), "{refused}");
    assert!(refused.contains("hint: lower the learning rate"), "{refused}");
    assert!(!folder.path().join("run/model.safetensors").exists());
}

#[test]
fn lists_have_a_line_for_each_thing() {
    let lines = |words: &str| {
        let output = cleanest().args(words.split(' ')).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap().lines().count()
    };
    assert_eq!(lines("models"), cleanest_engine::Model::ALL.len());
    assert_eq!(lines("formats"), cleanest_data::formats::FORMATS.len());
    assert!(lines("devices") >= 1);
}
