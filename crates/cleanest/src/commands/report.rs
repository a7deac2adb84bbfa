//! `cleanest report`: the page of a run, made anew.

use cleanest::experiment::Prepared;
use cleanest::report;
use cleanest::run::{RunFolder, names};
use std::io::Write as _;
use std::path::PathBuf;

/// Make the page of a run or an audit anew, from its folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The run folder
    run: PathBuf,
}

impl Report {
    /// Writes `report.html` and prints where it is.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let run = RunFolder::open_audited(&self.run)?;
        // A record that cannot be read is told before the data are looked for.
        run.audit()?;
        let data = data(&run)?;
        let page = report::write(&run, data.as_ref().map(|data| &data.train))?;
        writeln!(std::io::stdout().lock(), "{}", page.display())?;
        Ok(())
    }
}

/// The examples, where they are still what they were; a page can do without.
fn data(run: &RunFolder) -> anyhow::Result<Option<Prepared>> {
    if !run.file(names::CONFIG).is_file() {
        return Ok(None);
    }
    let config = run.config()?;
    match run.reopened(&config) {
        Ok(data) => Ok(Some(data)),
        Err(problem) => {
            eprintln!("warning: the page names the examples but does not show them: {problem}");
            Ok(None)
        }
    }
}
