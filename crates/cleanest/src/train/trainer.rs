//! The training loop.

use super::checkpoint::{Checkpoint, Position};
use super::first_stage::{FirstStage, Shared};
use super::kept::input;
use super::learner::Learner;
use super::memory::Memory;
use super::metrics::{Line, Metrics};
use super::observer::{Observer, Progress};
use super::outcome::{Outcome, refuse_not_finite, shortened};
use super::share::Share;
use super::stop::Stop;
use crate::Error;
use crate::experiment::{Config, Prepared};
use crate::run::RunFolder;
use cleanest_core::estimate::Posteriors;
use cleanest_core::methods::{Alone, Batch, Choice, Method, Task};
use cleanest_core::noise::Transition;
use cleanest_core::{Matrix, stats};
use cleanest_data::{Augment, BatchSettings, Batches, Course};
use cleanest_engine::peers::Group;
use cleanest_engine::{Mode, Schedule};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lines of `metrics.jsonl` between two evaluations.
const LINES_BETWEEN: u64 = 5;

/// Trains a run to its end, from its last checkpoint if it has one.
pub fn train(
    run: &RunFolder,
    config: &Config,
    data: &Prepared,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let mut trainer = Trainer::new(run, config, data, observer)?;
    while trainer.position.stage < trainer.method.stages() {
        let trained = trainer.stage(stop, observer);
        run.peers().press(false);
        trained?;
    }
    trainer.outcome()
}

struct Trainer<'a> {
    run: &'a RunFolder,
    data: &'a Prepared,
    choice: Choice,
    steps: u64,
    batches: BatchSettings,
    schedule: Schedule,
    evaluations: u64,
    every: (u64, Duration),
    seed: u64,
    method: Box<dyn Method>,
    learner: Learner<'a>,
    metrics: Metrics,
    memory: Memory,
    position: Position,
    saved: Instant,
    /// What this worker has of each batch, and what it knows of the rest.
    portion: Share,
    /// How the pass between two stages varies images.
    anchors: Augment,
    first_stage_taken: bool,
}

impl<'a> Trainer<'a> {
    fn new(
        run: &'a RunFolder,
        config: &Config,
        data: &'a Prepared,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let classes = data.train.labels().classes().len();
        let steps = config.steps.unwrap_or(1);
        let choice = config.choice()?;
        let mut method = choice.build(&Task { classes, steps, seed: config.seed })?;
        let found = Checkpoint::of_first(run, |sentence| observer.note(sentence))?;
        let two = method.stages() > 1 && found.is_none();
        let taken = data.first_stage.as_ref().filter(|_| two).and_then(Shared::get);
        let mut position = found.as_ref().map(|found| found.position.clone()).unwrap_or_default();
        let mut metrics = Metrics::of(run, position.metrics)?;
        method.begin(0, None)?;
        if let Some(made) = &taken {
            metrics.append(&made.metrics)?;
            method.begin(1, Some(&Posteriors::new(&made.seen, data.train.labels().indices())?))?;
            position.stage = 1;
        }
        let seed = stage_seed(config.seed, position.stage);
        let learner = Learner::new(run, config, data, (seed, found.as_ref()), observer)?;
        let mut memory = Memory::new(data.train.len(), classes);
        if let Some(found) = found {
            method.restore(&found.method)?;
            memory.restore(found.memory);
        }
        Ok(Self {
            run,
            data,
            choice,
            steps,
            batches: batches(config, &learner, run.peers().as_ref()),
            schedule: config.schedule()?,
            evaluations: config.evaluations,
            every: (
                config.checkpoint_steps,
                Duration::from_secs_f64(60.0 * config.checkpoint_minutes.max(0.0)),
            ),
            seed: config.seed,
            method,
            learner,
            metrics,
            memory,
            position,
            saved: Instant::now(),
            portion: Share::new(Arc::clone(run.peers())),
            anchors: config.augment.filter(|_| config.augment_anchors).unwrap_or_default(),
            first_stage_taken: taken.is_some(),
        })
    }

