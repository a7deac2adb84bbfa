//! Many runs, one after the other or several at a time.

use super::{About, RunFolder, names};
use crate::Error;
use crate::experiment::{Config, Opened, Planned, Prepared};
use crate::train::{Observer, Progress, Shared, Stop};
use cleanest_engine::Device;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a run of a sweep is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It came to its end.
    Complete,
    /// It was begun, and can be gone on with.
    Begun,
    /// There is nothing of it.
    Missing,
}

/// Someone who watches many runs, from several threads. Runs are named by their place in the list.
pub trait Watcher: Sync {
    /// This share of a run is done.
    fn progress(&self, run: usize, share: f64);
    /// A run came to its end.
    fn finished(&self, run: usize, about: &About);
    /// A run failed; the others go on.
    fn failed(&self, run: usize, error: &Error);
    /// A sentence the user should read.
    fn note(&self, run: usize, sentence: &str);
}

/// How a sweep ended.
#[derive(Debug, Default)]
pub struct Swept {
    /// Runs that are complete, those of earlier sweeps included.
    pub complete: usize,
    /// Runs that failed, by their place in the list, in its order.
    pub failed: Vec<(usize, Error)>,
}

impl RunState {
    /// What there is of a run in a folder.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        match RunFolder::open(folder) {
            Ok(run) if run.is_complete() => Self::Complete,
            Ok(_) => Self::Begun,
            Err(_) => Self::Missing,
        }
    }
}

/// Makes what is missing of some runs in a folder, `jobs` of them at a time; what is complete is left as it is.
///
/// A run that fails is told to the watcher and passed over. A signal ends all runs with a checkpoint each.
pub fn sweep(
    out: &Path,
    runs: &[Planned],
    jobs: usize,
    stop: &Stop,
    watcher: &dyn Watcher,
) -> Result<Swept, Error> {
    let states = runs.iter().map(|run| state(&out.join(&run.name), run)).collect::<Result<Vec<_>, _>>()?;
    let left: Vec<usize> = (0..runs.len()).filter(|&run| states[run] != RunState::Complete).collect();
    let (next, data, failed) = (AtomicUsize::new(0), Opened::default(), Mutex::new(Vec::new()));
    let complete = AtomicUsize::new(runs.len() - left.len());
    let configs: Vec<&Config> = left.iter().map(|&run| &runs[run].config).collect();
    let first_stages: Vec<Mutex<Option<Shared>>> =
        Shared::among(&configs).into_iter().map(Mutex::new).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&run) = left.get(at) else { return };
            // Taken out of the list, so that what nobody needs any more is freed.
            let first_stage = first_stages[at].lock().unwrap_or_else(PoisonError::into_inner).take();
            let folder = out.join(&runs[run].name);
            match one((&folder, first_stage), (run, &runs[run]), &data, stop, watcher) {
                Ok(about) => {
                    complete.fetch_add(1, Ordering::Relaxed);
                    watcher.finished(run, &about);
                }
                Err(error) if error.signal().is_some() => {}
                Err(error) => {
                    watcher.failed(run, &error);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push((run, error));
                }
            }
            if stop.signal().is_some() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, left.len().max(1)) {
            scope.spawn(work);
        }
    });
    let complete = complete.into_inner();
    if let (Some(signal), true) = (stop.signal(), complete < runs.len()) {
        return Err(Error::SweepInterrupted { complete, runs: runs.len(), signal });
    }
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort_by_key(|(run, _)| *run);
    Ok(Swept { complete, failed })
}

/// What there is of a run; a folder of the same name that was made with other settings is refused.
fn state(folder: &Path, run: &Planned) -> Result<RunState, Error> {
    let state = RunState::of(folder);
    if state != RunState::Missing {
        run.refuse_other(folder, &RunFolder::open(folder)?.config()?)?;
    }
    Ok(state)
}

/// Begins a run or goes on with it; why it fails is left in its folder.
fn one(
    (folder, first_stage): (&Path, Option<Shared>),
    (at, run): (usize, &Planned),
    data: &Opened,
    stop: &Stop,
    watcher: &dyn Watcher,
) -> Result<About, Error> {
    let observer = &mut Reporter { run: at, share: 0.0, watcher };
    let failure = folder.join(names::FAILURE);
    if failure.exists() {
        std::fs::remove_file(&failure).map_err(Error::write(&failure))?;
    }
    let made = if let Ok(begun) = RunFolder::open(folder) {
        // Where it was cut, unless another place is named.
        let device = Some(run.config.device.parse()?).filter(|&device| device != Device::Auto);
        let (place, test) = (run.config.data.clone(), run.config.test.clone());
        let config = Config { data: place, test, ..begun.config()? };
        data.prepared(&config).and_then(|data| begun.resume_on(data, device, stop, observer))
    } else {
        let shared = |data| Prepared { first_stage, ..data };
        let new = fresh(folder).and_then(|new| Ok((new, shared(data.prepared(&run.config)?))));
        new.and_then(|(new, data)| new.fit_on(data, &run.config, stop, observer))
    };
    match made {
        Ok(finished) => Ok(finished.about),
        Err(error) => {
            if error.signal().is_none() && folder.join(names::CONFIG).is_file() {
                // The failure itself is what has to be told, whether or not it can be written down.
                let _ = std::fs::write(&failure, format!("{error}\n"));
            }
            // A folder in which nothing was begun would only be in the way.
            let _ = std::fs::remove_dir(folder);
            Err(error)
        }
    }
}

/// An empty folder; what a run wrote that was cut before its settings were is removed.
fn fresh(folder: &Path) -> Result<RunFolder, Error> {
    for name in [names::INPUT, names::TRUTH, names::DATA, names::CONFIG] {
        for path in [folder.join(name), folder.join(format!("{name}.tmp"))] {
            if path.is_file() {
                std::fs::remove_file(&path).map_err(Error::write(&path))?;
            }
        }
    }
    RunFolder::create(folder)
}

/// Tells the watcher what a run tells its observer.
struct Reporter<'a> {
    run: usize,
    share: f64,
    watcher: &'a dyn Watcher,
}

impl Observer for Reporter<'_> {
    fn step(&mut self, progress: &Progress<'_>) {
        let share = progress.step as f64 / progress.steps.max(1) as f64;
        // Seldom enough to cost nothing, and never back when networks of folds begin again.
        if share >= self.share + 0.002 || (share >= 1.0 && self.share < 1.0) {
            self.share = share;
            self.watcher.progress(self.run, share);
        }
    }

    fn note(&mut self, sentence: &str) {
        self.watcher.note(self.run, sentence);
    }

    fn remark(&mut self, sentence: &str) {
        self.watcher.note(self.run, sentence);
    }
}
