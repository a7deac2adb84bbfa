//! A worker that dies or hangs ends the job, by name, and the run goes on later.

use crate::{LONG, alone, assert_near, done, started, stderr, workers};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// The process of a worker of a run.
fn worker(run: &str, rank: usize) -> Option<u32> {
    let variable = format!("OMPI_COMM_WORLD_RANK={rank}");
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let has =
            |bytes: &[u8], word: &str| bytes.split(|&byte| byte == 0).any(|part| part == word.as_bytes());
        if has(&read("cmdline"), run) && has(&read("environ"), &variable) {
            return Some(process);
        }
    }
    None
}

/// Starts a run of three workers, and waits for its first checkpoint.
fn begun(folder: &Path, run: &str) -> Child {
    let mut command = workers(folder, 3, &format!("{LONG} --out {run}"));
    command.env("CLEANEST_PATIENCE", "5");
    let mut child = started(command);
    while !folder.join(run).join("checkpoints").is_dir() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was cut");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

#[test]
fn a_worker_that_dies_ends_the_job_by_name_and_the_run_resumes() {
    let folder = tempfile::tempdir().unwrap();
    alone(folder.path(), &format!("{LONG} --out uncut"));
    let child = begun(folder.path(), "killed");
    signal("-KILL", worker("killed", 1).unwrap());
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let said = stderr(&output);
    assert!(said.contains("process rank 1 with PID") && said.contains("signal 9 (Killed)"), "{said}");
    done(workers(folder.path(), 2, "resume killed --quiet"));
    assert_near(&folder.path().join("uncut"), &folder.path().join("killed"), 1e-3);
}

#[test]
fn a_worker_that_hangs_ends_the_job_by_name_and_the_run_resumes() {
    let folder = tempfile::tempdir().unwrap();
    alone(folder.path(), &format!("{LONG} --out uncut"));
    // The first worker, who judges the others, and one of those.
    for rank in [0, 2] {
        let run = format!("stopped-{rank}");
        let child = begun(folder.path(), &run);
        signal("-STOP", worker(&run, rank).unwrap());
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        let said = stderr(&output);
        assert!(said.contains(&format!("error: worker {rank} of 3 (")), "{said}");
        assert!(said.contains(") has not answered for "), "{said}");
        done(workers(folder.path(), 3, &format!("resume {run} --quiet")));
        assert_near(&folder.path().join("uncut"), &folder.path().join(&run), 1e-3);
    }
}
