//! `cleanest devices`: where it can train.

use cleanest_engine::cpu::Instructions;
use std::io::Write as _;

/// List the devices, one line each.
#[derive(Debug, clap::Args)]
pub(crate) struct Devices {}

impl Devices {
    /// Prints a line for each device.
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let instructions = Instructions::detect()?.name();
        Ok(writeln!(std::io::stdout().lock(), "cpu   {threads} threads, {instructions}")?)
    }
}
