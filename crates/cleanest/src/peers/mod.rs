//! Those with whom a run is trained: found from how the process was started.

use crate::Error;
use cleanest_engine::Device;
use cleanest_engine::cuda;
use cleanest_engine::peers::gpus;
pub use cleanest_engine::peers::launch::{Launch, Launcher};
pub use cleanest_engine::peers::{Alone, Group, Worker};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long other workers let the first one speak.
const FIRST_SPEAKS: Duration = Duration::from_secs(3);

/// The group of this process, once it has joined one.
static JOINED: OnceLock<Arc<dyn Group>> = OnceLock::new();

/// Joins the other workers, if this process was started as one of several to train on such a device.
pub fn join(device: Device) -> Result<Arc<dyn Group>, Error> {
    if let Some(group) = JOINED.get() {
        return Ok(Arc::clone(group));
    }
    let group = match Launch::found()? {
        None => return Ok(Arc::new(Alone)),
        Some(launch) => together(&launch, device)?,
    };
    share_cores(group.worker());
    Ok(Arc::clone(JOINED.get_or_init(|| group)))
}

/// The group of this process, if it has joined one.
#[must_use]
pub fn joined() -> Option<&'static Arc<dyn Group>> {
    JOINED.get()
}

/// Ends the job on all workers after a failure that `say` tells. What goes wrong everywhere is said by the first worker
/// alone, and so the others wait a moment before they say it.
pub fn fail(code: u8, say: impl FnOnce(Option<String>)) -> u8 {
    let Some(group) = JOINED.get().filter(|group| group.size() > 1) else {
        let other = Launch::found().ok().flatten().filter(|launch| launch.rank > 0);
        if other.is_some() {
            std::thread::sleep(FIRST_SPEAKS);
        }
        say(other.map(|launch| format!("worker {} of {}", launch.rank, launch.size)));
        return code;
    };
    if group.is_first() {
        say(None);
    } else {
        std::thread::sleep(FIRST_SPEAKS);
        say(Some(group.worker().name(group.rank())));
    }
    group.abort(code.into())
}

/// Takes leave of the others.
pub fn leave() {
    if let Some(group) = JOINED.get() {
        group.leave();
    }
}

#[cfg(feature = "mpi")]
fn by_mpi() -> Result<Arc<dyn Group>, Error> {
    Ok(cleanest_engine::peers::mpi::join()?)
}

#[cfg(not(feature = "mpi"))]
fn by_mpi() -> Result<Arc<dyn Group>, Error> {
    let problem = "this program was built without MPI: build it with `cargo install cleanest --features mpi`";
    Err(cleanest_engine::Error::Launch(problem.into()).into())
}

/// The others of a launch: by MPI where it started them, or else by NCCL, where there are GPUs.
fn together(launch: &Launch, device: Device) -> Result<Arc<dyn Group>, Error> {
    if launch.by == Launcher::Mpi && (cfg!(feature = "mpi") || !gpus::is_arranged()) {
        return if launch.size == 1 { Ok(Arc::new(Alone)) } else { by_mpi() };
    }
    let ordinal = match device {
        Device::Cpu => None,
        Device::Cuda(first) => Some(own_ordinal(first, launch.local)),
        Device::Auto => Some(own_ordinal(0, launch.local)).filter(|&own| cuda::available(own).is_ok()),
    };
    match ordinal {
        Some(ordinal) if gpus::is_arranged() => match gpus::join((launch.rank, launch.size), ordinal) {
            // Alone it was only to see what NCCL costs.
            Err(cleanest_engine::Error::Unavailable(_)) if launch.size == 1 => Ok(Arc::new(Alone)),
            joined => Ok(joined?),
        },
        _ if launch.size == 1 => Ok(Arc::new(Alone)),
        Some(_) => Err(refused(launch, "where they meet is not said: set MASTER_ADDR and MASTER_PORT")),
        None => Err(refused(
            launch,
            "CPUs exchange by MPI only: start them with `mpirun`, or with `srun --mpi=pmix`",
        )),
    }
}

fn refused(launch: &Launch, problem: &str) -> Error {
    let worker = format!("this is worker {} of {}, started without MPI", launch.rank, launch.size);
    cleanest_engine::Error::Launch(format!("{worker}: {problem}")).into()
}

/// The GPU of a worker that is the so-manieth of its machine. A launcher may show each a single GPU, which is then the
/// first of all.
fn own_ordinal(first: usize, local: usize) -> usize {
    if cuda::count() == 1 { 0 } else { first + local }
}

/// The device of a worker: those of one machine take one GPU each, from the one that is asked for on.
#[must_use]
pub fn own_device(worker: &Worker, device: Device) -> Device {
    if worker.neighbors() == 1 || device == Device::Cpu {
        return device;
    }
    let first = if let Device::Cuda(ordinal) = device { ordinal } else { 0 };
    let own = own_ordinal(first, worker.local);
    match device {
        Device::Auto if cuda::available(own).is_err() => Device::Auto,
        _ => Device::Cuda(own),
    }
}

/// Shares the cores of a machine among its workers, unless they were told apart already.
fn share_cores(worker: &Worker) {
    let asked = std::env::var_os("RAYON_NUM_THREADS").is_some();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // A launcher that binds workers to cores leaves each with fewer than the machine has.
    if !asked && worker.neighbors() > 1 && cores == all_cores() {
        let threads = (cores / worker.neighbors()).max(1);
        // If the pool is there already, it stays as it is.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
}

/// Cores of the machine, whatever this process is bound to.
fn all_cores() -> usize {
    let listed = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let count = listed.lines().filter(|line| line.starts_with("processor")).count();
    if count > 0 { count } else { std::thread::available_parallelism().map_or(1, usize::from) }
}
