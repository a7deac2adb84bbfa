//! `cleanest formats`: what can be read.

use cleanest_data::formats::FORMATS;
use std::io::Write as _;

/// List the formats of data, one line each.
#[derive(Debug, clap::Args)]
pub(crate) struct Formats {}

impl Formats {
    /// Prints a line for each format of the list.
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        for format in FORMATS {
            writeln!(out, "{:<13} {}", format.name, format.about)?;
        }
        Ok(())
    }
}
