//! Runs of several workers, as `mpirun` starts them.
#![allow(clippy::unwrap_used)]

mod hosts;
mod lost;
mod refused;
mod same;

use cleanest_core::noise::Transition;
use cleanest_engine::Parameters;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Two hundred steps with every default.
pub(crate) const WORDS: &str = "fit digits --noise pair:0.3 --method tvd --steps 200 --folds 2 --quiet";

/// A run long enough to be cut, with many checkpoints.
pub(crate) const LONG: &str =
    "fit digits --noise pair:0.3 --method tvd --steps 1500 --folds 0 --quiet --set checkpoint_steps=50";

/// `mpirun` as it works on a machine with fewer cores than workers, also for root.
pub(crate) fn mpirun(folder: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(["--oversubscribe", "--bind-to", "none"])
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// The program that was built with these tests.
pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cleanest"))
}

/// A command for so many workers.
pub(crate) fn workers(folder: &Path, count: usize, words: &str) -> Command {
    let mut command = mpirun(folder);
    command.args(["-n", &count.to_string()]).arg(program()).args(words.split_whitespace());
    command
}

/// The same for one process, without `mpirun`.
pub(crate) fn alone(folder: &Path, words: &str) -> Output {
    let output = Command::new(program()).args(words.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

/// Runs a command to its good end.
pub(crate) fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

/// Starts a command whose words on stderr are read in the end.
pub(crate) fn started(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn bytes(run: &Path, file: &str) -> Vec<u8> {
    std::fs::read(run.join(file)).unwrap()
}

/// How far two runs are apart: the largest distance of an entry of T, and of a weight.
pub(crate) fn apart(a: &Path, b: &Path) -> (f64, f32) {
    let matrix = |run: &Path| Transition::read(&run.join("transition.json")).unwrap().matrix().clone();
    let (first, second) = (matrix(a), matrix(b));
    let entries = first.values().iter().zip(second.values());
    let entry = entries.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let weights = |run: &Path| Parameters::from_safetensors(&bytes(run, "model.safetensors")).unwrap();
    let (first, second) = (weights(a), weights(b));
    let mut weight = 0.0_f32;
    for (name, tensor) in first.iter() {
        let pairs = tensor.values.iter().zip(&second.tensor(name).unwrap().values);
        weight = pairs.map(|(a, b)| (a - b).abs()).fold(weight, f32::max);
    }
    (entry, weight)
}

/// Fails unless two runs are the same but for rounding, after 200 steps.
pub(crate) fn assert_same(a: &Path, b: &Path) {
    assert_near(a, b, 1e-5);
}

/// The same within a tolerance: rounding grows with the steps.
pub(crate) fn assert_near(a: &Path, b: &Path, tolerance: f64) {
    let (entry, weight) = apart(a, b);
    let (near, names) =
        (entry < tolerance && f64::from(weight) < 10.0 * tolerance, (a.display(), b.display()));
    assert!(near, "{} and {}: T {entry:e}, weights {weight:e}", names.0, names.1);
}
