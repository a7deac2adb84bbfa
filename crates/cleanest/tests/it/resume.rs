//! A run that was cut ends as if it had not been.

use crate::typed;
use cleanest_core::random::Stream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What must not differ by a byte.
const OUTPUTS: [&str; 10] = [
    "audit.json",
    "posteriors.npy",
    "suspects.csv",
    "suspects.parquet",
    "model.safetensors",
    "transition.json",
    "transition.csv",
    "metrics.jsonl",
    "probabilities.npy",
    "config.toml",
];

/// A run of two stages, long enough to be cut, with many checkpoints.
const WORDS: &str =
    "fit digits --noise pair:0.3 --method t-revision --steps 400 --folds 2 --quiet --set checkpoint_steps=20";

pub(crate) fn spawn(folder: &Path, words: &str) -> Child {
    Command::new(snapbox::cmd::cargo_bin!("cleanest"))
        .args(words.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn same(folder: &Path, run: &str) {
    for file in OUTPUTS {
        let read = |run: &str| std::fs::read(folder.join(run).join(file)).unwrap();
        assert_eq!(read("uncut"), read(run), "{run}: {file}");
    }
}

pub(crate) fn checkpoints(run: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(run.join("checkpoints")).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("step-"));
    found.sort();
    found
}

#[test]
fn killed_at_any_moment_and_resumed_it_has_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    typed(&format!("{WORDS} --out uncut")).current_dir(folder.path()).assert().success();
    let mut stream = Stream::new(1, "kills", 0);
    let mut cuts = 0;
    for attempt in 0..6 {
        let run = format!("cut-{attempt}");
        let mut child = spawn(folder.path(), &format!("{WORDS} --out {run}"));
        // Cut again and again, until it gets through; later each time, so that it does on any machine.
        for longest in (400..).step_by(40) {
            std::thread::sleep(Duration::from_millis(30 + stream.below(longest) as u64));
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            cuts += 1;
            let begun = folder.path().join(&run).join("config.toml").exists();
            if !begun {
                // Cut before anything was written: there is nothing to resume, and the folder can be used anew.
                let _ = std::fs::remove_dir_all(folder.path().join(&run));
            }
            let words = if begun { format!("resume {run} --quiet") } else { format!("{WORDS} --out {run}") };
            child = spawn(folder.path(), &words);
        }
        assert!(child.wait().unwrap().success(), "{run}");
        same(folder.path(), &run);
    }
    assert!(cuts > 0, "no run was cut");
}

/// Cuts a run after some of its checkpoints.
fn cut(folder: &Path, run: &str) {
    let mut child = spawn(folder, &format!("{WORDS} --out {run}"));
    let ready = || folder.join(run).join("checkpoints").is_dir() && checkpoints(&folder.join(run)).len() >= 2;
    while !ready() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was cut");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_broken_checkpoint_is_named_and_the_one_before_it_used() {
    let folder = tempfile::tempdir().unwrap();
    typed(&format!("{WORDS} --out uncut")).current_dir(folder.path()).assert().success();
    for (run, file, flip) in
        [("flipped", "network.safetensors", true), ("truncated", "optimizer.safetensors", false)]
    {
        cut(folder.path(), run);
        let newest = checkpoints(&folder.path().join(run)).pop().unwrap();
        let path = newest.join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        if flip {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        } else {
            bytes.truncate(bytes.len() / 2);
        }
        std::fs::write(&path, bytes).unwrap();
        let output = typed(&format!("resume {run} --quiet")).current_dir(folder.path()).assert().success();
        let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(said.contains("broken checkpoint passed over: ") && said.contains(file), "{said}");
        same(folder.path(), run);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_a_checkpoint_and_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    typed(&format!("{WORDS} --out uncut")).current_dir(folder.path()).assert().success();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut child = spawn(folder.path(), &format!("{WORDS} --out {signal}"));
        while !folder.path().join(signal).join("metrics.jsonl").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was asked to");
            std::thread::sleep(Duration::from_millis(1));
        }
        let sent =
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert!(!checkpoints(&folder.path().join(signal)).is_empty());
        typed(&format!("resume {signal} --quiet")).current_dir(folder.path()).assert().success();
        same(folder.path(), signal);
    }
}

/// A disk of this size, if this machine lets us have one.
#[cfg(target_os = "linux")]
struct Disk(PathBuf);

#[cfg(target_os = "linux")]
impl Disk {
    fn of(path: &Path, size: &str) -> Option<Self> {
        let mount = |options: &str| {
            let arguments = ["-t", "tmpfs", "-o", options, "tmpfs"];
            Command::new("mount").args(arguments).arg(path).stderr(Stdio::null()).status()
        };
        mount(&format!("size={size}")).is_ok_and(|status| status.success()).then(|| Self(path.to_owned()))
    }

    fn grow(&self, size: &str) {
        let options = format!("remount,size={size}");
        let status = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(status.success());
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_not_a_broken_run() {
    let folder = tempfile::tempdir().unwrap();
    typed(&format!("{WORDS} --out uncut")).current_dir(folder.path()).assert().success();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let Some(disk) = Disk::of(&small, "300k") else {
        eprintln!("SKIPPED: no disk can be mounted here, so a full one was not tried");
        return;
    };
    let output = typed(&format!("{WORDS} --out small/run")).current_dir(folder.path()).assert().code(1);
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(said.contains("error: cannot write `small/run/") && said.contains("No space left"), "{said}");
    disk.grow("20m");
    typed("resume small/run --quiet").current_dir(folder.path()).assert().success();
    same(folder.path(), "small/run");
}
