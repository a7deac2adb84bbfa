//! `cleanest devices`: where it can train, and what is missing to train elsewhere.

use cleanest_engine::cpu::Instructions;
use cleanest_engine::cuda::{self, Found, Survey};
use std::io::Write as _;

/// List the devices, one line each.
#[derive(Debug, clap::Args)]
pub(crate) struct Devices {}

impl Devices {
    /// Prints a line for each device, and on stderr one for everything that is missing.
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        writeln!(out, "cpu     {threads} threads, {}", Instructions::detect()?.name())?;
        let Survey { gpus, missing, versions } = cuda::survey()?;
        let versions = versions.map_or(String::new(), |versions| format!(", {versions}"));
        for Found { ordinal, name, memory, .. } in gpus {
            let gigabytes = memory as f64 / f64::from(1 << 30);
            writeln!(out, "cuda:{ordinal}  {name}, {gigabytes:.0} GiB{versions}")?;
        }
        for reason in missing {
            eprintln!("no GPU can be used: {reason}");
            eprintln!("hint: {}", reason.hint());
        }
        Ok(())
    }
}
