//! Where workers without MPI meet: the first one listens, the others come, and the lines stay open for as long as they
//! work. What goes over them is who is there, what all begin with, and that everybody still is.

use super::Worker;
use super::watch::{Beat, Watch, patience, sentence};
use crate::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The first words on a line.
const GREETING: &str = "cleanest-workers-1";
/// How long workers wait for each other to come.
const ARRIVAL: Duration = Duration::from_mins(5);
/// What a line says after the greeting: a beat, farewell, or that the job has failed.
const BEAT: u8 = b'b';
const LEFT: u8 = b'l';
const FAILED: u8 = b'f';

/// Workers that have met.
#[derive(Debug)]
pub(crate) struct Meeting {
    pub(crate) worker: Worker,
    /// What the first worker brought for all.
    pub(crate) token: Vec<u8>,
    shared: Arc<Shared>,
}

/// What the training and the threads on the lines know of each other.
#[derive(Debug, Default)]
struct Shared {
    begun: AtomicU64,
    pressing: AtomicBool,
    leaving: AtomicBool,
    lines: Mutex<Vec<TcpStream>>,
}

/// What was heard on a line.
enum Heard {
    Beat(Beat),
    Left,
    Failed,
    /// The line is cut.
    Gone,
}

/// Meets the other workers.
pub(crate) fn meet(
    place: &[SocketAddr],
    (rank, size): (usize, usize),
    token: &[u8],
) -> Result<Meeting, Error> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| "unknown".into());
    let host = host.trim().to_owned();
    let (lines, hosts, token) = if rank == 0 {
        let (lines, hosts) = receive(place, size, &host, token)?;
        (lines, hosts, token.to_vec())
    } else {
        let (line, hosts, token) = come(place, (rank, size), &host)?;
        (vec![(0, line)], hosts, token)
    };
    let worker = Worker::new(rank, hosts);
    let shared = Arc::new(Shared::default());
    watch(&worker, lines, &shared)?;
    Ok(Meeting { worker, token, shared })
}

impl Meeting {
    /// Notes that another exchange has begun.
    pub(crate) fn begun(&self) {
        self.shared.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn press(&self, pressing: bool) {
        self.shared.pressing.store(pressing, Ordering::Relaxed);
    }

    /// Tells the others that this worker is done.
    pub(crate) fn leave(&self) {
        self.shared.leaving.store(true, Ordering::Relaxed);
        self.shared.tell(&[LEFT]);
    }

    /// Tells the others that the job has failed, and ends this process.
    pub(crate) fn end(&self, code: i32) -> ! {
        self.shared.tell(&[FAILED]);
        std::process::exit(code)
    }
}

impl Shared {
    /// Sends bytes on every line; one that is cut is noticed by whoever listens there.
    fn tell(&self, bytes: &[u8]) {
        for line in self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            let _ = line.write_all(bytes);
        }
    }
}

/// Lines to other workers, by their ranks.
type Lines = Vec<(usize, TcpStream)>;

