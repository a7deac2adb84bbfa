//! `cleanest plot`: the figures of a run as files.

use cleanest::report::plot;
use cleanest::run::RunFolder;
use std::io::Write as _;
use std::path::PathBuf;

/// Draw the figures of a run, as SVG and PNG: heat maps, curves and, for three classes, the simplex.
#[derive(Debug, clap::Args)]
pub(crate) struct Plot {
    /// The run folder
    run: PathBuf,
    /// The folder the figures are written to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Plot {
    /// Writes the figures and prints where each is.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        // An audit of probabilities has a matrix to draw, and so has a run that was not audited.
        let run = RunFolder::open_audited(&self.run).or_else(|_| RunFolder::open(&self.run))?;
        let mut out = std::io::stdout().lock();
        for file in plot(&run, &self.out)? {
            writeln!(out, "{}", file.display())?;
        }
        Ok(())
    }
}
