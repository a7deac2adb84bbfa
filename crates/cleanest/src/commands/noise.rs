//! `cleanest noise`: a transition matrix to look at, to keep, or to corrupt labels with.

use anyhow::{Context as _, ensure};
use clap::ValueEnum;
use cleanest_core::Error;
use cleanest_core::noise::{Noise as Kind, Transition, corrupt};
use cleanest_data::labels::{self, Classes, Labels};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Show a noise matrix, or corrupt labels with it.
#[derive(Debug, clap::Args)]
#[command(after_help = forms())]
pub(crate) struct Noise {
    /// The noise, such as `pair:0.4`: see below
    #[arg(value_name = "NOISE")]
    kind: String,
    /// Number of classes; with --apply, those of the labels unless more are wanted
    #[arg(long, required_unless_present = "apply", value_name = "K")]
    classes: Option<usize>,
    /// Seed of the draws
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// How the matrix is printed
    #[arg(long, value_enum, default_value = "text", conflicts_with = "out")]
    format: Format,
    /// Labels to corrupt: .npy, .csv, .tsv, .txt, .jsonl, .parquet or IDX
    #[arg(long, value_name = "LABELS", requires = "out")]
    apply: Option<PathBuf>,
    /// Column of the labels, if they are in a table
    #[arg(long, value_name = "COLUMN", requires = "apply")]
    label: Option<String>,
    /// Where the noisy labels go (.npy, .csv); without --apply, the matrix (.json, .csv, .npy)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For reading: in percent
    Text,
    /// With every digit
    Json,
    /// With every digit, for a spreadsheet
    Csv,
}

impl Noise {
    /// Prints or writes the matrix, or corrupts the labels.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let kind: Kind = self.kind.parse()?;
        if let (Some(from), Some(to)) = (&self.apply, &self.out) {
            return self.corrupt(&kind, from, to);
        }
        let transition = kind.transition(self.classes.unwrap_or(0), self.seed)?;
        self.out.as_ref().map_or_else(|| self.print(&transition), |to| Ok(transition.write(to)?))
    }

    fn print(&self, transition: &Transition) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        match self.format {
            Format::Json => write!(out, "{}", transition.to_json())?,
            Format::Csv => write!(out, "{}", transition.to_csv())?,
            Format::Text => {
                writeln!(out, "{}: {:.1} % of the labels wrong", self.kind, 100.0 * transition.noise_rate())?;
                writeln!(out, "condition number {:.1}", transition.condition_number())?;
                if !transition.is_diagonally_dominant() {
                    writeln!(out, "not every class is most often labeled as itself: no method can be sure of it")?;
                }
                writeln!(out, "\n{transition}")?;
            }
        }
        Ok(())
    }

    fn corrupt(&self, kind: &Kind, from: &Path, to: &Path) -> anyhow::Result<()> {
        let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        ensure!(!same(from, to), WrongUse("--out would write over the clean labels of --apply; name another file"));
        let clean = self.read(from)?;
        let transition = kind.transition(clean.classes().len(), self.seed)?;
        let drawn = corrupt(clean.indices(), &transition, self.seed)?;
        let (wrong, rate, all) = (drawn.wrong(), drawn.realized_rate(), clean.len());
        Labels::new(drawn.noisy, clean.classes().clone()).write(to)?;
        eprintln!("{wrong} of {all} labels in `{}` are now wrong, {:.1} %", to.display(), 100.0 * rate);
        Ok(())
    }

    /// The labels, of as many classes as were asked for.
    fn read(&self, path: &Path) -> anyhow::Result<Labels> {
        let options = cleanest_data::Options { label: self.label.clone(), ..cleanest_data::Options::default() };
        let labels = labels::read(path, &options)?;
        let Some(expected) = self.classes.filter(|&classes| classes != labels.classes().len()) else {
            return Ok(labels);
        };
        let numbered = Classes::numbered(expected);
        let known = |name: &String| numbered.names().contains(name);
        if labels.classes().names().iter().all(known) {
            let options = cleanest_data::Options { classes: Some(numbered.names().to_vec()), ..options };
            return Ok(labels::read(path, &options)?);
        }
        let found = labels.classes().len();
        Err(Error::Classes { what: "the labels", expected, found }).with_context(|| format!("`{}`", path.display()))
    }
}

/// A mistake on the command line that the parser cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongUse(pub(crate) &'static str);

/// The list of noise types, for the help.
fn forms() -> String {
    let line = |form: &str, about: &str| format!("  {form:<28} {about}\n");
    let kinds: String = Kind::KINDS.iter().map(|kind| line(kind.form, kind.about)).collect();
    format!("Noise:\n{kinds}{}", line("file:PATH", "a matrix from a .json, .csv or .npy file").trim_end())
}
