//! `cleanest inspect`: what is at a path, and what looks wrong with it.

use crate::data_arguments::DataArguments;
use cleanest_data::{Error, Labeling, Options, Parts, Summary};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Show what is at a path: format, examples, classes, duplicates, and what looks wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Inspect {
    /// A file or a folder, or `digits` for the set that comes with the program
    path: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Write JSON, for programs
    #[arg(long)]
    json: bool,
}

/// What is said about a path.
#[derive(Serialize)]
struct Report {
    path: PathBuf,
    train: Summary,
    test: Option<Summary>,
}

impl Inspect {
    /// Reads the set and prints its summary.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let parts = open(&self.path, self.data.into())?;
        let report = Report {
            path: self.path,
            train: Summary::of(&parts.train),
            test: parts.test.as_ref().map(Summary::of),
        };
        let mut out = std::io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
            return Ok(());
        }
        print(&report, &mut out)
    }
}

/// Opens the set; one that comes without labels is looked at all the same.
fn open(path: &Path, options: Options) -> Result<Parts, Error> {
    match Parts::open(path, &options) {
        Err(Error::Unlabeled { .. }) => Parts::open(path, &Options { labeling: Labeling::Absent, ..options }),
        outcome => outcome,
    }
}

fn print(report: &Report, out: &mut impl Write) -> anyhow::Result<()> {
    let (train, test) = (&report.train, report.test.as_ref());
    let shape: Vec<String> = train.shape.iter().map(ToString::to_string).collect();
    writeln!(out, "format      {}", train.format)?;
    match test {
        Some(test) => writeln!(out, "examples    {} to train on, {} to test on", train.examples, test.examples)?,
        None => writeln!(out, "examples    {}", train.examples)?,
    }
    let kind = if train.shape.len() == 3 { "image, height x width x channels" } else { "numbers" };
    writeln!(out, "each        {} ({kind})", shape.join(" x "))?;
    match train.classes.len() {
        0 => writeln!(out, "classes     none: the set comes without labels")?,
        count => writeln!(out, "classes     {count}")?,
    }
    let width = train.classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0);
    for (at, class) in train.classes.iter().enumerate() {
        let name = escaped(&class.name);
        write!(out, "{at:>10}  {name:<width$}  {:>8}", class.examples)?;
        match test.and_then(|test| test.classes.get(at)) {
            Some(other) => writeln!(out, "  {:>8}", other.examples)?,
            None => writeln!(out)?,
        }
    }
    summary(train, if test.is_some() { "train " } else { "" }, out)?;
    test.map_or(Ok(()), |test| summary(test, "test ", out))
}

/// What is found in one part.
fn summary(part: &Summary, name: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let found = &part.duplicates;
    writeln!(out, "{name}sha256 {}", part.fingerprint)?;
    writeln!(
        out,
        "{name}duplicates: {} copies; {} groups of equal examples with different labels, {} examples",
        found.copies, found.conflicting_groups, found.conflicting_examples
    )?;
    for conflict in &found.conflicts {
        let pairs = conflict.examples.iter().zip(&conflict.labels);
        let pairs: Vec<String> = pairs.map(|(at, label)| format!("{} is {}", escaped(at), escaped(label))).collect();
        writeln!(out, "  the same: {}", pairs.join(", "))?;
    }
    for warning in &part.warnings {
        writeln!(out, "{name}warning: {}", escaped(warning))?;
    }
    for file in &part.quarantine {
        writeln!(out, "{name}left out: {}", escaped(file))?;
    }
    Ok(())
}

/// Text from files without what a terminal would obey.
fn escaped(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}
