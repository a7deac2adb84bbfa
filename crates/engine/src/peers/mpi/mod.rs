//! Workers that are processes on any number of machines, by MPI.
//!
//! One thread of a worker talks MPI, the one that started it; everybody else leaves orders with it. So sums go on while
//! the training computes, any MPI will do, whatever it thinks of threads, and a worker that is lost is noticed.

mod talk;

use super::{Exchanged, Group, Pending, Worker};
use crate::Error;
use cleanest_core::methods::Peers;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use talk::{Order, talk};

/// Starts MPI, and finds the others.
pub fn join() -> Result<Arc<dyn Group>, Error> {
    let (orders, taken) = channel();
    let state = Arc::new(State::default());
    let (started, ready) = channel();
    let shared = Arc::clone(&state);
    std::thread::Builder::new()
        .name("mpi".into())
        .spawn(move || talk(&taken, &started, &shared))
        .map_err(|problem| Error::Launch(format!("no thread for MPI: {problem}")))?;
    let worker = ready.recv().map_err(|_| Error::Launch("MPI did not start".into()))??;
    Ok(Arc::new(Mpi { worker, orders: Mutex::new(orders), state }))
}

/// What the thread that talks and the others know of each other.
#[derive(Debug, Default)]
struct State {
    /// How many wait for an answer right now.
    waiting: AtomicUsize,
    pressing: AtomicBool,
    exchanged: Mutex<Exchanged>,
}

#[derive(Debug)]
struct Mpi {
    worker: Worker,
    orders: Mutex<Sender<Order>>,
    state: Arc<State>,
}

impl Mpi {
    /// Leaves an order.
    fn order(&self, order: Order) {
        let sent = self.orders.lock().unwrap_or_else(PoisonError::into_inner).send(order);
        if sent.is_err() {
            stay();
        }
    }
}

/// Waits for an answer.
fn answer<T>(state: &State, answer: &Receiver<T>) -> T {
    state.waiting.fetch_add(1, Ordering::Relaxed);
    let found = answer.recv();
    state.waiting.fetch_sub(1, Ordering::Relaxed);
    found.unwrap_or_else(|_| stay())
}

/// The thread that talks has ended the job, and this process is about to end.
fn stay() -> ! {
    loop {
        std::thread::sleep(Duration::from_mins(1));
    }
}

impl Peers for Mpi {
    fn sum(&self, numbers: &mut [f64]) {
        let (reply, receiver) = channel();
        self.order(Order::Sum64 { numbers: numbers.to_vec(), reply });
        numbers.copy_from_slice(&answer(&self.state, &receiver));
    }
}

impl Group for Mpi {
    fn worker(&self) -> &Worker {
        &self.worker
    }

    fn round(&self, mine: &[u8], lengths: &[usize]) -> Vec<u8> {
        let (reply, receiver) = channel();
        self.order(Order::Gather { mine: mine.to_vec(), lengths: lengths.to_vec(), reply });
        answer(&self.state, &receiver)
    }

    fn begin(&self, numbers: Vec<f32>) -> Pending {
        let (reply, receiver) = channel();
        self.order(Order::Sum32 { numbers, reply });
        let state = Arc::clone(&self.state);
        Pending::new(move || {
            let begun = Instant::now();
            let sum = answer(&state, &receiver);
            state.exchanged.lock().unwrap_or_else(PoisonError::into_inner).waited += begun.elapsed();
            sum
        })
    }

    fn press(&self, pressing: bool) {
        self.state.pressing.store(pressing, Ordering::Relaxed);
    }

    fn exchanged(&self) -> Exchanged {
        *self.state.exchanged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        let (reply, receiver) = channel();
        self.press(false);
        self.order(Order::Leave { reply });
        // Whether it was answered or not, there is nobody left to talk to.
        let _ = receiver.recv();
    }

    fn abort(&self, code: i32) -> ! {
        self.order(Order::Abort { code });
        stay()
    }
}
