//! How this process was started: alone, or as one of several by `mpirun`, `srun` or `torchrun`.

use crate::Error;

/// A process that was started as one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Its number, the first being 0.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// Its number on its machine, where the launcher tells.
    pub local: usize,
    /// Who says so.
    pub by: Launcher,
}

/// What started the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun`, or `srun` with an MPI plugin.
    Mpi,
    /// `torchrun`, or anything that sets `RANK` and `WORLD_SIZE`.
    Variables,
    /// `srun` without an MPI plugin.
    Slurm,
}

/// Where each launcher tells rank, size and local rank. What MPI sets comes first: it can be talked to.
const KNOWN: [(Launcher, [&str; 3]); 5] = [
    (Launcher::Mpi, ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]),
    (Launcher::Mpi, ["PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"]),
    (Launcher::Mpi, ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"]),
    (Launcher::Variables, ["RANK", "WORLD_SIZE", "LOCAL_RANK"]),
    // The script of a batch job has a rank as well, but no step: only `srun` makes several processes of it.
    (Launcher::Slurm, ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"]),
];

impl Launch {
    /// How this process was started; nothing where it is alone.
    pub fn found() -> Result<Option<Self>, Error> {
        Self::of(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// The same for some variables.
    fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let known = KNOWN.iter().find(|(_, [rank, size, _])| variable(rank).and(variable(size)).is_some());
        let Some((by, names)) = known else { return Ok(None) };
        let number = |name: &str| {
            let Some(text) = variable(name) else { return Ok(None) };
            let wrong = || Error::Launch(format!("{name} is `{text}`: expected a number"));
            text.parse::<usize>().map(Some).map_err(|_| wrong())
        };
        let [rank, size, local] = [names[0], names[1], names[2]].map(number);
        let (rank, size, local) = (rank?.unwrap_or(0), size?.unwrap_or(1), local?.unwrap_or(0));
        if rank >= size {
            let problem =
                format!("{} is {rank}: expected a number below {}, which is {size}", names[0], names[1]);
            return Err(Error::Launch(problem));
        }
        Ok(Some(Self { rank, size, local, by: *by }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[(&str, &str)]) -> Result<Option<Launch>, Error> {
        let find =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Launch::of(find)
    }

    fn launch(rank: usize, size: usize, local: usize, by: Launcher) -> Launch {
        Launch { rank, size, local, by }
    }

    #[test]
    fn every_launcher_is_understood() {
        let torchrun = [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")];
        assert_eq!(of(&torchrun).unwrap(), Some(launch(3, 8, 1, Launcher::Variables)));
        let mpirun = [
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        ];
        assert_eq!(of(&mpirun).unwrap(), Some(launch(2, 4, 0, Launcher::Mpi)));
        let both = [torchrun.as_slice(), mpirun.as_slice()].concat();
        assert_eq!(of(&both).unwrap(), Some(launch(2, 4, 0, Launcher::Mpi)));
        let srun = [("SLURM_PROCID", "5"), ("SLURM_STEP_NUM_TASKS", "16"), ("SLURM_LOCALID", "1")];
        assert_eq!(of(&srun).unwrap(), Some(launch(5, 16, 1, Launcher::Slurm)));
        let pmix = [srun.as_slice(), &[("PMIX_RANK", "5")]].concat();
        assert_eq!(of(&pmix).unwrap(), Some(launch(5, 16, 1, Launcher::Mpi)));
    }

    #[test]
    fn alone_is_alone_also_in_the_script_of_a_batch_job() {
        assert_eq!(of(&[]).unwrap(), None);
        assert_eq!(of(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]).unwrap(), None);
        assert_eq!(of(&[("RANK", "0")]).unwrap(), None);
    }

    #[test]
    fn what_is_no_rank_is_named() {
        let said = |given: &[(&str, &str)]| of(given).unwrap_err().to_string();
        assert_eq!(said(&[("RANK", "x"), ("WORLD_SIZE", "2")]), "RANK is `x`: expected a number");
        assert_eq!(
            said(&[("RANK", "2"), ("WORLD_SIZE", "2")]),
            "RANK is 2: expected a number below WORLD_SIZE, which is 2"
        );
    }
}
