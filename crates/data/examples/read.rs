//! Reads a path some times over and prints the seconds of each, and the most memory held, in kilobytes.
//!
//! `cargo run --release --example read -- PATH TIMES [LABELS]`: the other half of `bench/peers/data.py`.

use cleanest_data::{Options, Parts};
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which path?")?);
    let times: usize = arguments.next().ok_or("how often?")?.parse()?;
    let options = Options { labels: arguments.next().map(Into::into), ..Options::default() };
    for _ in 0..times {
        let start = Instant::now();
        let parts = Parts::open(&path, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        let examples = parts.train.len() + parts.test.map_or(0, |test| test.len());
        println!("{seconds:.4} {examples}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    println!("peak {}", peak.trim());
    Ok(())
}
