//! `cleaned.csv`: the labels with the surest mistakes taken out, or put right.

use super::finding::Finding;
use super::suspects::{Sources, harmless};
use crate::Error;
use crate::run::files::write_gradually;
use std::path::Path;

/// What becomes of a label that is probably wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Its example is left out.
    Drop,
    /// It becomes the suggestion.
    Relabel,
}

impl std::str::FromStr for Fix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "drop" => Ok(Self::Drop),
            "relabel" => Ok(Self::Relabel),
            _ => Err(cleanest_core::Error::unknown("fix", text, ["drop", "relabel"].into_iter()).into()),
        }
    }
}

/// Labels to be cleaned.
#[derive(Clone, Copy, Debug)]
pub struct Cleaning<'a> {
    /// What is done.
    pub fix: Fix,
    /// How sure one must be: of the mistake to drop an example, of the suggestion to relabel it.
    pub above: f64,
    /// The names of the classes.
    pub classes: &'a [String],
    /// Where the examples came from.
    pub sources: Sources<'a>,
}

impl Cleaning<'_> {
    /// Writes every example that stays, with its label; says how many were dropped or relabeled.
    pub fn write(&self, path: &Path, labels: &[u32], findings: &[Finding]) -> Result<usize, Error> {
        let mut sure: Vec<&Finding> = findings.iter().filter(|finding| self.acts_on(finding)).collect();
        sure.sort_unstable_by_key(|finding| finding.row);
        let changed = sure.len();
        write_gradually(path, |file| {
            let mut writer = csv::Writer::from_writer(file);
            writer.write_record(["index", "source", "label", "given"])?;
            let mut sure = sure.into_iter().peekable();
            for (row, &given) in labels.iter().enumerate() {
                let finding = sure.next_if(|finding| finding.row == row as u64);
                let label = match (finding, self.fix) {
                    (Some(_), Fix::Drop) => continue,
                    (Some(finding), Fix::Relabel) => finding.suggested,
                    (None, _) => given,
                };
                let name = |class: u32| harmless(&self.classes[class as usize]);
                let source = harmless(&self.sources.of(row));
                writer.write_record([row.to_string(), source, name(label), name(given)])?;
            }
            writer.flush()
        })?;
        Ok(changed)
    }

    fn acts_on(&self, finding: &Finding) -> bool {
        match self.fix {
            Fix::Drop => f64::from(finding.wrong) >= self.above,
            Fix::Relabel => {
                finding.suggested != finding.given && f64::from(finding.probability) >= self.above
            }
        }
    }
}
