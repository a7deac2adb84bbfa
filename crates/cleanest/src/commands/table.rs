//! `cleanest table`: many runs as the tables of a paper.

use super::WrongUse;
use clap::ValueEnum;
use cleanest::report::table::{self, Metric, Verdict, Whose, gather, tables};
use std::io::Write as _;
use std::path::PathBuf;

/// Sum up runs as a paper does: methods by noises, mean(deviation) over seeds, the best in bold.
#[derive(Debug, clap::Args)]
pub(crate) struct Table {
    /// Run folders, or folders that hold some
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// How the tables are written
    #[arg(long, value_enum, default_value = "markdown")]
    format: FormatArgument,
    /// What the tables are of [default: both]
    #[arg(long, value_enum)]
    metric: Option<MetricArgument>,
    /// Set the paper's numbers beside ours, and whether ours lie within two of its deviations
    #[arg(long)]
    paper: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    /// For a page of a repository
    Markdown,
    /// For a paper, with the package booktabs
    Latex,
    /// A line for each cell, for programs
    Csv,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MetricArgument {
    /// Accuracy on clean test labels after the last step
    Accuracy,
    /// Distance of the estimated noise from the injected one
    AverageTv,
}

impl Table {
    /// Prints the tables; what is not in them is named.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let gathered = gather(&self.runs)?;
        for (path, reason) in &gathered.left_out {
            eprintln!("not counted: {}: {reason}", path.display());
        }
        if gathered.trials.is_empty() {
            return Err(WrongUse("no run can be counted: there is nothing to sum up").into());
        }
        let metrics = match self.metric {
            None => vec![Metric::Accuracy, Metric::AverageTv],
            Some(MetricArgument::Accuracy) => vec![Metric::Accuracy],
            Some(MetricArgument::AverageTv) => vec![Metric::AverageTv],
        };
        let found = tables(&gathered.trials, &metrics, self.paper);
        let format = match self.format {
            FormatArgument::Markdown => table::Format::Markdown,
            FormatArgument::Latex => table::Format::Latex,
            FormatArgument::Csv => table::Format::Csv,
        };
        write!(std::io::stdout().lock(), "{}", format.text(&found, &gathered))?;
        if self.paper {
            found.iter().for_each(sum_up);
        }
        Ok(())
    }
}

/// How many cells agree with the paper.
fn sum_up(table: &table::Table) {
    let verdicts: Vec<Option<Verdict>> = table
        .cells
        .iter()
        .flatten()
        .flatten()
        .map(|cell| cell.paper.as_ref().map(|paper| paper.verdict))
        .collect();
    let count = |is: fn(&Option<Verdict>) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
    eprintln!(
        "{}, {}, {}: {} within, {} better, {} worse; by our own deviations {} within, {} better, {} worse; without any \
        {} no worse, {} behind; {} not known",
        table.data,
        table.model,
        table.metric.title(),
        count(|verdict| *verdict == Some(Verdict::Within(Whose::Theirs))),
        count(|verdict| *verdict == Some(Verdict::Better(Whose::Theirs))),
        count(|verdict| *verdict == Some(Verdict::Worse(Whose::Theirs))),
        count(|verdict| *verdict == Some(Verdict::Within(Whose::Ours))),
        count(|verdict| *verdict == Some(Verdict::Better(Whose::Ours))),
        count(|verdict| *verdict == Some(Verdict::Worse(Whose::Ours))),
        count(|verdict| *verdict == Some(Verdict::NoWorse)),
        count(|verdict| matches!(verdict, Some(Verdict::Behind(_)))),
        count(Option::is_none),
    );
}
