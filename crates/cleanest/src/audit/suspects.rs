//! The list of suspects, as files: for a spreadsheet, for programs, for Label Studio.

use super::finding::Finding;
use super::record::Suspect;
use crate::Error;
use crate::run::files::write_gradually;
use cleanest_data::{Dataset, Source};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

/// Where examples came from, for a person to find them.
#[derive(Clone, Copy, Debug)]
pub enum Sources<'a> {
    /// Rows of a file, from 0.
    Rows,
    /// The examples of a set.
    Set(&'a Dataset),
}

impl Sources<'_> {
    /// Where an example came from.
    #[must_use]
    pub fn of(&self, row: usize) -> String {
        match self {
            Self::Rows => row.to_string(),
            Self::Set(set) => match set.source(row) {
                Source::Row(row) => row.to_string(),
                Source::File(name) => name.to_owned(),
            },
        }
    }
}

/// A list of suspects with what is needed to name them.
#[derive(Clone, Copy, Debug)]
pub struct Suspects<'a> {
    /// The suspects, most suspicious first.
    pub findings: &'a [Finding],
    /// The names of the classes.
    pub classes: &'a [String],
    /// Where the examples came from.
    pub sources: Sources<'a>,
}

impl Suspects<'_> {
    /// The first so many, in full.
    #[must_use]
    pub fn top(&self, count: usize) -> Vec<Suspect> {
        let full = |finding: &Finding| finding.suspect(self.sources.of(finding.row as usize));
        self.findings.iter().take(count).map(full).collect()
    }

    fn name(&self, class: u32) -> &str {
        &self.classes[class as usize]
    }

    /// Writes `suspects.csv`: nothing in it is taken for a formula by a spreadsheet.
    pub fn write_csv(&self, path: &Path) -> Result<(), Error> {
        write_gradually(path, |file| {
            let mut writer = csv::Writer::from_writer(file);
            writer.write_record([
                "rank",
                "index",
                "source",
                "given",
                "suggested",
                "p_wrong",
                "p_suggested",
                "margin",
                "abstains",
                "self_confidence",
                "normalized_margin",
            ])?;
            // One text for all fields of a row: there may be millions.
            let names: Vec<String> = self.classes.iter().map(|name| harmless(name)).collect();
            let mut text = String::new();
            for (at, finding) in self.findings.iter().enumerate() {
                let mut field = |value: &dyn std::fmt::Display| {
                    text.clear();
                    // Writing to a text does not fail.
                    let _ = write!(text, "{value}");
                    writer.write_field(&text)
                };
                field(&(at + 1))?;
                field(&finding.row)?;
                field(&harmless(&self.sources.of(finding.row as usize)))?;
                field(&names[finding.given as usize])?;
                field(&names[finding.suggested as usize])?;
                [finding.wrong, finding.probability, finding.margin]
                    .iter()
                    .try_for_each(|p| field(&Four(*p)))?;
                field(&if finding.abstains() { "yes" } else { "no" })?;
                field(&Four(finding.self_confidence))?;
                field(&Four(finding.normalized_margin))?;
                writer.write_record(None::<&[u8]>)?;
            }
            writer.flush()
        })
    }

    /// Writes tasks for Label Studio, each with the suggestion as a prediction: import the file into a project whose
    /// choices are called `label`.
    pub fn write_label_studio(&self, path: &Path) -> Result<(), Error> {
        let is_file = matches!(self.sources, Sources::Set(set) if matches!(set.source(0), Source::File(_)));
        write_gradually(path, |file| {
            file.write_all(b"[")?;
            for (at, finding) in self.findings.iter().enumerate() {
                file.write_all(if at == 0 { b"\n" } else { b",\n" })?;
                let source = self.sources.of(finding.row as usize);
                let (key, to_name) = if is_file { ("image", "image") } else { ("text", "text") };
                let shown = if is_file { source.clone() } else { format!("row {source}") };
                let task = json!({
                    "data": {
                        key: shown, "source": source, "index": finding.row,
                        "given": self.name(finding.given), "p_wrong": finding.wrong, "abstains": finding.abstains(),
                    },
                    "predictions": [{
                        "model_version": concat!("cleanest ", env!("CARGO_PKG_VERSION")),
                        "score": finding.probability,
                        "result": [{
                            "from_name": "label", "to_name": to_name, "type": "choices",
                            "value": { "choices": [self.name(finding.suggested)] },
                        }],
                    }],
                });
                serde_json::to_writer(&mut *file, &task)?;
            }
            file.write_all(b"\n]\n")
        })
    }
}

/// A number between -1 and 1 with four digits, by whole numbers: floats are written with care that is not needed here.
struct Four(f32);

impl std::fmt::Display for Four {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = (f64::from(self.0) * 1e4).round() as i32;
        let sign = if whole < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:04}", whole.abs() / 10_000, whole.abs() % 10_000)
    }
}

/// A text that no spreadsheet takes for a formula.
pub(super) fn harmless(text: &str) -> String {
    let risky = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if risky { format!("'{text}") } else { text.to_owned() }
}

/// An error of a library, as one of writing.
pub(super) fn failed(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::other(problem)
}

#[cfg(test)]
mod tests {
    use super::{Four, harmless};

    #[test]
    fn four_digits_are_rounded_like_any_number() {
        for number in [0.0_f32, 1.0, 0.12345, 0.99996, -0.5, -0.00004, -1.0, 0.3] {
            let text = Four(number).to_string();
            assert!((text.parse::<f32>().unwrap() - number).abs() <= 5.1e-5, "{text} for {number}");
            assert_eq!(text.trim_start_matches('-').len(), 6, "{text}");
        }
    }

    #[test]
    fn formulas_are_made_text_and_numbers_are_left_alone() {
        assert_eq!(harmless("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
        assert_eq!(harmless("@home"), "'@home");
        assert_eq!(harmless("-1"), "-1");
        assert_eq!(harmless("cat"), "cat");
    }
}
