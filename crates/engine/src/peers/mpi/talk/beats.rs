//! Beats between the first worker and the others, by which a worker that is lost is noticed and named.

use super::{Cargo, Flight, Talk};
use crate::peers::watch::{Beat, sentence};
use mpi::ffi;
use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl Talk<'_> {
    /// Tells and hears who is still there, now and then.
    pub(super) fn beat(&mut self) {
        let now = Instant::now();
        if now - self.sent < self.every || self.worker.size() == 1 {
            return;
        }
        self.sent = now;
        let beat = Beat { begun: self.begun, pressing: self.state.pressing.load(Ordering::Relaxed) };
        self.watch.hear(self.worker.rank, beat, now);
        let to = if self.worker.rank == 0 { 1..self.worker.size() } else { 0..1 };
        for rank in to {
            self.send(rank, beat);
        }
        self.hear(now);
        if let Some((rank, lost, since)) = self.watch.verdict(now) {
            // Where the first one is lost all notice it: one of them speaks.
            if self.worker.rank > 1 {
                std::thread::sleep(Duration::from_secs(2));
            }
            eprintln!("error: {}", sentence(&self.worker.name(rank), lost, since));
            eprintln!(
                "hint: the run goes on from its last checkpoint with `cleanest resume RUN`, with any number of workers"
            );
            self.abort(1);
        }
    }

    fn send(&mut self, rank: usize, beat: Beat) {
        let words = Box::new([beat.begun, u64::from(beat.pressing)]);
        let from = words.as_ptr().cast();
        let request = self.request("MPI_Isend", |place| {
            // SAFETY: the two words live in the flight until they are sent.
            unsafe { ffi::MPI_Isend(from, 2, ffi::RSMPI_UINT64_T, rank as c_int, 0, self.beats, place) }
        });
        self.flights.push(Flight { request, cargo: Cargo::Beat { _beat: words } });
    }

    /// Takes all beats that have arrived.
    fn hear(&mut self, now: Instant) {
        for rank in (0..self.worker.size()).filter(|&rank| rank != self.worker.rank) {
            loop {
                let (mut there, mut words) = (0, [0_u64; 2]);
                // SAFETY: the message that is there has two words, as `send` sends them, and there is room for them.
                let code = unsafe {
                    let status = ffi::RSMPI_STATUS_IGNORE;
                    let code = ffi::MPI_Iprobe(rank as c_int, 0, self.beats, &raw mut there, status);
                    if there != 0 {
                        let place = words.as_mut_ptr().cast();
                        ffi::MPI_Recv(place, 2, ffi::RSMPI_UINT64_T, rank as c_int, 0, self.beats, status);
                    }
                    code
                };
                self.insist("MPI_Iprobe", code);
                if there == 0 {
                    break;
                }
                self.watch.hear(rank, Beat { begun: words[0], pressing: words[1] != 0 }, now);
            }
        }
    }
}
