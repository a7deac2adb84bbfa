//! Workers that have a GPU each and no MPI: everything goes by NCCL, and they meet over TCP.

use super::meeting::{self, Meeting};
use super::{Group, Pending, Worker};
use crate::Error;
use crate::cuda::Gpus;
use crate::cuda::nccl::{self, Id};
use cleanest_core::methods::Peers;
use std::net::ToSocketAddrs;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the first worker is met, by the variables of `torchrun`.
const ADDRESS: &str = "MASTER_ADDR";
const PORT: &str = "MASTER_PORT";
/// Whether the port is taken by `torchrun` itself.
const TAKEN: &str = "TORCHELASTIC_USE_AGENT_STORE";

/// The variable that lets one worker go the way of several, to see what that costs.
const EXERCISE: &str = "CLEANEST_EXERCISE";

/// Joins the other workers, of whom each has the GPU of this number.
pub fn join((rank, size): (usize, usize), ordinal: usize) -> Result<Arc<dyn Group>, Error> {
    nccl::present()?;
    let place = place()?;
    let id = if rank == 0 { nccl::new_id()? } else { [0; 128] };
    let meeting = meeting::meet(place.as_slice(), (rank, size), &id)?;
    let id: Id = meeting.token.as_slice().try_into().unwrap_or([0; 128]);
    let gpus = Arc::new(Gpus::join(ordinal, (rank, size), id)?);
    let exercise = std::env::var_os(EXERCISE).is_some();
    Ok(Arc::new(ByGpus { gpus, meeting, turn: Mutex::new(()), exercise }))
}

/// Whether the variables say where workers meet.
#[must_use]
pub fn is_arranged() -> bool {
    std::env::var_os(ADDRESS).is_some() && std::env::var_os(PORT).is_some()
}

/// Where the first worker is met.
fn place() -> Result<Vec<std::net::SocketAddr>, Error> {
    let variable = |name: &str| {
        let missing = || Error::Launch(format!("{name} is not set: it says where the first worker is met"));
        std::env::var(name).map_err(|_| missing())
    };
    let (address, port) = (variable(ADDRESS)?, variable(PORT)?);
    let wrong = || Error::Launch(format!("{PORT} is `{port}`: expected a number from 1 to 65534"));
    let mut number: u16 = port.parse().ok().filter(|&port| port > 0 && port < u16::MAX).ok_or_else(wrong)?;
    if std::env::var(TAKEN).is_ok_and(|taken| taken == "True") {
        number += 1;
    }
    let unknown = |problem| Error::Launch(format!("{ADDRESS} is `{address}`: {problem}"));
    Ok((address.as_str(), number).to_socket_addrs().map_err(unknown)?.collect())
}

#[derive(Debug)]
struct ByGpus {
    gpus: Arc<Gpus>,
    meeting: Meeting,
    /// One exchange at a time.
    turn: Mutex<()>,
    exercise: bool,
}

impl ByGpus {
    /// A result of the GPU; one that failed ends the job.
    fn insist<T>(&self, result: Result<T, Error>) -> T {
        result.unwrap_or_else(|problem| {
            let worker = &self.meeting.worker;
            eprintln!("error: {}: {problem}", worker.name(worker.rank));
            self.abort(1)
        })
    }
}

impl Peers for ByGpus {
    fn sum(&self, numbers: &mut [f64]) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.meeting.begun();
        self.insist(self.gpus.sum_doubles(numbers));
    }
}

impl Group for ByGpus {
    fn worker(&self) -> &Worker {
        &self.meeting.worker
    }

    fn round(&self, mine: &[u8], lengths: &[usize]) -> Vec<u8> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.meeting.begun();
        self.insist(self.gpus.gather_bytes(mine, lengths))
    }

    fn begin(&self, mut numbers: Vec<f32>) -> Pending {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.meeting.begun();
        self.insist(self.gpus.sum_singles(&mut numbers));
        Pending::new(move || numbers)
    }

    fn press(&self, pressing: bool) {
        self.meeting.press(pressing);
    }

    fn gpus(&self) -> Option<Arc<Gpus>> {
        Some(Arc::clone(&self.gpus))
    }

    fn is_exercise(&self) -> bool {
        self.exercise
    }

    fn leave(&self) {
        self.press(false);
        // Whoever comes first waits for the others.
        self.round(&[0], &vec![1; self.gpus.size]);
        self.meeting.leave();
    }

    fn abort(&self, code: i32) -> ! {
        self.meeting.end(code)
    }
}
