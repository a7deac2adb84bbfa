//! `cleanest fit`: from noisy labels to a classifier and the noise.

use crate::data_arguments::DataArguments;
use crate::progress::Shown;
use cleanest::experiment::{Config, assign, table_of};
use cleanest::audit::{AuditRecord, Estimate};
use cleanest::peers;
use cleanest::run::{Finished, RunFolder, names};
use cleanest::train::Stop;
use cleanest_data::Options;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Train a classifier on noisy labels, and estimate the noise.
#[derive(Debug, clap::Args)]
pub(crate) struct Fit {
    /// A file or a folder of examples, or `digits`; may stand in the configuration instead
    data: Option<PathBuf>,
    /// Examples with clean labels to test on
    #[arg(long, value_name = "PATH")]
    test: Option<PathBuf>,
    /// Noise to inject, such as pair:0.4; the true labels are kept to compare with
    #[arg(long, value_name = "NOISE")]
    noise: Option<String>,
    /// The method: see `cleanest methods`
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// The model: see `cleanest models`
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Training steps of each stage
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Examples of a batch
    #[arg(long, value_name = "N")]
    batch: Option<u64>,
    /// Parts to cut the data in, so that each is judged by a network that was not trained on it; 0 for none
    #[arg(long, value_name = "N")]
    folds: Option<u64>,
    /// Seed of everything that is drawn
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where to train: auto, cpu or cuda:N
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// In what precision a GPU computes: bf16, tf32 or f32
    #[arg(long, value_name = "PRECISION")]
    precision: Option<String>,
    /// How a GPU's plans are selected: reproducible or tuned
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// A TOML file with these settings and all others
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Any setting by its key, such as tvd.gamma=0.2; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The folder the run is written to [default: runs/DATA-METHOD-SEED]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Show nothing but errors and the result
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    read: DataArguments,
}

impl Fit {
    /// Trains, and says what was found.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (quiet, out) = (self.quiet, self.out.clone());
        let config = self.config()?;
        fit(&config, out, quiet)
    }

    /// The file, then what `--set` says, then the options.
    fn config(self) -> anyhow::Result<Config> {
        let mut table = self.config.as_deref().map(table_of).transpose()?.unwrap_or_default();
        for assignment in &self.set {
            assign(&mut table, assignment)?;
        }
        let text = |path: PathBuf| Value::String(path.to_string_lossy().into_owned());
        let number = |number: u64| Value::Integer(number as i64);
        let given = [
            ("data", self.data.map(text)),
            ("test", self.test.map(text)),
            ("noise", self.noise.map(Value::String)),
            ("method", self.method.map(Value::String)),
            ("model", self.model.map(Value::String)),
            ("steps", self.steps.map(number)),
            ("batch", self.batch.map(number)),
            ("folds", self.folds.map(number)),
            ("seed", self.seed.map(number)),
            ("device", self.device.map(Value::String)),
            ("precision", self.precision.map(Value::String)),
            ("mode", self.mode.map(Value::String)),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                table.insert(key.to_owned(), value);
            }
        }
        let read = asked(&self.read.into())?;
        if !read.is_empty() {
            let place = table.entry("read").or_insert_with(|| Value::Table(Table::new()));
            place.as_table_mut().into_iter().for_each(|place| place.extend(read.clone()));
        }
        let config = match &self.config {
            // With nothing but a file, a mistake is in the file.
            Some(file) if table == table_of(file)? => Config::read(file)?,
            _ => Config::from_table(&table)?,
        };
        anyhow::ensure!(!config.data.as_os_str().is_empty(), super::WrongUse("no data is given: name a file or a folder"));
        Ok(config)
    }
}

/// What the options of reading change of the defaults.
fn asked(options: &Options) -> anyhow::Result<Table> {
    let (given, default) = (Table::try_from(options)?, Table::try_from(Options::default())?);
    Ok(given.into_iter().filter(|(key, value)| default.get(key) != Some(value)).collect())
}

/// Trains a run in a new folder, and says what was found.
pub(super) fn fit(config: &Config, out: Option<PathBuf>, quiet: bool) -> anyhow::Result<()> {
    let peers = peers::join(config.device.parse().map_err(cleanest::Error::Engine)?)?;
    let path = out.unwrap_or_else(|| free_folder(config));
    let stop = Stop::on_signals()?;
    let first = peers.is_first();
    let run = RunFolder::create_with(&path, peers)?;
    let trained = run.fit(config, &stop, &mut Shown::to(first, quiet));
    if trained.is_err() && first {
        // A folder in which nothing was begun would only be in the way of the next try.
        let _ = std::fs::remove_dir(&path);
    }
    let trained = trained?;
    if first { say(&run, &trained) } else { Ok(()) }
}

/// A folder named after data, method and seed that holds nothing yet.
fn free_folder(config: &Config) -> PathBuf {
    let data = config.data.file_stem().map_or("run".into(), |name| name.to_string_lossy().into_owned());
    free(&format!("{data}-{}-{}", config.method, config.seed))
}

/// A folder of this name, or with a number after it, that does not exist yet.
pub(super) fn free(name: &str) -> PathBuf {
    let named = |count: u32| Path::new("runs").join(if count == 1 { name.to_owned() } else { format!("{name}-{count}") });
    (1..10_000).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1))
}

/// What was found, in a few lines.
pub(super) fn say(run: &RunFolder, found: &Finished) -> anyhow::Result<()> {
    let warnings = found.audit.iter().flat_map(|audit| audit.record.warnings());
    warnings.for_each(|warning| eprintln!("warning: {warning}"));
    let mut out = std::io::stdout().lock();
    let (score, percent) = (&found.outcome.score, |share: f64| format!("{:.1} %", 100.0 * share));
    if let Some(audit) = &found.audit {
        say_verdict(&mut out, &audit.record)?;
    }
    if let (Some(accuracy), Some(best), Some(step)) = (score.accuracy, score.best_accuracy, score.best_step) {
        let error = score.average_tv.map_or(String::new(), |error| format!("; average TV of the noise matrix {error:.3}"));
        writeln!(out, "accuracy on clean labels {} (best {} at step {step}){error}", percent(accuracy), percent(best))?;
    }
    let page = run.file(names::REPORT);
    let seen = if page.is_file() { page } else { run.path().to_owned() };
    Ok(writeln!(out, "look at {}", seen.display())?)
}

/// How many labels are wrong, and how far down the list they are.
pub(super) fn say_verdict(out: &mut impl std::io::Write, record: &AuditRecord) -> anyhow::Result<()> {
    let Estimate { expected, low, high } = record.wrong;
    let share = 100.0 * expected / record.examples.max(1) as f64;
    let truth = record.score.as_ref().map_or(String::new(), |score| format!(" (in truth {})", score.wrong));
    let doubt = match record.wrong.give_or_take() {
        Some(half) => format!("± {half:.0}"),
        None => format!("({low:.0} to {high:.0})"),
    };
    let of = record.examples;
    writeln!(out, "about {expected:.0} {doubt} of {of} labels are wrong, {share:.1} %{truth}")?;
    if let Some(list) = record.to_check.iter().find(|list| list.share >= 0.9).filter(|_| expected >= 0.5) {
        let share = 100.0 * list.share;
        writeln!(out, "to find {share:.0} % of them, check the first {} of suspects.csv", list.examples)?;
    }
    Ok(())
}
