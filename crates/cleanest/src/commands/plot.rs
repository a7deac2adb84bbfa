//! `cleanest plot`: figures as files, of a run, of many, or of a list.

use cleanest::report::figures::{figures, transitions};
use cleanest::report::plot;
use cleanest::run::{RunFolder, names, write_atomically};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Draw the figures of a run as SVG and PNG, the matrices of many runs side by side, or what a file lists.
#[derive(Debug, clap::Args)]
pub(crate) struct Plot {
    /// A run folder; a folder that holds some; or a TOML file that lists figures
    run: PathBuf,
    /// The folder the figures are written to; a list of figures may name its own
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Of many runs, those with this seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
}

impl Plot {
    /// Writes the figures and prints where each is.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        for file in self.draw()? {
            writeln!(out, "{}", file.display())?;
        }
        Ok(())
    }

    fn draw(&self) -> anyhow::Result<Vec<PathBuf>> {
        if self.run.extension().is_some_and(|ending| ending == "toml") {
            let drawn = figures(&self.run, self.out.as_deref())?;
            for (name, why) in drawn.left_out {
                eprintln!("left out: {name}: {why}");
            }
            return Ok(drawn.files);
        }
        let Some(out) = &self.out else {
            return Err(super::WrongUse("no folder for the figures is given: name one with --out <DIR>").into());
        };
        let is_run = [names::CONFIG, names::AUDIT].iter().any(|name| self.run.join(name).is_file());
        if self.run.is_dir() && !is_run && holds_folders(&self.run) {
            return self.matrices(out);
        }
        // An audit of probabilities has a matrix to draw, and so has a run that was not audited.
        let run = RunFolder::open_audited(&self.run).or_else(|_| RunFolder::open(&self.run))?;
        Ok(plot(&run, out)?)
    }

    /// True and estimated matrices of many runs.
    fn matrices(&self, out: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let title = self.run.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let sheet = transitions(&title, &self.run, self.seed, None)?;
        let file = out.join("transitions.svg");
        std::fs::create_dir_all(out)?;
        write_atomically(&file, sheet.draw().to_svg().as_bytes())?;
        Ok(vec![file])
    }
}

fn holds_folders(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir())))
}
