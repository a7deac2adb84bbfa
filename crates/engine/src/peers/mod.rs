//! The workers of a training run: processes, each with a part of every batch, that agree on logits and gradients.
//!
//! A [`Group`] is what a worker sees of the others. [`Alone`] is a run of one; [`threads`] are workers within a program,
//! for tests; `mpi` (a feature) are processes on any number of machines; NCCL joins the GPUs of either.

mod alone;
pub mod gpus;
pub mod launch;
mod meeting;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;
pub mod watch;

pub use alone::Alone;

use crate::cuda::Gpus;
use cleanest_core::methods::Peers;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are gathered at a time: libraries count in 32 bits.
const ROUND: usize = 1 << 28;

/// What a worker sees of the others. Every worker has to ask for the same things in the same order.
///
/// Nothing here fails: when a worker is lost the job cannot go on, and ends on all of them with a sentence.
pub trait Group: Peers + Send + fmt::Debug {
    /// Who this worker is.
    fn worker(&self) -> &Worker;

    /// The bytes of all workers one after the other; all know how many each has, and together they are below 2 GB.
    fn round(&self, mine: &[u8], lengths: &[usize]) -> Vec<u8>;

    /// Begins to sum numbers over all workers, and goes on.
    fn begin(&self, numbers: Vec<f32>) -> Pending;

    /// Whether the others may count on this worker to take part soon: if it then does not, it is held to hang.
    fn press(&self, _pressing: bool) {}

    /// What was exchanged so far.
    fn exchanged(&self) -> Exchanged {
        Exchanged::default()
    }

    /// The GPUs of all workers, where they exchange by them alone.
    fn gpus(&self) -> Option<Arc<Gpus>> {
        None
    }

    /// Whether even one worker is to gather and to exchange in pieces as several do, to see what that costs.
    fn is_exercise(&self) -> bool {
        false
    }

    /// Takes leave of the others, once all of them have come so far.
    fn leave(&self) {}

    /// Ends the job on all workers.
    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}

/// Who a worker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its number, the first being 0.
    pub rank: usize,
    /// Its number among those of its machine.
    pub local: usize,
    /// The machine of every worker.
    pub hosts: Vec<String>,
}

impl Worker {
    /// Who has this rank, on these machines.
    #[must_use]
    pub fn new(rank: usize, hosts: Vec<String>) -> Self {
        let local = hosts[..rank].iter().filter(|host| **host == hosts[rank]).count();
        Self { rank, local, hosts }
    }

    /// How many workers there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.hosts.len()
    }

    /// How many of them are on this machine.
    #[must_use]
    pub fn neighbors(&self) -> usize {
        self.hosts.iter().filter(|host| **host == self.hosts[self.rank]).count()
    }

    /// A worker for a sentence: `worker 3 of 8 (node-b)`, counted from 0 as launchers do.
    #[must_use]
    pub fn name(&self, rank: usize) -> String {
        format!("worker {rank} of {} ({})", self.size(), self.hosts[rank])
    }
}

/// A sum on its way.
pub struct Pending(Box<dyn FnOnce() -> Vec<f32> + Send>);

impl Pending {
    /// What will be there when `wait` returns.
    pub fn new(wait: impl FnOnce() -> Vec<f32> + Send + 'static) -> Self {
        Self(Box::new(wait))
    }

    /// Waits for it.
    #[must_use]
    pub fn wait(self) -> Vec<f32> {
        (self.0)()
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}

/// What was exchanged, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Numbers of gradients that were summed.
    pub numbers: u64,
    /// Time in which a sum of gradients was under way.
    pub busy: Duration,
    /// Time in which the training waited for one.
    pub waited: Duration,
}

/// What of a batch a worker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Examples of the batch before its own.
    pub first: usize,
    /// Its own examples. A worker with none goes through the motions with an example of another.
    pub own: usize,
    /// Examples of the whole batch.
    pub whole: usize,
}

impl Part {
    /// The share of the batch.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.own as f64 / self.whole.max(1) as f64
    }
}

/// The examples of a whole that belong to a worker: parts differ by at most one.
#[must_use]
pub fn part(whole: usize, rank: usize, size: usize) -> Range<usize> {
    let (base, extra) = (whole / size, whole % size);
    let start = rank * base + rank.min(extra);
    start..start + base + usize::from(rank < extra)
}

impl dyn Group + '_ {
    /// The number of this worker.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.worker().rank
    }

    /// How many there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.worker().size()
    }

    /// Whether this is the worker that writes and speaks.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The bytes of all workers one after the other, where all know how many each has.
    #[must_use]
    pub fn gather_known(&self, mine: &[u8], lengths: &[usize]) -> Vec<u8> {
        let total: usize = lengths.iter().sum();
        if total < ROUND {
            return self.round(mine, lengths);
        }
        let (each, longest) = (ROUND / self.size(), lengths.iter().copied().max().unwrap_or(0));
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        for first in (0..longest).step_by(each) {
            let piece = |length: usize| first.min(length)..(first + each).min(length);
            let lengths: Vec<usize> = lengths.iter().map(|&length| piece(length).len()).collect();
            let round = self.round(&mine[piece(mine.len())], &lengths);
            let mut rest = &round[..];
            for (all, &length) in all.iter_mut().zip(&lengths) {
                let (now, later) = rest.split_at(length);
                all.extend_from_slice(now);
                rest = later;
            }
        }
        all.concat()
    }

    /// The bytes of each worker.
    #[must_use]
    pub fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let size = self.size();
        let lengths = self.round(&(mine.len() as u64).to_le_bytes(), &vec![8; size]);
        let lengths: Vec<usize> = lengths
            .chunks_exact(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()) as usize)
            .collect();
        let all = self.gather_known(mine, &lengths);
        let mut rest = &all[..];
        let mut each = Vec::with_capacity(size);
        for &length in &lengths {
            let (now, later) = rest.split_at(length);
            each.push(now.to_vec());
            rest = later;
        }
        each
    }

    /// What the first worker has, for all.
    #[must_use]
    pub fn of_first(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.size() == 1 {
            return bytes;
        }
        let mine = if self.is_first() { bytes } else { Vec::new() };
        self.gather(&mine).swap_remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_whole_and_differ_by_at_most_one() {
        for (whole, size) in [(10, 1), (10, 3), (512, 64), (3, 4), (0, 2)] {
            let parts: Vec<_> = (0..size).map(|rank| part(whole, rank, size)).collect();
            assert_eq!(parts[0].start, 0);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(parts[size - 1].end, whole);
            let lengths = || parts.iter().map(ExactSizeIterator::len);
            assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1, "{whole} of {size}");
        }
    }

    #[test]
    fn workers_of_one_machine_are_counted_there() {
        let hosts: Vec<String> = ["a", "a", "b", "a", "b"].map(str::to_owned).to_vec();
        let of = |rank| Worker::new(rank, hosts.clone());
        assert_eq!([0, 1, 2, 3, 4].map(|rank| of(rank).local), [0, 1, 0, 2, 1]);
        assert_eq!((of(0).neighbors(), of(4).neighbors()), (3, 2));
        assert_eq!(of(0).name(2), "worker 2 of 5 (b)");
    }
}
