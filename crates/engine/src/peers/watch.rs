//! Who is held to be lost: a worker that is not heard of, or for whom all others wait.
//!
//! Workers tell the first one now and then how many exchanges they have begun, and it tells them the same. The first
//! worker judges all, itself included; the others judge only whether the first is still there.

use std::time::{Duration, Instant};

/// How long a worker may be silent, in seconds.
pub const PATIENCE: &str = "CLEANEST_PATIENCE";
const USUAL: f64 = 40.0;

/// How long a worker may be silent, or keep the others waiting.
#[must_use]
pub fn patience() -> Duration {
    let asked = std::env::var(PATIENCE).ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(asked.filter(|seconds: &f64| *seconds > 0.0 && *seconds < 1e6).unwrap_or(USUAL))
}

/// What a worker tells of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    /// Exchanges it has begun.
    pub begun: u64,
    /// Whether the others may count on it to begin the next one soon.
    pub pressing: bool,
}

/// Why a worker is held to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Nothing was heard of it.
    Silent,
    /// It is there, and does not do what the others wait for.
    Behind,
}

/// What one worker knows of the others.
#[derive(Debug)]
pub struct Watch {
    rank: usize,
    patience: Duration,
    heard: Vec<Instant>,
    beats: Vec<Beat>,
    behind: Vec<Option<Instant>>,
}

impl Watch {
    /// A watch that begins now.
    #[must_use]
    pub fn new(rank: usize, size: usize, patience: Duration, now: Instant) -> Self {
        let (heard, beats) = (vec![now; size], vec![Beat::default(); size]);
        Self { rank, patience, heard, beats, behind: vec![None; size] }
    }

    /// Notes what a worker told.
    pub fn hear(&mut self, from: usize, beat: Beat, now: Instant) {
        if beat != self.beats[from] {
            self.behind[from] = None;
        }
        (self.heard[from], self.beats[from]) = (now, beat);
        let most = self.beats.iter().map(|beat| beat.begun).max().unwrap_or(0);
        for (beat, behind) in self.beats.iter().zip(&mut self.behind) {
            if beat.begun == most || !beat.pressing {
                *behind = None;
            } else {
                behind.get_or_insert(now);
            }
        }
    }

    /// The worker that is lost, if one is, why, and for how long.
    #[must_use]
    pub fn verdict(&self, now: Instant) -> Option<(usize, Lost, Duration)> {
        let judged = |rank: &usize| *rank != self.rank && (self.rank == 0 || *rank == 0);
        let silent = (0..self.heard.len()).filter(judged).map(|rank| (rank, now - self.heard[rank]));
        // The one that is silent the longest was lost first.
        let silent = silent.filter(|(_, since)| *since >= self.patience).max_by_key(|(_, since)| *since);
        let behind = self.behind.iter().enumerate().filter_map(|(rank, since)| Some((rank, now - (*since)?)));
        let behind = behind.filter(|(_, since)| self.rank == 0 && *since >= self.patience);
        let silent = silent.map(|(rank, since)| (rank, Lost::Silent, since));
        silent.or_else(|| {
            behind.max_by_key(|(_, since)| *since).map(|(rank, since)| (rank, Lost::Behind, since))
        })
    }
}

/// The sentence that names a lost worker.
#[must_use]
pub fn sentence(worker: &str, lost: Lost, since: Duration) -> String {
    let seconds = since.as_secs_f64().round();
    match lost {
        Lost::Silent => format!("{worker} has not answered for {seconds} s"),
        Lost::Behind => format!("{worker} has kept the others waiting for {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_worker_that_is_not_heard_of_is_named() {
        let start = Instant::now();
        let mut watch = Watch::new(0, 3, seconds(40), start);
        for second in 0..60 {
            let beat = Beat { begun: second, pressing: true };
            watch.hear(0, beat, start + seconds(second));
            watch.hear(1, beat, start + seconds(second));
            if second < 10 {
                watch.hear(2, beat, start + seconds(second));
            }
            let verdict = watch.verdict(start + seconds(second));
            assert_eq!(
                verdict.map(|(rank, lost, _)| (rank, lost)),
                (second >= 49).then_some((2, Lost::Silent))
            );
        }
    }

    #[test]
    fn a_worker_that_keeps_the_others_waiting_is_named_unless_it_said_so() {
        for pressing in [true, false] {
            let start = Instant::now();
            let mut watch = Watch::new(0, 3, seconds(40), start);
            for second in 0..=41 {
                for rank in 0..3 {
                    let begun = if rank == 1 { 6 } else { 7 };
                    watch.hear(
                        rank,
                        Beat { begun, pressing: pressing || rank != 1 },
                        start + seconds(second),
                    );
                }
            }
            let verdict = watch.verdict(start + seconds(41));
            assert_eq!(verdict.map(|(rank, lost, _)| (rank, lost)), pressing.then_some((1, Lost::Behind)));
        }
    }

    #[test]
    fn only_the_first_judges_the_others_and_all_judge_the_first() {
        let start = Instant::now();
        let late = start + seconds(50);
        let mut watch = Watch::new(2, 3, seconds(40), start);
        assert_eq!(watch.verdict(late).map(|(rank, lost, _)| (rank, lost)), Some((0, Lost::Silent)));
        watch.hear(0, Beat::default(), late);
        assert_eq!(watch.verdict(late), None);
        let said = sentence("worker 0 of 3 (a)", Lost::Silent, seconds(50));
        assert_eq!(said, "worker 0 of 3 (a) has not answered for 50 s");
    }
}