    /// Steps made over all stages.
    fn total(&self) -> u64 {
        self.position.stage as u64 * self.steps + self.position.step
    }

    /// Trains what is left of a stage, and opens the next.
    fn stage(&mut self, stop: &Stop, observer: &mut dyn Observer) -> Result<(), Error> {
        let course = Course::Training { seed: self.seed, first_step: self.total() };
        let settings = BatchSettings { course, ..self.batches.clone() };
        let batches = match self.learner.kept.0 {
            Some(_) => Batches::by_rows(&self.data.train, settings)?,
            None => Batches::new(&self.data.train, settings)?,
        };
        let (mut logits, mut gradient, mut crops) = (Matrix::default(), Matrix::default(), Vec::new());
        let left = self.steps - self.position.step;
        for examples in batches.take(left as usize) {
            let rate = self.schedule.rate(self.position.step);
            let input = input(self.learner.kept.0, &examples, self.batches.augment, &mut crops);
            self.learner.network.part(Share::of(&examples));
            let found = self.learner.network.forward(&input, Mode::Train)?;
            self.portion.whole(found, &examples, stop.signal(), &mut logits);
            let batch =
                Batch { logits: &logits, labels: &examples.labels, seed: self.seed, step: self.total() };
            let loss = self.method.loss(&batch, &mut gradient);
            if !loss.is_finite() {
                let rows = shortened(&examples.rows);
                return Err(Error::NotFinite { loss, step: self.total(), rate, rows });
            }
            self.learner.network.backward(self.portion.own(&gradient, &examples))?;
            self.learner.network.step(rate)?;
            self.method.update(&batch, &Alone);
            self.remember(&examples.rows, &batch);
            self.position.step += 1;
            self.after_step(loss, rate, observer)?;
        }
        self.next_stage()
    }

    /// Keeps what the network says of the examples it is trained on.
    fn remember(&mut self, rows: &[u32], batch: &Batch<'_>) {
        let last_half =
            self.position.stage + 1 == self.method.stages() && 2 * self.position.step >= self.steps;
        // Only whoever writes is asked for it in the end.
        if last_half && self.run.peers().is_first() {
            self.memory.add(rows, batch.logits);
        }
        let agreed = stats::accuracy(batch.logits, batch.labels) * batch.labels.len() as f64;
        self.position.agreed.0 += agreed.round() as u64;
        self.position.agreed.1 += batch.labels.len() as u64;
    }

    /// Evaluates, writes and saves what is due.
    fn after_step(&mut self, loss: f64, rate: f64, observer: &mut dyn Observer) -> Result<(), Error> {
        let step = self.position.step;
        let due = |times: u64| step * times / self.steps != (step - 1) * times / self.steps;
        let mut transition = None;
        if due(self.evaluations * LINES_BETWEEN) {
            let accuracy = if due(self.evaluations) { self.evaluate()? } else { None };
            transition = self.method.transition();
            let error =
                |found: &Transition| self.data.truth.as_ref().and_then(|truth| found.average_tv(truth).ok());
            let (agreed, seen) = std::mem::take(&mut self.position.agreed);
            self.metrics.write(&Line {
                stage: self.position.stage,
                step,
                loss,
                rate,
                agreement: agreed as f64 / seen.max(1) as f64,
                accuracy,
                noise_rate: transition.as_ref().map(Transition::noise_rate),
                average_tv: transition.as_ref().and_then(error),
            })?;
        }
        let steps = self.steps * self.method.stages() as u64;
        let accuracy = self.position.accuracy;
        observer.step(&Progress {
            step: self.total(),
            steps,
            loss,
            accuracy,
            transition: transition.as_ref(),
        });
        let asked = self.portion.asked();
        let unsaved =
            step < self.steps && (step.is_multiple_of(self.every.0) || self.saved.elapsed() >= self.every.1);
        if asked.is_some() || unsaved {
            self.save()?;
        }
        asked.map_or(Ok(()), |signal| Err(Error::Interrupted { step: self.total(), signal }))
    }

