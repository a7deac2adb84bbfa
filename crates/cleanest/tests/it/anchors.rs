//! `augment_anchors`: what the pass between two stages sees.

use crate::typed;
use cleanest::experiment::Config;
use cleanest::run::RunFolder;
use cleanest::train::{Observer, Progress, Silent, Stop};
use std::path::Path;

/// A short run of two stages; its 1,438 training images are three chunks of a pass.
const WORDS: &str =
    "fit digits --noise pair:0.3 --steps 40 --device cpu --quiet --set audit=false --set augment.padding=1";

fn fit(folder: &Path, words: &str, name: &str) {
    typed(&format!("{words} --out {name}")).current_dir(folder).assert().success();
}

fn read(folder: &Path, run: &str, file: &str) -> Vec<u8> {
    std::fs::read(folder.join(run).join(file)).unwrap()
}

#[test]
fn anchors_of_varied_images_are_others_and_always_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for method in ["forward", "t-revision", "dual-t"] {
        let words = format!("{WORDS} --method {method}");
        let name = |what: &str| format!("{method}-{what}");
        fit(path, &words, &name("plain"));
        fit(path, &format!("{words} --set augment_anchors=true"), &name("once"));
        fit(path, &format!("{words} --set augment_anchors=true"), &name("again"));
        let transition = |what: &str| read(path, &name(what), "transition.json");
        assert_ne!(transition("plain"), transition("once"), "{method}");
        for file in ["transition.json", "metrics.jsonl", "model.safetensors"] {
            assert_eq!(read(path, &name("once"), file), read(path, &name("again"), file), "{method}: {file}");
        }
    }
}

#[test]
fn without_a_pass_between_stages_or_without_images_to_vary_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let table: String = (0..40).map(|row| format!("{},{},{}\n", row % 7, row % 5, row % 2)).collect();
    std::fs::write(path.join("rows.csv"), format!("a,b,label\n{table}")).unwrap();
    let rows = WORDS.replace("digits", "rows.csv --method forward").replace("pair", "symmetric");
    for (name, words) in [
        ("one-stage", format!("{WORDS} --method cce")),
        ("rows", rows),
        ("never-varied", WORDS.replace("padding=1", "padding=0") + " --method forward"),
    ] {
        fit(path, &words, name);
        let asked = format!("{name}-asked");
        fit(path, &format!("{words} --set augment_anchors=true"), &asked);
        for file in ["transition.json", "metrics.jsonl", "model.safetensors", "probabilities.npy"] {
            assert_eq!(read(path, name, file), read(path, &asked, file), "{name}: {file}");
        }
    }
}

#[test]
fn the_setting_is_written_down_and_read_again() {
    assert!(!Config::default().augment_anchors);
    for asked in [false, true] {
        let text = Config { augment_anchors: asked, ..Config::default() }.to_toml().unwrap();
        assert!(text.contains(&format!("augment_anchors = {asked}\n")), "{text}");
        let again = Config::from_table(&text.parse().unwrap()).unwrap();
        assert_eq!(again.augment_anchors, asked);
    }
    // Folders that were made before there was such a key.
    assert!(!Config::from_table(&"data = \"digits\"".parse().unwrap()).unwrap().augment_anchors);
}

/// Asks the run to stop at a step.
struct Cut(u64, Stop);

impl Observer for Cut {
    fn step(&mut self, progress: &Progress<'_>) {
        if progress.step == self.0 {
            self.1.ask(2);
        }
    }

    fn note(&mut self, _: &str) {}
}

#[test]
fn cut_before_the_pass_or_after_it_the_anchors_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let text = "data = \"digits\"\nnoise = \"pair:0.3\"\nmethod = \"forward\"\nsteps = 40\ndevice = \"cpu\"\n\
        audit = false\naugment_anchors = true\naugment = { padding = 1, flip = true }";
    let config = Config::from_table(&text.parse().unwrap()).unwrap();
    let uncut = RunFolder::create(&folder.path().join("uncut")).unwrap();
    uncut.fit(&config, &Stop::default(), &mut Silent).unwrap();
    for cut in [20, 39, 40, 41] {
        let run = RunFolder::create(&folder.path().join(cut.to_string())).unwrap();
        let stop = Stop::default();
        let ended = run.fit(&config, &stop, &mut Cut(cut, stop.clone()));
        assert!(ended.is_err_and(|error| error.signal() == Some(2)), "cut at {cut}");
        run.resume(None, &Stop::default(), &mut Silent).unwrap();
        for file in ["transition.json", "metrics.jsonl", "model.safetensors"] {
            let read = |run: &RunFolder| std::fs::read(run.file(file)).unwrap();
            assert_eq!(read(&run), read(&uncut), "cut at {cut}: {file}");
        }
    }
}

#[test]
fn runs_of_a_sweep_take_no_anchors_that_were_seen_in_another_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let file = "data = \"digits\"\nnoise = \"pair:0.3\"\nsteps = 40\ndevice = \"cpu\"\naudit = false\n\
        keep = \"small\"\nout = \"together\"\naugment = { padding = 1, flip = true }\n\
        [grid]\nmethod = [\"cce\", \"forward\", \"dual-t\"]\naugment_anchors = [false, true]\n";
    std::fs::write(path.join("s.toml"), file).unwrap();
    typed("sweep s.toml --quiet").current_dir(path).assert().success();
    for asked in [false, true] {
        for method in ["cce", "forward", "dual-t"] {
            let name = format!("{method}_augment_anchors-{asked}");
            let only = format!("--only method={method} --only augment_anchors={asked}");
            typed(&format!("sweep s.toml --quiet --out alone {only}")).current_dir(path).assert().success();
            for file in ["config.toml", "metrics.jsonl", "transition.json"] {
                let of = |root: &str| read(&path.join(root), &name, file);
                assert_eq!(of("together"), of("alone"), "{name}: {file}");
            }
            let about = String::from_utf8(read(&path.join("together"), &name, "about.json")).unwrap();
            assert_eq!(about.contains("first_stage_taken"), method != "cce", "{name}");
        }
        let transition = |asked: bool| {
            read(&path.join("together"), &format!("forward_augment_anchors-{asked}"), "transition.json")
        };
        assert_ne!(transition(asked), transition(!asked));
    }
}
