//! `cleanest resume`: on from where a run was cut.

use super::fit::say;
use crate::progress::Shown;
use cleanest::peers;
use cleanest::run::RunFolder;
use cleanest::train::Stop;
use std::path::PathBuf;

/// Go on with a run that was cut; it ends as if it had not been.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// The run folder
    run: PathBuf,
    /// Where to go on: auto, cpu or cuda:N; elsewhere than before, rounding differs [default: where it was cut]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Show nothing but errors and the result
    #[arg(long)]
    quiet: bool,
}

impl Resume {
    /// Trains what is left.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let device = self.device.as_deref().map(str::parse).transpose().map_err(cleanest::Error::Engine)?;
        let peers = peers::join(device.unwrap_or_default())?;
        let first = peers.is_first();
        let run = RunFolder::open_with(&self.run, peers)?;
        if run.is_complete_for_all() {
            if first {
                // It may have been cut between its last file and the tidying up.
                run.tidy()?;
                eprintln!("`{}` is complete: there is nothing to resume", self.run.display());
            }
            return Ok(());
        }
        let stop = Stop::on_signals()?;
        let finished = run.resume(device, &stop, &mut Shown::to(first, self.quiet))?;
        if first { say(&run, &finished) } else { Ok(()) }
    }
}
