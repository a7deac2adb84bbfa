//! The thread that talks MPI: orders come in, collective calls go out, and are asked after until they are done.

mod beats;

use super::State;
use crate::Error;
use crate::peers::Worker;
use crate::peers::watch::{Watch, patience};
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How long the thread sleeps for an order when nothing is under way.
const IDLE: Duration = Duration::from_millis(20);
/// How long it sleeps between two looks at what is under way, while the training has other things to do.
const PAUSE: Duration = Duration::from_micros(50);

/// What the thread is asked to do.
pub(super) enum Order {
    Sum32 { numbers: Vec<f32>, reply: Sender<Vec<f32>> },
    Sum64 { numbers: Vec<f64>, reply: Sender<Vec<f64>> },
    Gather { mine: Vec<u8>, lengths: Vec<usize>, reply: Sender<Vec<u8>> },
    Leave { reply: Sender<()> },
    Abort { code: i32 },
}

/// A call under way, with the memory it reads and writes.
struct Flight {
    request: ffi::MPI_Request,
    cargo: Cargo,
}

enum Cargo {
    Sum32 { _from: Vec<f32>, to: Vec<f32>, reply: Sender<Vec<f32>> },
    Sum64 { _from: Vec<f64>, to: Vec<f64>, reply: Sender<Vec<f64>> },
    Gather { _from: Vec<u8>, to: Vec<u8>, _counts: Box<[Vec<c_int>; 2]>, reply: Sender<Vec<u8>> },
    Farewell { reply: Sender<()> },
    Beat { _beat: Box<[u64; 2]> },
}

/// Everything the thread knows.
struct Talk<'a> {
    world: ffi::MPI_Comm,
    /// Beats have a communicator of their own, so that they never meet an exchange.
    beats: ffi::MPI_Comm,
    worker: Worker,
    state: &'a State,
    flights: Vec<Flight>,
    begun: u64,
    watch: Watch,
    /// When beats were last sent, and how often they are.
    sent: Instant,
    every: Duration,
    /// Sums under way, and since when there is at least one.
    sums: usize,
    since: Instant,
}

/// Starts MPI, tells who this worker is, and does as ordered until it is told to leave.
pub(super) fn talk(orders: &Receiver<Order>, started: &Sender<Result<Worker, Error>>, state: &State) {
    let mut talk = match Talk::start(state) {
        Ok(talk) => talk,
        Err(problem) => return drop(started.send(Err(problem))),
    };
    if started.send(Ok(talk.worker.clone())).is_err() {
        return;
    }
    loop {
        let calm = talk.flights.iter().all(|flight| matches!(flight.cargo, Cargo::Beat { .. }));
        let order = if calm {
            orders.recv_timeout(IDLE)
        } else {
            orders.try_recv().map_err(|_| RecvTimeoutError::Timeout)
        };
        match order {
            Ok(order) => talk.begin(order),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(farewell) = talk.look() {
                    // SAFETY: nothing is under way any more, and no call follows.
                    unsafe { ffi::MPI_Finalize() };
                    let _ = farewell.send(());
                    return;
                }
                if !calm {
                    talk.pause();
                }
            }
            // Nobody can give orders any more: the program ends.
            Err(RecvTimeoutError::Disconnected) => return,
        }
        talk.beat();
    }
}