    /// The accuracy on the test set, if there is one; the best is remembered.
    fn evaluate(&mut self) -> Result<Option<f64>, Error> {
        let (Some(said), Some(test)) = (self.learner.tested()?, &self.data.test) else { return Ok(None) };
        let accuracy = stats::accuracy(&said, test.labels().indices());
        self.position.accuracy = Some(accuracy);
        if self.position.best.is_none_or(|(best, _)| accuracy > best) {
            self.position.best = Some((accuracy, self.position.step));
        }
        Ok(Some(accuracy))
    }

    /// Writes a checkpoint. All workers hold the same, so that one of them is enough.
    fn save(&mut self) -> Result<(), Error> {
        if !self.run.peers().is_first() {
            return Ok(());
        }
        // A slow disk is no reason to give this worker up.
        let pressed = self.portion.is_pressing();
        self.run.peers().press(false);
        self.position.metrics = self.metrics.synced_length()?;
        let checkpoint = Checkpoint::of(
            self.position.clone(),
            self.method.state(),
            self.learner.network.as_ref(),
            &self.memory,
        )?;
        refuse_not_finite(&checkpoint.network, self.total())?;
        checkpoint.write(self.run, self.total())?;
        self.saved = Instant::now();
        self.run.peers().press(pressed);
        Ok(())
    }

    /// Begins the next stage with a fresh network and what the last one says of the training set.
    fn next_stage(&mut self) -> Result<(), Error> {
        if self.position.stage + 1 < self.method.stages() {
            let seen = self.learner.seen(self.anchors, self.seed)?;
            let labels = self.data.train.labels().indices();
            let stage = self.position.stage + 1;
            self.method.begin(stage, Some(&Posteriors::new(&seen, labels)?))?;
            self.learner.renew(stage_seed(self.seed, stage))?;
            self.position = Position { stage, step: 0, ..Position::default() };
            self.share(seen)?;
            return self.save();
        }
        self.position.stage += 1;
        Ok(())
    }

    /// Leaves the first stage, just ended, to the runs that begin with it too.
    fn share(&self, seen: Matrix) -> Result<(), Error> {
        if let (Some(place), true) = (&self.data.first_stage, self.position.stage == 1) {
            place.put(FirstStage { seen, metrics: self.metrics.lines()? });
        }
        Ok(())
    }

    /// What the trained network and the method say in the end.
    fn outcome(mut self) -> Result<Outcome, Error> {
        let model = self.learner.network.parameters()?;
        refuse_not_finite(&model, self.total())?;
        let probabilities = self.learner.seen(Augment::default(), self.seed)?;
        if self.method.stages() == 1 && self.data.first_stage.is_some() {
            // What another run takes its anchors from is seen as that run would have seen it.
            let same = self.anchors == Augment::default();
            let seen =
                if same { probabilities.clone() } else { self.learner.seen(self.anchors, self.seed)? };
            self.share(seen)?;
        }
        let learnt = self.method.transition().filter(|_| !self.choice.counts_at_the_end());
        let outcome =
            Outcome::new(self.data, (model, probabilities), learnt, (&self.memory, &self.position))?;
        Ok(Outcome { first_stage_taken: self.first_stage_taken, ..outcome })
    }
}

/// What the batches of a worker are made of.
fn batches(config: &Config, learner: &Learner<'_>, peers: &dyn Group) -> BatchSettings {
    BatchSettings {
        size: config.batch.unwrap_or(1),
        course: Course::Training { seed: config.seed, first_step: 0 },
        augment: config.augment.unwrap_or_default(),
        standardization: learner.standardization.clone(),
        worker: (peers.rank(), peers.size()),
    }
}

/// The seed of the network of a stage.
fn stage_seed(seed: u64, stage: usize) -> u64 {
    seed.wrapping_add((stage as u64) << 32)
}
