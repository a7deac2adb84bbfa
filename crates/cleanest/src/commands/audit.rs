//! `cleanest audit`: which labels are wrong, by a run or by anybody's probabilities.

use super::WrongUse;
use super::fit::say_verdict;
use cleanest::audit::{
    Audit as Found, Cleaning, Fix, Judged, KnownNoise, Posterior, Provenance, Question, Rank, Sources, Suspects, Table, Truth,
    re_audit,
};
use cleanest::report;
use cleanest::run::{RunFolder, names};
use cleanest_core::audit::Prune;
use cleanest_core::noise::Transition;
use cleanest_data::probabilities::{GivenLabels, Probabilities};
use cleanest_data::{Labels, Options, labels};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Say which labels are wrong: of a finished run, or by the probabilities of any model.
#[derive(Debug, clap::Args)]
pub(crate) struct Audit {
    /// A finished run; or give --probabilities and --labels
    #[arg(required_unless_present = "probabilities", conflicts_with = "probabilities")]
    run: Option<PathBuf>,
    /// Probabilities of the classes, a row for each example: .npy, .parquet, .csv
    #[arg(long, value_name = "FILE", requires = "labels")]
    probabilities: Option<PathBuf>,
    /// The labels of the examples: .npy, .parquet, .csv, .txt; of a run, where its data are not at hand
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Column of the labels, if they are in a table
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Names of the classes in the order of the columns, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// What the probabilities are of: the labels as given (noisy), or the true classes (clean) [default: noisy]
    #[arg(long, value_enum, value_name = "WHAT")]
    posterior: Option<Of>,
    /// The noise, if it is known: .json, .csv or .npy
    #[arg(long, value_name = "FILE")]
    transition: Option<PathBuf>,
    /// Divide each row of probabilities by its sum
    #[arg(long)]
    renormalize: bool,
    /// Which examples are listed where probabilities are noisy: noise-rate, class or both
    #[arg(long, default_value = "noise-rate", value_name = "HOW")]
    prune: String,
    /// What they are ranked by: self-confidence or normalized-margin
    #[arg(long, default_value = "self-confidence", value_name = "SCORE")]
    rank: String,
    /// The true labels, to compare with
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// The probability with which intervals are meant to hold
    #[arg(long, default_value_t = 0.95, value_name = "P")]
    level: f64,
    /// Examples on the list at most
    #[arg(long, value_name = "N")]
    list: Option<usize>,
    /// Write the list for Label Studio, too
    #[arg(long)]
    label_studio: bool,
    /// Write cleaned.csv: drop or relabel what is sure enough
    #[arg(long, value_name = "FIX")]
    fix: Option<String>,
    /// How sure that has to be
    #[arg(long, default_value_t = 0.95, value_name = "P", requires = "fix")]
    above: f64,
    /// Fail if a larger share of the labels than this is wrong
    #[arg(long, value_name = "RATE")]
    fail_over: Option<f64>,
    /// The folder it is written to, where there is no run [default: runs/PROBABILITIES-audit]
    #[arg(long, value_name = "DIR", conflicts_with = "run")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Of {
    /// A model that was trained on the labels as they are, and judges examples it has not seen
    Noisy,
    /// A model of the true classes
    Clean,
}

impl From<Of> for Posterior {
    fn from(of: Of) -> Self {
        match of {
            Of::Noisy => Self::Noisy,
            Of::Clean => Self::Clean,
        }
    }
}

