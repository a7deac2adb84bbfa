//! `cleanest demo`: the whole thing on the digits that come with the program.

use super::fit::fit;
use cleanest::experiment::Config;
use std::path::PathBuf;

/// See it work: spoil the labels of the embedded digits, and find out how.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Noise to inject
    #[arg(long, default_value = "pair:0.4", value_name = "NOISE")]
    noise: String,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// The folder the run is written to [default: runs/digits-tvd-SEED]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Show nothing but errors and the result
    #[arg(long)]
    quiet: bool,
}

impl Demo {
    /// Trains with every default.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let noise = Some(self.noise.parse()?);
        let config = Config { data: "digits".into(), noise, seed: self.seed, ..Config::default() };
        fit(&config, self.out, self.quiet)
    }
}
