//! `cleanest get`: a published set, fetched and checked.

use cleanest_data::download::{self, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

/// Download a published set: mnist, fashion-mnist, cifar-10 or cifar-100.
///
/// Files are checked against their published sha256. A download that was cut goes on where it stopped. The folder that
/// `cleanest fit` takes is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct Get {
    /// The set
    set: String,
    /// Folder that the folder of the set is put into
    #[arg(long, value_name = "DIR", default_value = "data")]
    into: PathBuf,
    /// Address to ask before the known ones; the names of the files are appended to it
    #[arg(long, value_name = "URL")]
    mirror: Vec<String>,
}

impl Get {
    /// Fetches the set and prints where it is.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let set = download::set(&self.set)?;
        let folder = download::get(set, &self.into, &self.mirror, &Bar::default())?;
        writeln!(std::io::stdout().lock(), "{}", folder.display())?;
        Ok(())
    }
}

/// A bar on the terminal; where there is none, only what is worth a line.
#[derive(Default)]
struct Bar(Mutex<Option<ProgressBar>>);

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        if let Ok(mut bar) = self.0.lock() {
            act(&mut bar);
        }
    }
}

impl Progress for Bar {
    fn begin(&self, name: &str, bytes: u64, here: u64) {
        let style = "{msg}  {bar:30}  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";
        let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.with(|bar| {
            let next = ProgressBar::new(bytes).with_style(style).with_message(name.to_owned());
            next.set_position(here);
            // What is here already says nothing about how fast the rest comes.
            next.reset_eta();
            *bar = Some(next);
        });
    }

    fn reached(&self, here: u64) {
        self.with(|bar| bar.iter().for_each(|bar| bar.set_position(here)));
    }

    fn note(&self, text: &str) {
        self.with(|bar| {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
        });
        eprintln!("{text}");
    }
}
