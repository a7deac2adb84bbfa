//! A planned network at work.

use super::{
    Settings,
    operation::Pass,
    plan::{Plan, plan},
    simd::Simd,
    together::Together,
    update::Update,
};
use crate::network::examples_of;
use crate::peers::{Group, Part};
use crate::{Architecture, Error, Input, Matrix, Mode, Network, Parameters, architecture::Shape};
use std::sync::Arc;

struct CpuNetwork<S> {
    simd: S,
    plan: Plan,
    update: Update,
    batch: usize,
    input: Shape,
    logits: Matrix,
    /// Examples of the last training batch, until `backward` has used it.
    trained: Option<usize>,
    /// Examples of the last batch that went backward.
    backward: usize,
    /// Those it trains with.
    together: Option<Together>,
    /// The part of its batch that the next training pass is.
    part: Option<Part>,
}

/// Plans an architecture for these instructions.
pub(super) fn boxed<S: Simd>(
    simd: S,
    architecture: &Architecture,
    settings: &Settings,
) -> Result<Box<dyn Network>, Error> {
    let plan = plan(simd, architecture, settings)?;
    let update = Update::new(settings.optimizer, plan.store.trained);
    let logits = Matrix::zeros(settings.batch, architecture.output_shape().size());
    let (batch, input) = (settings.batch, architecture.input_shape());
    let (trained, backward, together, part) = Default::default();
    Ok(Box::new(CpuNetwork { simd, plan, update, batch, input, logits, trained, backward, together, part }))
}

/// Runs work on a thread of the pool, so that what it spreads does not have to find its way there each time.
fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() { work() } else { rayon::scope(|_| work()) }
}

impl<S: Simd> CpuNetwork<S> {
    /// A pass over so many examples, all of them a worker's part.
    fn pass(&self, batch: usize, mode: Mode) -> Pass {
        let part = self.part.filter(|_| mode == Mode::Train);
        let (first, borrowed) = part.map_or((0, false), |part| (part.first, part.own == 0));
        Pass { batch, mode, step: self.update.steps, first, borrowed }
    }

    /// Runs examples `first..first + batch` through the network and keeps their logits.
    fn run(&mut self, input: &Input<'_>, first: usize, pass: Pass) {
        let (size, memory) = (self.input.size(), &mut self.plan.memory);
        let lanes = memory.lanes();
        input.read(first * size, self.input.channels, &mut memory.values[0][..pass.batch * size], lanes);
        for (operation, alive) in &mut self.plan.operations {
            // What the logits do not depend on has running statistics, and those stand still in evaluation.
            if *alive || pass.mode == Mode::Train {
                operation.forward(memory, pass);
            }
        }
        let columns = self.logits.columns();
        let to = &mut self.logits.values_mut()[first * columns..][..pass.batch * columns];
        to.copy_from_slice(&memory.values[self.plan.output][..to.len()]);
    }
}

impl<S: Simd> Network for CpuNetwork<S> {
    fn forward(&mut self, input: &Input<'_>, mode: Mode) -> Result<&Matrix, Error> {
        let examples = input.examples(self.input)?;
        if mode == Mode::Train && examples > self.batch {
            let expected = format!("at most {} examples was planned for training", self.batch);
            return Err(Error::Input { expected, found: examples.to_string() });
        }
        self.trained = (mode == Mode::Train).then_some(examples);
        self.logits.resize(examples, self.logits.columns());
        let pass = self.pass(examples, mode);
        in_pool(|| {
            for first in (0..examples).step_by(self.batch) {
                let batch = self.batch.min(examples - first);
                self.run(input, first, Pass { batch, ..pass });
            }
        });
        Ok(&self.logits)
    }

    fn backward(&mut self, gradient: &Matrix) -> Result<(), Error> {
        let batch = examples_of(self.trained, &self.logits, gradient)?;
        (self.trained, self.backward) = (None, batch);
        let pass = self.pass(batch, Mode::Train);
        let (Plan { operations, memory, logits, buckets, .. }, together) =
            (&mut self.plan, &mut self.together);
        memory.gradients[*logits][..gradient.values().len()].copy_from_slice(gradient.values());
        if let (Some(together), Some(part)) = (together.as_mut(), self.part) {
            together.begin_statistics(memory, part);
        }
        in_pool(|| {
            for (index, (operation, alive)) in operations.iter_mut().enumerate().rev() {
                if *alive {
                    operation.backward(memory, pass);
                }
                if let Some(together) = together {
                    together.begin(index, buckets, memory);
                }
            }
        });
        Ok(())
    }

    fn step(&mut self, rate: f64) -> Result<(), Error> {
        if let Some(together) = &mut self.together {
            together.finish(&self.plan.buckets, &mut self.plan.memory);
        }
        in_pool(|| self.update.step(self.simd, &mut self.plan.memory, rate));
        Ok(())
    }

    fn join(&mut self, group: Arc<dyn Group>, whole_norms: bool) -> Result<Option<String>, Error> {
        self.plan.memory.whole = whole_norms.then(|| Arc::clone(&group));
        let running = if whole_norms { Vec::new() } else { self.plan.store.running() };
        self.together = Some(Together::new(group, running, self.plan.buckets.len()));
        Ok(None)
    }

    fn part(&mut self, part: Part) {
        self.part = Some(part);
    }

    fn parameters(&self) -> Result<Parameters, Error> {
        Ok(self.plan.store.parameters(&self.plan.memory))
    }

    fn load(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.plan.store.load(&mut self.plan.memory, parameters)
    }

    fn optimizer_state(&self) -> Result<Parameters, Error> {
        let mut state = Parameters::new();
        for (name, memory) in self.update.optimizer.memories().iter().zip(&self.update.memories) {
            self.plan.store.trained_of(memory, &format!(".{name}"), &mut state);
        }
        state.put_steps(self.update.steps);
        Ok(state)
    }

    fn load_optimizer_state(&mut self, state: &Parameters) -> Result<(), Error> {
        let names = self.update.optimizer.memories();
        for name in names {
            self.plan.store.check_trained(state, &format!(".{name}"))?;
        }
        self.update.steps = state.steps()?;
        for (name, memory) in names.iter().zip(&mut self.update.memories) {
            self.plan.store.load_trained(memory, state, &format!(".{name}"));
        }
        Ok(())
    }

    fn gradients(&self) -> Result<Parameters, Error> {
        let mut gradients = Parameters::new();
        self.plan.store.trained_of(&self.plan.memory.slopes, "", &mut gradients);
        Ok(gradients)
    }

    fn input_gradient(&self) -> Result<Matrix, Error> {
        let slot = self.plan.input_gradient.ok_or(Error::NoInputGradient)?;
        let length = self.backward * self.input.size();
        Matrix::from_values(
            self.backward,
            self.input.size(),
            self.plan.memory.gradients[slot][..length].to_vec(),
        )
    }
}
