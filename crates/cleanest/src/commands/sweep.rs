//! `cleanest sweep`: all runs a file asks for.

use crate::board::Board;
use clap::ValueEnum;
use cleanest::experiment::{Keep, Shard, Sweep as Plan};
use cleanest::peers::Launch;
use cleanest::run::{RunState, sweep};
use cleanest::train::Stop;
use std::io::Write as _;
use std::path::PathBuf;

/// Make all runs a file asks for: lists of methods, noises, seeds or anything else, every combination a run.
#[derive(Debug, clap::Args)]
pub(crate) struct Sweep {
    /// A TOML file: the keys of a configuration, a table `grid` of lists, and sections `[[when]]`
    file: PathBuf,
    /// The folder of the run folders [default: `out` of the file, or runs/FILE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs at a time, in this one process
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Only one of N equal parts, from 1/N to N/N: parts have no run in common
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Only runs with this value of a key, such as method=tvd; of a key named twice, either value
    #[arg(long, value_name = "KEY=VALUE")]
    only: Vec<String>,
    /// Any setting of every run by its key; a list with grid.KEY=[VALUES]; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where to train, the same as --set device=DEVICE
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// What run folders keep: the same as --set keep=...
    #[arg(long, value_enum, value_name = "WHAT")]
    keep: Option<KeepArgument>,
    /// List the runs and how far each is, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Show nothing but errors
    #[arg(long)]
    quiet: bool,
}

/// Several processes would make the same runs in the same folders.
const SEVERAL: &str = "a sweep is not trained by several workers together: give each its part with --shard I/N";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeepArgument {
    /// Everything that was found
    All,
    /// Settings, metrics and matrices: no weights, nothing for each example
    Small,
}

impl Sweep {
    /// Makes the runs, or lists them.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let several = Launch::found().map_err(cleanest::Error::Engine)?.is_some_and(|launch| launch.size > 1);
        anyhow::ensure!(!several || self.shard.is_some(), super::WrongUse(SEVERAL));
        let plan = self.plan()?;
        if self.dry_run {
            return list(&plan);
        }
        let stop = Stop::on_signals()?;
        let board = Board::new(&plan, self.quiet);
        let swept = sweep(&plan.out, &plan.runs, self.jobs.into(), &stop, &board);
        board.end();
        let swept = swept?;
        if swept.failed.is_empty() {
            if !self.quiet {
                eprintln!("all {} runs are complete in {}", swept.complete, plan.out.display());
            }
            return Ok(());
        }
        for (run, error) in &swept.failed {
            eprintln!("failed: {}: {error}", plan.out.join(&plan.runs[*run].name).display());
        }
        Err(cleanest::Error::RunsFailed { failed: swept.failed.len(), runs: plan.runs.len() }.into())
    }

    /// The runs that are asked for.
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut set = self.set.clone();
        set.extend(self.device.iter().map(|device| format!("device=\"{device}\"")));
        set.extend(self.keep.map(|keep| match keep {
            KeepArgument::All => "keep=all".to_owned(),
            KeepArgument::Small => "keep=small".to_owned(),
        }));
        let mut plan = Plan::read(&self.file, &set)?;
        if let Some(out) = &self.out {
            plan.out.clone_from(out);
        }
        plan.only(&self.only)?;
        if let Some(shard) = self.shard {
            plan.keep_shard(shard);
        }
        Ok(plan)
    }
}

/// A line for each run: how far it is, and its folder.
fn list(plan: &Plan) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for run in &plan.runs {
        let folder = plan.out.join(&run.name);
        let state = match RunState::of(&folder) {
            RunState::Complete => "complete",
            RunState::Begun => "begun",
            RunState::Missing => "missing",
        };
        writeln!(out, "{state:8}  {}", folder.display())?;
    }
    let small = plan.runs.iter().all(|run| run.config.keep == Keep::Small);
    eprintln!("{} runs{}", plan.runs.len(), if small { ", kept small" } else { "" });
    Ok(())
}
