//! From a folder and a configuration to a finished run.

use super::files::npy_of;
use super::{About, RunFolder, names};
use crate::Error;
use crate::audit::{Audit, audit_run};
use crate::experiment::{Config, InputSpec, Keep, Prepared};
use crate::report;
use crate::train::{Architect, Observer, Outcome, Placing, Stop, cross_fit, place, train};
use cleanest_core::methods::Task;
use cleanest_data::Dataset;
use cleanest_engine::Device;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A run that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// What it was trained on.
    pub data: Prepared,
    /// What was learnt.
    pub outcome: Outcome,
    /// Which labels are wrong, where that was asked for.
    pub audit: Option<Audit>,
    /// Its record.
    pub about: About,
}

impl RunFolder {
    /// Opens the data a configuration asks for, writes what is resolved, trains, and writes what was found.
    pub fn fit(&self, config: &Config, stop: &Stop, observer: &mut dyn Observer) -> Result<Finished, Error> {
        let placing = Placing::new(self.own_device(config.device.parse()?));
        self.begin(Prepared::open(config), (config, placing), stop, observer)
    }

    /// The same for data that are open already.
    pub fn fit_on(
        &self,
        data: Prepared,
        config: &Config,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Finished, Error> {
        let placing = Placing::new(self.own_device(config.device.parse()?));
        self.begin(Ok(data), (config, placing), stop, observer)
    }

    fn begin(
        &self,
        data: Result<Prepared, Error>,
        (config, placing): (&Config, Placing),
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Finished, Error> {
        let ready = data.and_then(|data| self.ready(data, (config, placing), observer));
        let (data, config, why) = self.agreed(ready, |(data, config, _)| (data, config))?;
        self.write_json(names::INPUT, &InputSpec::of(&config, &data.train))?;
        if let Some(truth) = &data.truth {
            self.write(names::TRUTH, truth.to_json().as_bytes())?;
        }
        self.write_json(names::DATA, &data.train.fingerprint().to_string())?;
        self.write(names::CONFIG, config.to_toml()?.as_bytes())?;
        why.into_iter().for_each(|sentence| observer.remark(&sentence));
        self.finish(&config, data, stop, observer)
    }

    /// Everything that can be found out before anything is written: mistakes in the method or the model, too.
    fn ready(
        &self,
        data: Prepared,
        (config, placing): (&Config, Placing),
        observer: &mut dyn Observer,
    ) -> Result<(Prepared, Config, Option<String>), Error> {
        for warning in data.train.warnings() {
            observer.note(&format!("warning: {warning}"));
        }
        for warning in data.test.iter().flat_map(Dataset::warnings) {
            // A test set cut from the training set has what that one has.
            if !data.train.warnings().contains(warning) {
                observer.note(&format!("warning: in the test set, {warning}"));
            }
        }
        let mut config = config.resolved(&data.train)?;
        let (device, why) = placing.wait()?;
        config.device = device.to_string();
        let classes = data.train.labels().classes().len();
        config.choice()?.build(&Task { classes, steps: config.steps.unwrap_or(1), seed: config.seed })?;
        let architect = Architect::new(&config, data.train.shape(), classes)?;
        if self.peers().is_first() {
            architect.check_weights()?;
        }
        Ok((data, config, why))
    }

    /// Goes on where a run was cut; on another device, if one is named, and then with other rounding.
    pub fn resume(
        &self,
        device: Option<Device>,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Finished, Error> {
        if self.is_complete_for_all() {
            return Err(Error::Complete(self.path().to_owned()));
        }
        let config = self.config_of_first()?;
        self.go_on((self.data(&config), config), device, stop, observer)
    }

    /// The same for data that are open already; others than those it was begun on are refused.
    pub fn resume_on(
        &self,
        data: Prepared,
        device: Option<Device>,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Finished, Error> {
        self.go_on((Ok(data), self.config_of_first()?), device, stop, observer)
    }

    fn go_on(
        &self,
        (data, mut config): (Result<Prepared, Error>, Config),
        device: Option<Device>,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Finished, Error> {
        // Where it was, on this machine: another worker may have begun it.
        let there = if self.peers().size() > 1 { Some(config.device.parse()?) } else { None };
        if let Some(device) = device.or(there) {
            let (device, why) = place(self.own_device(device));
            config.device = device.to_string();
            why.into_iter().for_each(|sentence| observer.remark(&sentence));
        }
        let expected = self.fingerprint_of_first()?;
        let data = data.and_then(|data| self.checked(data, &expected));
        let (data, config) = self.agreed(data.map(|data| (data, config)), |(data, config)| (data, config))?;
        self.finish(&config, data, stop, observer)
    }

    /// Removes what only a run that goes on needs.
    pub fn tidy(&self) -> Result<(), Error> {
        for name in [names::CHECKPOINTS, names::FOLDS] {
            let folder = self.file(name);
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(Error::write(&folder))?;
            }
        }
        Ok(())
    }

    fn finish(
        &self,
        config: &Config,
        data: Prepared,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Finished, Error> {
        let begun = Instant::now();
        self.company().iter().for_each(|sentence| observer.remark(sentence));
        let mut outcome = train(self, config, &data, stop, observer)?;
        let audit =
            if config.audit { self.audited(config, (&data, &outcome), stop, observer)? } else { None };
        if let Some(audit) = &audit {
            settle(&mut outcome, audit, config, &data)?;
        }
        let classes = data.train.labels().classes().len();
        let architect = Architect::new(config, data.train.shape(), classes)?;
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("CLEANEST_COMMIT").map(str::to_owned),
            seed: config.seed,
            device: self.workers(architect.description()?),
            data: data.train.fingerprint().to_string(),
            test: data.test.as_ref().map(|test| test.fingerprint().to_string()),
            examples: data.train.len(),
            parameters: architect.parameter_count(),
            score: outcome.score.clone(),
            seconds: begun.elapsed().as_secs_f64(),
            first_stage_taken: outcome.first_stage_taken,
            finished: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        };
        if !self.peers().is_first() {
            return Ok(Finished { data, outcome, audit, about });
        }
        self.write(names::TRANSITION, outcome.transition.to_json().as_bytes())?;
        match config.keep {
            Keep::All => self.write_all(&outcome)?,
            Keep::Small => self.remove_large()?,
        }
        if audit.is_some() && config.keep == Keep::All {
            report::write_before(self, &about, &data.train)?;
        }
        // The last file: with it the run is complete, and its checkpoints are of no more use.
        self.write_json(names::ABOUT, &about)?;
        self.tidy()?;
        Ok(Finished { data, outcome, audit, about })
    }

    /// Judges the labels, by networks that were not trained on them where folds are asked for.
    fn audited(
        &self,
        config: &Config,
        (data, outcome): (&Prepared, &Outcome),
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Option<Audit>, Error> {
        let folds = config.folds.unwrap_or(0);
        let cross =
            if folds > 0 { Some(cross_fit(self, (config, folds), data, stop, observer)?) } else { None };
        if !self.peers().is_first() {
            return Ok(None);
        }
        audit_run(self, (&config.method, folds), data, (outcome, cross.as_ref())).map(Some)
    }

    /// What is only kept where there is room.
    fn write_all(&self, outcome: &Outcome) -> Result<(), Error> {
        self.write(names::MODEL, &outcome.model.to_safetensors()?)?;
        self.write(names::TRANSITION_CSV, outcome.transition.to_csv().as_bytes())?;
        self.write(names::PROBABILITIES, &npy_of(&outcome.probabilities))
    }

    /// Removes what the audit wrote for each example.
    fn remove_large(&self) -> Result<(), Error> {
        for name in [names::POSTERIORS, names::SUSPECTS, names::SUSPECTS_PARQUET] {
            let path = self.file(name);
            if path.exists() {
                std::fs::remove_file(&path).map_err(Error::write(&path))?;
            }
        }
        Ok(())
    }
}

/// What the audit knows better: how many labels are wrong, and, where the method's last word on the noise is a count over
/// all examples anyway, the noise that was fitted to examples the networks had not seen.
fn settle(outcome: &mut Outcome, audit: &Audit, config: &Config, data: &Prepared) -> Result<(), Error> {
    let record = &audit.record;
    outcome.score.noise_rate = Some(record.wrong.expected / record.examples.max(1) as f64);
    if record.temperature.is_some() && config.choice()?.counts_at_the_end() {
        outcome.transition = audit.noise.clone();
        outcome.score.average_tv =
            data.truth.as_ref().map(|truth| audit.noise.average_tv(truth)).transpose()?;
    }
    Ok(())
}