impl<'a> Talk<'a> {
    fn start(state: &'a State) -> Result<Self, Error> {
        let (mut provided, mut rank, mut size) = (0, 0, 0);
        let (mut world, mut beats);
        // SAFETY: MPI is started once, by this thread, which makes all calls; every place can be written.
        unsafe {
            checked(
                "MPI_Init_thread",
                ffi::MPI_Init_thread(null_mut(), null_mut(), ffi::RSMPI_THREAD_FUNNELED, &raw mut provided),
            )?;
            (world, beats) = (ffi::RSMPI_COMM_WORLD, ffi::RSMPI_COMM_WORLD);
            checked("MPI_Comm_dup", ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &raw mut world))?;
            checked("MPI_Comm_dup", ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &raw mut beats))?;
            checked("MPI_Comm_rank", ffi::MPI_Comm_rank(world, &raw mut rank))?;
            checked("MPI_Comm_size", ffi::MPI_Comm_size(world, &raw mut size))?;
        }
        let worker = Worker::new(rank as usize, hosts(world, size as usize)?);
        let (now, patience) = (Instant::now(), patience());
        let watch = Watch::new(worker.rank, worker.size(), patience, now);
        let every = (patience / 10).min(Duration::from_secs(2));
        Ok(Self {
            world,
            beats,
            worker,
            state,
            flights: Vec::new(),
            begun: 0,
            watch,
            sent: now,
            every,
            sums: 0,
            since: now,
        })
    }

    /// Begins what is ordered.
    fn begin(&mut self, order: Order) {
        self.begun += 1;
        let flight = match order {
            Order::Sum32 { numbers, reply } => {
                let mut to = vec![0.0; numbers.len()];
                if self.sums == 0 {
                    self.since = Instant::now();
                }
                self.sums += 1;
                // SAFETY: the numbers are in single precision, and both lists live in the flight.
                let request = unsafe { self.reduce(&numbers, &mut to, ffi::RSMPI_FLOAT) };
                Flight { request, cargo: Cargo::Sum32 { _from: numbers, to, reply } }
            }
            Order::Sum64 { numbers, reply } => {
                let mut to = vec![0.0; numbers.len()];
                // SAFETY: the numbers are in double precision, and both lists live in the flight.
                let request = unsafe { self.reduce(&numbers, &mut to, ffi::RSMPI_DOUBLE) };
                Flight { request, cargo: Cargo::Sum64 { _from: numbers, to, reply } }
            }
            Order::Gather { mine, lengths, reply } => self.gather(mine, &lengths, reply),
            Order::Leave { reply } => {
                let request = self.request("MPI_Ibarrier", |place| {
                    // SAFETY: the place can be written.
                    unsafe { ffi::MPI_Ibarrier(self.world, place) }
                });
                Flight { request, cargo: Cargo::Farewell { reply } }
            }
            Order::Abort { code } => self.abort(code),
        };
        self.flights.push(flight);
    }

    /// The request of a call, which is given a place for it.
    fn request(&self, call: &str, begin: impl FnOnce(*mut ffi::MPI_Request) -> c_int) -> ffi::MPI_Request {
        // SAFETY: a constant of the library, which is started.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let code = begin(&raw mut request);
        self.insist(call, code);
        request
    }

    /// Begins a sum over all workers.
    ///
    /// # Safety
    /// The numbers must be of this kind; neither list may be touched or freed before the request is done.
    unsafe fn reduce<T>(&self, from: &[T], to: &mut [T], kind: ffi::MPI_Datatype) -> ffi::MPI_Request {
        let (count, from, to) = (from.len() as c_int, from.as_ptr().cast(), to.as_mut_ptr().cast());
        self.request("MPI_Iallreduce", |place| {
            // SAFETY: both places hold so many numbers, and what the caller promises.
            unsafe { ffi::MPI_Iallreduce(from, to, count, kind, ffi::RSMPI_SUM, self.world, place) }
        })
    }

    /// Begins to gather the bytes of all workers.
    fn gather(&self, mut mine: Vec<u8>, lengths: &[usize], reply: Sender<Vec<u8>>) -> Flight {
        let mut to = vec![0; lengths.iter().sum()];
        // An empty vector points at address 1, which is what Open MPI calls `MPI_IN_PLACE`.
        to.reserve(1);
        mine.reserve(1);
        let lengths: Vec<c_int> = lengths.iter().map(|&length| length as c_int).collect();
        let next = |next: &mut c_int, length: &c_int| Some(std::mem::replace(next, *next + length));
        let starts = lengths.iter().scan(0, next).collect();
        let counts = Box::new([lengths, starts]);
        let (from, into): (*const c_void, *mut c_void) = (mine.as_ptr().cast(), to.as_mut_ptr().cast());
        let (count, [lengths, starts]) = (mine.len() as c_int, &*counts);
        let (lengths, starts) = (lengths.as_ptr(), starts.as_ptr());
        let request = self.request("MPI_Iallgatherv", |place| {
            // SAFETY: the place has room for all parts, and everything lives in the flight until the call is done.
            unsafe {
                let byte = ffi::RSMPI_UINT8_T;
                ffi::MPI_Iallgatherv(from, count, byte, into, lengths, starts, byte, self.world, place)
            }
        });
        Flight { request, cargo: Cargo::Gather { _from: mine, to, _counts: counts, reply } }
    }

    /// Asks after everything under way; gives back whom to tell once the others have taken leave, too.
    fn look(&mut self) -> Option<Sender<()>> {
        let (mut at, mut left) = (0, None);
        while at < self.flights.len() {
            let mut done = 0;
            // SAFETY: the request is under way, and its memory in the flight.
            let code = unsafe {
                ffi::MPI_Test(&raw mut self.flights[at].request, &raw mut done, ffi::RSMPI_STATUS_IGNORE)
            };
            self.insist("MPI_Test", code);
            if done == 0 {
                at += 1;
                continue;
            }
            // Who asked may be gone, and then nobody misses the answer.
            match self.flights.remove(at).cargo {
                Cargo::Sum32 { to, reply, .. } => {
                    self.landed(to.len());
                    let _ = reply.send(to);
                }
                Cargo::Sum64 { to, reply, .. } => drop(reply.send(to)),
                Cargo::Gather { to, reply, .. } => drop(reply.send(to)),
                Cargo::Farewell { reply } => left = Some(reply),
                Cargo::Beat { .. } => {}
            }
        }
        left
    }

    /// Notes that a sum of gradients is done.
    fn landed(&mut self, numbers: usize) {
        let mut exchanged = self.state.exchanged.lock().unwrap_or_else(PoisonError::into_inner);
        self.sums -= 1;
        exchanged.numbers += numbers as u64;
        if self.sums == 0 {
            exchanged.busy += self.since.elapsed();
        }
    }

    /// Lets others compute, the longer the less anybody waits.
    fn pause(&self) {
        if self.state.waiting.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        } else {
            std::thread::sleep(PAUSE);
        }
    }

    /// A call that failed ends the job: there is no way back.
    fn insist(&self, call: &str, code: c_int) {
        if let Err(problem) = checked(call, code) {
            eprintln!("error: {}: {problem}", self.worker.name(self.worker.rank));
            self.abort(1);
        }
    }

    fn abort(&self, code: i32) -> ! {
        // SAFETY: MPI was started; the call does not return.
        unsafe { ffi::MPI_Abort(self.world, code) };
        std::process::exit(code)
    }
}

/// The machine of every worker.
fn hosts(world: ffi::MPI_Comm, size: usize) -> Result<Vec<String>, Error> {
    const NAME: usize = 256;
    let (mut name, mut length) = ([0_u8; NAME], 0);
    let mut all = vec![0_u8; NAME * size];
    // SAFETY: MPI's longest name is 256 bytes, and there is room for one of each worker.
    unsafe {
        debug_assert!(ffi::RSMPI_MAX_PROCESSOR_NAME as usize <= NAME);
        checked(
            "MPI_Get_processor_name",
            ffi::MPI_Get_processor_name(name.as_mut_ptr().cast(), &raw mut length),
        )?;
        let (from, to, byte) = (name.as_ptr().cast(), all.as_mut_ptr().cast(), ffi::RSMPI_UINT8_T);
        checked(
            "MPI_Allgather",
            ffi::MPI_Allgather(from, NAME as c_int, byte, to, NAME as c_int, byte, world),
        )?;
    }
    let text = |name: &[u8]| {
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        String::from_utf8_lossy(&name[..end]).into_owned()
    };
    Ok(all.chunks_exact(NAME).map(text).collect())
}

fn checked(call: &str, code: c_int) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::Launch(format!("{call} failed with code {code}"))) }
}