impl Audit {
    /// Looks at every label, writes what was found, and says it in a few lines.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let share = |key, value: f64| match value {
            value if (0.0..=1.0).contains(&value) => Ok(()),
            _ => Err(cleanest::Error::Range { key, expected: "in 0 to 1", found: value.to_string() }),
        };
        share("above", self.above)?;
        share("fail-over", self.fail_over.unwrap_or(0.0))?;
        share("level", self.level)?;
        // Everything that can be mistyped is found before anything is read.
        self.fix.as_deref().map(str::parse::<Fix>).transpose()?;
        match (&self.run, &self.probabilities, &self.labels) {
            (Some(run), ..) => self.of_run(&RunFolder::open(run)?),
            (_, Some(probabilities), Some(labels)) => self.of_files(probabilities, labels),
            _ => Err(WrongUse("name a run, or --probabilities and --labels").into()),
        }
    }

    /// A run audits the labels it was trained on, no others; where its data are not at hand, those of a file.
    fn of_run(&self, run: &RunFolder) -> anyhow::Result<()> {
        match &self.labels {
            None => self.of_labels(run, (&run.reopened(&run.config()?)?).into()),
            Some(path) => {
                let labels = self.read(path, run.input()?.classes)?;
                self.of_labels(run, Judged { labels: &labels, truth: None, sources: Sources::Rows })
            }
        }
    }

    /// What the networks of a run say of labels.
    fn of_labels(&self, run: &RunFolder, judged: Judged<'_>) -> anyhow::Result<()> {
        let classes = judged.labels.classes().names();
        let clean = self.truth.as_ref().map(|path| self.read(path, classes.to_vec())).transpose()?;
        let noise = judged.truth.and_then(|truth| truth.noise);
        let truth = clean.as_ref().map(|clean| Truth { labels: clean.indices(), noise });
        let judged = Judged { truth: truth.or(judged.truth), ..judged };
        let known = self.known()?;
        let found = re_audit(run, judged, |question| {
            question.posterior = self.posterior.map_or(question.posterior, Into::into);
            question.noise = known.or(question.noise.take());
            self.adjust(question)
        })?;
        let suspects = Suspects { findings: &found.findings, classes, sources: judged.sources };
        self.finish(run, &found, &suspects, || Ok(judged.labels.indices().to_vec()))
    }

    /// Labels of these classes from a file.
    fn read(&self, path: &Path, classes: Vec<String>) -> Result<Labels, cleanest_data::Error> {
        let options = Options { classes: Some(classes), label: self.label.clone(), ..Options::default() };
        labels::read(path, &options)
    }

    /// Probabilities and labels of any model.
    fn of_files(&self, probabilities: &Path, given: &Path) -> anyhow::Result<()> {
        let options =
            Options { classes: self.classes.clone(), label: self.label.clone(), ..Options::default() };
        let table = Probabilities::open(probabilities, &options)?;
        let classes = table.classes();
        let labels = GivenLabels::open(given, table.rows(), classes, &options)?;
        let mut question = Question {
            posterior: self.posterior.map_or(Posterior::Noisy, Into::into),
            provenance: Provenance::File { path: probabilities.to_string_lossy().into_owned() },
            classes: classes.names().to_vec(),
            noise: self.known()?,
            temperature: None,
            explained: None,
            model_error: None,
            prune: Prune::default(),
            rank: Rank::default(),
            level: self.level,
            list: usize::MAX,
        };
        self.adjust(&mut question)?;
        let seen = Table::Files { probabilities: &table, labels: &labels, renormalize: self.renormalize };
        let in_file = |problem: cleanest::Error| match problem {
            cleanest::Error::Core(problem) => problem.in_file(probabilities).into(),
            other => other,
        };
        let mut found = question.ask(&seen).map_err(in_file)?;
        let held = || {
            let mut held = Vec::new();
            labels.read(&(0..labels.rows()), &mut held).map(|()| held)
        };
        if let Some(path) = &self.truth {
            let truth = GivenLabels::open(path, table.rows(), classes, &options)?;
            let mut clean = Vec::new();
            truth.read(&(0..truth.rows()), &mut clean)?;
            let truth = Truth { labels: &clean, noise: None };
            found.record.score = Some(truth.score(&found, &seen, &held()?)?);
        }
        let run = RunFolder::create(&self.out.clone().unwrap_or_else(|| free_folder(probabilities)))?;
        let suspects = Suspects { findings: &found.findings, classes: classes.names(), sources: Sources::Rows };
        found.write(&run, &suspects)?;
        self.finish(&run, &found, &suspects, || Ok(held()?))
    }

    fn known(&self) -> anyhow::Result<Option<KnownNoise>> {
        let known = self.transition.as_deref().map(Transition::read).transpose()?;
        Ok(known.map(|transition| KnownNoise { transition, fitted: false }))
    }

    fn adjust(&self, question: &mut Question) -> Result<(), cleanest::Error> {
        question.prune = self.prune.parse()?;
        question.rank = self.rank.parse()?;
        question.level = self.level;
        question.list = self.list.unwrap_or(usize::MAX);
        Ok(())
    }

    /// Writes what was asked for beside the audit, and says what was found.
    fn finish(
        &self,
        run: &RunFolder,
        found: &Found,
        suspects: &Suspects<'_>,
        labels: impl FnOnce() -> anyhow::Result<Vec<u32>>,
    ) -> anyhow::Result<()> {
        found.record.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
        let mut out = std::io::stdout().lock();
        say_verdict(&mut out, &found.record)?;
        if self.label_studio {
            suspects.write_label_studio(&run.file(names::LABEL_STUDIO))?;
        }
        if let Some(fix) = &self.fix {
            let fix: Fix = fix.parse()?;
            let cleaning =
                Cleaning { fix, above: self.above, classes: suspects.classes, sources: suspects.sources };
            let changed = cleaning.write(&run.file(names::CLEANED), &labels()?, suspects.findings)?;
            let done = if fix == Fix::Drop { "dropped" } else { "relabeled" };
            writeln!(out, "{changed} labels {done} in {}", run.file(names::CLEANED).display())?;
        }
        let set = match suspects.sources {
            Sources::Set(set) => Some(set),
            Sources::Rows => None,
        };
        report::write(run, set)?;
        writeln!(out, "look at {}", run.file(names::REPORT).display())?;
        let rate = found.record.wrong.expected / found.record.examples.max(1) as f64;
        match self.fail_over {
            Some(limit) if rate > limit => Err(cleanest::Error::TooNoisy { rate, limit }.into()),
            _ => Ok(()),
        }
    }
}

/// A folder named after the probabilities that does not exist yet.
fn free_folder(probabilities: &Path) -> PathBuf {
    let stem = probabilities.file_stem().map_or("run".into(), |name| name.to_string_lossy().into_owned());
    super::fit::free(&format!("{stem}-audit"))
}
