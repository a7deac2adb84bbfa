//! `cleanest methods`: what there is to choose from.

use std::io::Write as _;

/// List the methods, one line each.
#[derive(Debug, clap::Args)]
pub(crate) struct Methods {}

impl Methods {
    /// Prints a line for each method of the list.
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out)?;
        Ok(())
    }
}
