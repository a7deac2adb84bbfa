//! Started as one of several: what is said where that cannot work. What can is tested under `mpirun`.

use crate::typed;

fn said(words: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = typed(words).current_dir(folder.path());
    for (name, value) in variables {
        command = command.env(name, value);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const FIT: &str = "fit digits --steps 5 --folds 0 --device cpu --quiet";

#[test]
fn without_mpi_a_worker_under_mpirun_says_how_to_build_it() {
    if cfg!(feature = "mpi") {
        return;
    }
    let (code, said) = said(FIT, &[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")]);
    assert_eq!(code, Some(1));
    assert_eq!(
        said,
        "error: this program was built without MPI: build it with `cargo install cleanest --features mpi`\n"
    );
}

#[test]
fn cpus_that_torchrun_starts_are_sent_to_mpirun() {
    let torchrun =
        [("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29500")];
    let (code, said) = said(FIT, &torchrun);
    assert_eq!(code, Some(1));
    let sentence = "error: this is worker 0 of 2, started without MPI: CPUs exchange by MPI only: start them with `mpirun`";
    assert!(said.starts_with(sentence), "{said}");
}

#[test]
fn one_worker_is_a_run_like_any_other_also_in_a_batch_job() {
    for variables in [
        &[("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29500")][..],
        &[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")],
        &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")],
    ] {
        assert_eq!(said(FIT, variables), (Some(0), String::new()), "{variables:?}");
    }
}

#[test]
fn a_sweep_is_not_begun_by_several_unless_each_has_its_part() {
    let variables = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "4")];
    let (code, told) = said("sweep some.toml", &variables);
    assert_eq!(code, Some(2));
    assert!(told.contains("give each its part with --shard I/N"), "{told}");
    let (_, told) = said("sweep some.toml --shard 1/4", &variables);
    assert!(told.contains("cannot read `some.toml`"), "{told}");
}

#[test]
fn a_rank_that_is_none_is_named() {
    let (code, said) = said(FIT, &[("RANK", "3"), ("WORLD_SIZE", "2")]);
    assert_eq!(
        (code, said.as_str()),
        (Some(1), "error: RANK is 3: expected a number below WORLD_SIZE, which is 2\n")
    );
}