/// The first worker: listens until all others have come. Gives back their lines and machines.
fn receive(
    place: &[SocketAddr],
    size: usize,
    host: &str,
    token: &[u8],
) -> Result<(Lines, Vec<String>), Error> {
    let port = place.first().map_or(0, SocketAddr::port);
    let failed =
        |problem: std::io::Error| Error::Launch(format!("no worker can be met at port {port}: {problem}"));
    let listener = TcpListener::bind(("0.0.0.0", port)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let mut hosts = vec![String::new(); size];
    host.clone_into(&mut hosts[0]);
    let mut lines = Lines::new();
    let begun = Instant::now();
    while lines.len() + 1 < size {
        match listener.accept() {
            Ok((line, _)) => {
                // Whoever does not know the greeting came to the wrong door.
                if let Some((rank, host)) = greeted(&line, size).filter(|(rank, _)| hosts[*rank].is_empty()) {
                    hosts[rank] = host;
                    lines.push((rank, line));
                }
            }
            Err(_) if begun.elapsed() < ARRIVAL => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => {
                let missing: Vec<String> =
                    (0..size).filter(|&rank| hosts[rank].is_empty()).map(|rank| rank.to_string()).collect();
                let seconds = ARRIVAL.as_secs();
                let problem =
                    format!("of {size} workers these have not come in {seconds} s: {}", missing.join(", "));
                return Err(Error::Launch(problem));
            }
        }
    }
    let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    for (_, line) in &mut lines {
        writeln!(line, "{GREETING} {token} {}", hosts.join(" ")).map_err(failed)?;
    }
    Ok((lines, hosts))
}

/// Rank and machine of a worker that comes.
fn greeted(line: &TcpStream, size: usize) -> Option<(usize, String)> {
    line.set_nonblocking(false).ok()?;
    line.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let text = read_line(line)?;
    let mut words = text.split_whitespace();
    let greeting = words.next()? == GREETING;
    let (rank, of) = (words.next()?.parse::<usize>().ok()?, words.next()?.parse::<usize>().ok()?);
    let host = words.next()?.to_owned();
    (greeting && of == size && (1..size).contains(&rank)).then_some((rank, host))
}

/// Another worker: comes to the first, who may not be there yet. Gives back the line, all machines and the token.
fn come(
    place: &[SocketAddr],
    (rank, size): (usize, usize),
    host: &str,
) -> Result<(TcpStream, Vec<String>, Vec<u8>), Error> {
    let begun = Instant::now();
    let mut line = loop {
        match TcpStream::connect(place) {
            Ok(line) => break line,
            Err(_) if begun.elapsed() < ARRIVAL => std::thread::sleep(Duration::from_millis(50)),
            Err(problem) => return Err(Error::Launch(format!("the first worker is not met: {problem}"))),
        }
    };
    let wrong = || Error::Launch("the first worker does not answer as one".into());
    writeln!(line, "{GREETING} {rank} {size} {host}").map_err(|_| wrong())?;
    line.set_read_timeout(Some(ARRIVAL)).map_err(|_| wrong())?;
    let text = read_line(&line).ok_or_else(wrong)?;
    let mut words = text.split_whitespace();
    if words.next() != Some(GREETING) {
        return Err(wrong());
    }
    let token = words.next().ok_or_else(wrong)?;
    let byte = |at: usize| u8::from_str_radix(token.get(at..at + 2)?, 16).ok();
    let token = (0..token.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>().ok_or_else(wrong)?;
    let hosts: Vec<String> = words.map(str::to_owned).collect();
    if hosts.len() == size { Ok((line, hosts, token)) } else { Err(wrong()) }
}

/// A line of text, byte by byte, so that nothing behind it is taken.
fn read_line(line: &TcpStream) -> Option<String> {
    let mut text = String::new();
    BufReader::with_capacity(1, line).take(1 << 20).read_line(&mut text).ok()?;
    text.ends_with('\n').then_some(text)
}

/// Starts to listen on every line, and to judge.
fn watch(worker: &Worker, lines: Lines, shared: &Arc<Shared>) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    let failed = |problem: std::io::Error| Error::Launch(format!("the lines between workers: {problem}"));
    let (sender, heard) = channel();
    for (rank, line) in lines {
        line.set_read_timeout(None).map_err(failed)?;
        line.set_nodelay(true).map_err(failed)?;
        let listening = line.try_clone().map_err(failed)?;
        shared.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        let sender = sender.clone();
        let listen = move || listen(listening, rank, &sender);
        std::thread::Builder::new().name("listen".into()).spawn(listen).map_err(failed)?;
    }
    let (worker, shared) = (worker.clone(), Arc::clone(shared));
    let judge = move || judge(&worker, &heard, &shared);
    std::thread::Builder::new().name("watch".into()).spawn(judge).map_err(failed)?;
    Ok(())
}

/// Passes on what is heard on a line.
fn listen(mut line: TcpStream, rank: usize, to: &Sender<(usize, Heard)>) {
    loop {
        let (mut kind, mut words) = ([0], [0; 9]);
        let heard = match line.read_exact(&mut kind).map(|()| kind[0]) {
            Ok(BEAT) if line.read_exact(&mut words).is_ok() => {
                let begun = u64::from_le_bytes(words[..8].try_into().unwrap_or_default());
                Heard::Beat(Beat { begun, pressing: words[8] != 0 })
            }
            Ok(LEFT) => Heard::Left,
            Ok(FAILED) => Heard::Failed,
            _ => Heard::Gone,
        };
        let last = !matches!(heard, Heard::Beat(_));
        if to.send((rank, heard)).is_err() || last {
            return;
        }
    }
}

/// Tells the others now and then that this worker is there, and ends the job when another is not.
fn judge(worker: &Worker, heard: &Receiver<(usize, Heard)>, shared: &Shared) {
    let patience = patience();
    let every = (patience / 10).min(Duration::from_secs(2));
    let mut watch = Watch::new(worker.rank, worker.size(), patience, Instant::now());
    let mut sent = Instant::now();
    loop {
        let now = Instant::now();
        match heard.recv_timeout(every) {
            Ok((rank, Heard::Beat(beat))) => watch.hear(rank, beat, now),
            // Who failed has said why.
            Ok((_, Heard::Failed)) => std::process::exit(1),
            Ok((_, Heard::Gone)) if shared.leaving.load(Ordering::Relaxed) => return,
            Ok((rank, Heard::Gone)) => lose(&format!("{} has ended", worker.name(rank)), shared),
            Err(RecvTimeoutError::Timeout) => {}
            // The end of the whole: one has come to it, or all lines are closed.
            Ok((_, Heard::Left)) | Err(RecvTimeoutError::Disconnected) => return,
        }
        if now - sent >= every {
            sent = now;
            let pressing = shared.pressing.load(Ordering::Relaxed);
            let beat = Beat { begun: shared.begun.load(Ordering::Relaxed), pressing };
            watch.hear(worker.rank, beat, now);
            let mut bytes = vec![BEAT];
            bytes.extend(beat.begun.to_le_bytes());
            bytes.push(u8::from(pressing));
            shared.tell(&bytes);
        }
        if let Some((rank, lost, since)) = watch.verdict(now) {
            lose(&sentence(&worker.name(rank), lost, since), shared);
        }
    }
}

/// Says who is lost, and ends the job.
fn lose(sentence: &str, shared: &Shared) -> ! {
    eprintln!("error: {sentence}");
    eprintln!(
        "hint: the run goes on from its last checkpoint with `cleanest resume RUN`, with any number of workers"
    );
    shared.tell(&[FAILED]);
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_meet_whoever_comes_first_and_strangers_are_shown_out() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let token: Vec<u8> = (0..=255).collect();
        std::thread::scope(|scope| {
            let (place, token) = ([free], &token);
            let other = move |rank| meet(&place, (rank, 3), &[]).unwrap();
            let late = scope.spawn(move || other(2));
            let first = scope.spawn(move || meet(&place, (0, 3), token).unwrap());
            // Somebody who has lost the way.
            std::thread::sleep(Duration::from_millis(100));
            let _ = TcpStream::connect(free).and_then(|mut line| line.write_all(b"GET / HTTP/1.1\n\n"));
            let second = scope.spawn(move || other(1));
            for (rank, met) in [first, second, late].into_iter().enumerate() {
                let met = met.join().unwrap();
                assert_eq!((met.worker.rank, met.worker.size(), &met.token), (rank, 3, token));
                met.leave();
            }
        });
    }
}
