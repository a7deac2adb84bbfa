//! A planned network at work on a GPU.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, MutexGuard},
};

use super::{
    Precision, Settings,
    blueprint::Blueprint,
    command::{Exchange, Launch, arguments},
    feed::{Feed, Portion},
    gpu::Gpu,
    kernel::{Kernel, blocks},
    layout::{Place, padded},
    memory::{self, Pinned},
    operations::Pass,
    plans::{Plans, workspace},
    program::Program,
    queue::Queue,
    together::Together,
    update,
};
use crate::network::examples_of;
use crate::peers::{Group, Part};
use crate::{Architecture, Error, Input, Kept, Matrix, Mode, Network, Optimizer, Parameters, Set};

/// Memory that is left to the libraries themselves.
const RESERVE: usize = 256 << 20;

/// A network on a GPU. Programs come first: what they hold of cuDNN goes before its handle does.
struct CudaNetwork {
    forward: HashMap<Pass, Program>,
    /// In pieces, each with the gradients of filters that are final after it.
    backward: HashMap<usize, Vec<(Program, Range<usize>)>>,
    plans: Plans,
    feed: Feed,
    logits: Matrix,
    received: Pinned<f32>,
    gradient: Pinned<f32>,
    queue: Queue,
    blueprint: Blueprint,
    optimizer: Optimizer,
    batch: usize,
    /// Steps the optimizer has made.
    steps: u64,
    /// Examples of the last training batch, until `backward` has used it.
    trained: Option<usize>,
    /// Examples of the last batch that went backward.
    went_back: usize,
    /// Those it trains with.
    together: Option<Together>,
    /// The part of its batch that the next training pass is.
    part: Option<Part>,
    /// That part as the GPU knows it.
    told: [u32; 3],
    /// Taken as the network is dropped and, being the last field, held until all others are gone.
    leaving: Option<MutexGuard<'static, ()>>,
}

// SAFETY: everything that is not `Send` by itself (addresses of the GPU, handles, plans shared within) belongs to this
// network alone, and each method makes the GPU's context current on the thread it is called from.
unsafe impl Send for CudaNetwork {}

/// Plans an architecture for a GPU.
pub(super) fn boxed(architecture: &Architecture, settings: &Settings) -> Result<Box<dyn Network>, Error> {
    let gpu = Gpu::open(settings.ordinal)?;
    let alone = gpu.prepare();
    let blueprint = Blueprint::new(architecture, settings)?;
    let (free, total) = gpu.memory()?;
    let beside = 2 * workspace(total) + RESERVE;
    if blueprint.bytes + beside > free {
        let (batch, needed) = (settings.batch, blueprint.bytes + beside);
        let fits = largest(architecture, settings, free.saturating_sub(beside));
        return Err(Error::Memory { batch, needed, free, fits });
    }
    let queue = Queue::new(&gpu, settings.precision, blueprint.bytes)?;
    let numbers = settings.batch * blueprint.output.size();
    let network = CudaNetwork {
        forward: HashMap::new(),
        backward: HashMap::new(),
        plans: Plans::new(&queue, settings.selection)?,
        feed: Feed::new(&queue, settings.batch)?,
        logits: Matrix::zeros(settings.batch, blueprint.output.size()),
        received: Pinned::new(&gpu.context, numbers)?,
        gradient: Pinned::new(&gpu.context, numbers)?,
        queue,
        optimizer: settings.optimizer,
        batch: settings.batch,
        steps: 0,
        trained: None,
        went_back: 0,
        together: None,
        part: None,
        told: [0; 3],
        leaving: None,
        blueprint,
    };
    // From here on the network may be dropped, which waits for the same lock.
    drop(alone);
    let (weights, statistics) = network.blueprint.store.initial(settings.seed);
    network.put_weights(&weights, &statistics)?;
    Ok(Box::new(network))
}

/// The largest batch whose plan has at most so many bytes.
fn largest(architecture: &Architecture, settings: &Settings, bytes: usize) -> Option<usize> {
    let fits = |batch: usize| {
        let settings = Settings { batch, ..settings.clone() };
        Blueprint::new(architecture, &settings).is_ok_and(|blueprint| blueprint.bytes <= bytes)
    };
    // The plan grows with the batch, so the border is found by halving.
    let (mut low, mut high) = (0, settings.batch);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low > 0).then_some(low)
}

/// Sums over the workers there are.
fn agree(together: Option<&Together>, queue: &Queue, exchange: Exchange) -> Result<(), Error> {
    together.map_or(Ok(()), |together| together.exchange(queue, exchange))
}

impl Drop for CudaNetwork {
    fn drop(&mut self) {
        self.queue.settle();
        self.leaving = Some(self.queue.gpu.prepare());
    }
}

impl CudaNetwork {
    /// Starts the pass over what was brought in.
    fn start(&mut self, mode: Mode, portion: Portion) -> Result<(), Error> {
        let pass = Pass { batch: portion.batch, mode };
        if !self.forward.contains_key(&pass) {
            let program = Program::new(self.blueprint.forward(pass), &self.queue, &mut self.plans)?;
            self.plans.save();
            self.forward.insert(pass, program);
        }
        if let Some(program) = self.forward.get_mut(&pass) {
            program.run(&self.queue, |exchange| agree(self.together.as_ref(), &self.queue, exchange))?;
        }
        let count = portion.count * self.logits.columns();
        let from = self.blueprint.logits.address(self.queue.base());
        self.received.receive(count, from, self.queue.stream.cu_stream())
    }

    /// Tells the GPU what so many examples are of the batch of all workers, where that has changed.
    fn put_part(&mut self, examples: usize) -> Result<(), Error> {
        let Part { first, own, whole } =
            self.part.unwrap_or(Part { first: 0, own: examples, whole: examples });
        // Only norms of the whole batch ask for more than the first.
        let asked = if self.blueprint.whole_norms { [first, own, whole] } else { [first, 0, 0] };
        let part = asked.map(|count| count as u32);
        if part != self.told {
            let place = self.blueprint.part.address(self.queue.base());
            // SAFETY: there is room for three numbers, and only the queue's own stream reads them.
            unsafe { memory::put(&self.queue.stream, place, &part) }?;
            self.told = part;
        }
        Ok(())
    }

    /// Waits for a pass, and keeps its logits.
    fn finish(&mut self, portion: Portion) -> Result<(), Error> {
        self.queue.wait()?;
        let columns = self.logits.columns();
        let to = &mut self.logits.values_mut()[portion.first * columns..][..portion.count * columns];
        to.copy_from_slice(&self.received.values()[..to.len()]);
        Ok(())
    }

    /// Numbers of the network's memory.
    fn fetch<T: Copy + Default>(&self, place: Place, count: usize) -> Result<Vec<T>, Error> {
        self.queue.enter()?;
        // SAFETY: the place holds so many numbers.
        unsafe { memory::fetch(&self.queue.stream, place.address(self.queue.base()), count) }
    }

    /// Numbers that are stored in the network's precision.
    fn fetch_numbers(&self, place: Place, count: usize) -> Result<Vec<f32>, Error> {
        if self.queue.precision != Precision::Bf16 {
            return self.fetch(place, count);
        }
        let halves = self.fetch::<u16>(place, count)?;
        Ok(halves.iter().map(|&half| f32::from_bits(u32::from(half) << 16)).collect())
    }

    /// Numbers into the network's memory.
    fn put(&self, place: Place, numbers: &[f32]) -> Result<(), Error> {
        self.queue.enter()?;
        // SAFETY: the place has room for these numbers, and only the queue's own stream writes it between passes.
        unsafe { memory::put(&self.queue.stream, place.address(self.queue.base()), numbers) }
    }

    /// Master weights and statistics, and the copy for convolutions.
    fn put_weights(&self, weights: &[f32], statistics: &[f32]) -> Result<(), Error> {
        let lists = &self.blueprint.lists;
        self.put(lists.weights, weights)?;
        if !statistics.is_empty() {
            self.put(lists.statistics, statistics)?;
        }
        if lists.filters != lists.weights {
            let eights = self.blueprint.store.filters.length / 8;
            let arguments = arguments![lists.weights, lists.filters, eights].to_vec();
            self.queue.launch(&Launch { kernel: Kernel::Narrow, grid: blocks(eights), arguments })?;
        }
        Ok(())
    }
}

impl Network for CudaNetwork {
    fn forward(&mut self, input: &Input<'_>, mode: Mode) -> Result<&Matrix, Error> {
        self.queue.enter()?;
        let examples = self.feed.examples(input, self.blueprint.shape)?;
        if mode == Mode::Train && examples > self.batch {
            let expected = format!("at most {} examples was planned for training", self.batch);
            return Err(Error::Input { expected, found: examples.to_string() });
        }
        self.trained = (mode == Mode::Train).then_some(examples);
        if mode == Mode::Train {
            self.put_part(examples)?;
        }
        self.logits.resize(examples, self.logits.columns());
        let portion = |index: usize| {
            let first = index * self.batch;
            let count = self.batch.min(examples.saturating_sub(first));
            // Evaluation fills a batch up: no example sees another, and one plan serves all.
            let batch = if mode == Mode::Train { examples } else { self.batch };
            (count > 0).then_some(Portion { first, count, batch, slot: index % 2, step: self.steps })
        };
        let portions: Vec<Portion> = (0..).map_while(portion).collect();
        for (index, portion) in portions.iter().enumerate() {
            if index == 0 {
                self.feed.bring(&self.queue, &self.blueprint, input, *portion)?;
            }
            self.start(mode, *portion)?;
            if let Some(next) = portions.get(index + 1) {
                // While the GPU computes, the next examples are on their way.
                self.feed.bring(&self.queue, &self.blueprint, input, *next)?;
            }
            self.finish(*portion)?;
        }
        Ok(&self.logits)
    }

    fn backward(&mut self, gradient: &Matrix) -> Result<(), Error> {
        let batch = examples_of(self.trained, &self.logits, gradient)?;
        (self.trained, self.went_back) = (None, batch);
        self.queue.enter()?;
        let count = gradient.values().len();
        // The last copy from here was done before the logits of this batch came back.
        self.gradient.values_mut()[..count].copy_from_slice(gradient.values());
        let to = self.blueprint.gradient.address(self.queue.base());
        self.gradient.send(count, to, self.queue.stream.cu_stream())?;
        if !self.backward.contains_key(&batch) {
            let pieces = self.together.as_ref().map_or(1, Together::pieces);
            let mut programs = Vec::new();
            for (commands, filters) in self.blueprint.backward_pieces(batch, pieces) {
                programs.push((Program::new(commands, &self.queue, &mut self.plans)?, filters));
            }
            self.plans.save();
            self.backward.insert(batch, programs);
        }
        for (program, filters) in self.backward.get_mut(&batch).into_iter().flatten() {
            program.run(&self.queue, |exchange| agree(self.together.as_ref(), &self.queue, exchange))?;
            if let Some(together) = &self.together {
                together.filters(&self.queue, &self.blueprint, filters.clone())?;
            }
        }
        let part = self.part.unwrap_or(Part { first: 0, own: batch, whole: batch });
        self.together.as_ref().map_or(Ok(()), |together| together.finish(&self.queue, &self.blueprint, part))
    }

    fn step(&mut self, rate: f64) -> Result<(), Error> {
        self.queue.enter()?;
        self.steps += 1;
        update::step(&self.queue, &self.blueprint, self.optimizer, (rate, self.steps))
    }

    fn join(&mut self, group: Arc<dyn Group>, whole_norms: bool) -> Result<Option<String>, Error> {
        let (together, remark) = Together::new(group, self.queue.gpu.context.ordinal(), whole_norms)?;
        self.together = Some(together);
        self.blueprint.whole_norms = whole_norms;
        self.forward.clear();
        self.backward.clear();
        Ok(remark)
    }

    fn part(&mut self, part: Part) {
        self.part = Some(part);
    }

    fn parameters(&self) -> Result<Parameters, Error> {
        let (store, lists) = (&self.blueprint.store, &self.blueprint.lists);
        let weights = self.fetch::<f32>(lists.weights, store.weights())?;
        Ok(store.parameters(&weights, &self.fetch::<f32>(lists.statistics, store.statistics)?))
    }

    fn load(&mut self, parameters: &Parameters) -> Result<(), Error> {
        let (weights, statistics) = self.blueprint.store.lists(parameters)?;
        self.put_weights(&weights, &statistics)
    }

    fn optimizer_state(&self) -> Result<Parameters, Error> {
        let (store, lists) = (&self.blueprint.store, &self.blueprint.lists);
        let mut state = Parameters::new();
        for (name, &memory) in self.optimizer.memories().iter().zip(&lists.memories) {
            let numbers = self.fetch::<f32>(memory, store.weights())?;
            store.trained_of(&numbers, &format!(".{name}"), &mut state);
        }
        state.put_steps(self.steps);
        Ok(state)
    }

    fn load_optimizer_state(&mut self, state: &Parameters) -> Result<(), Error> {
        let names = self.optimizer.memories().iter();
        let lists = names.map(|name| self.blueprint.store.trained_list(state, &format!(".{name}")));
        let lists = lists.collect::<Result<Vec<_>, Error>>()?;
        self.steps = state.steps()?;
        for (&memory, numbers) in self.blueprint.lists.memories.iter().zip(&lists) {
            self.put(memory, numbers)?;
        }
        Ok(())
    }

    fn gradients(&self) -> Result<Parameters, Error> {
        let (store, lists) = (&self.blueprint.store, &self.blueprint.lists);
        let mut slopes = self.fetch_numbers(lists.filter_slopes, store.filters.length)?;
        slopes.extend(self.fetch::<f32>(lists.vector_slopes, store.vectors.length)?);
        let mut gradients = Parameters::new();
        store.trained_of(&slopes, "", &mut gradients);
        Ok(gradients)
    }

    fn input_gradient(&self) -> Result<Matrix, Error> {
        let slot = self.blueprint.input_gradient.ok_or(Error::NoInputGradient)?;
        let (shape, batch) = (self.blueprint.shape, self.went_back);
        let wide = padded(shape.channels);
        let slopes = self.fetch_numbers(slot, batch * shape.height * shape.width * wide)?;
        let pixels = slopes.chunks_exact(wide).flat_map(|pixel| &pixel[..shape.channels]);
        Matrix::from_values(batch, shape.size(), pixels.copied().collect())
    }

    fn keep(&mut self, set: &Set<'_>) -> Result<Option<Kept>, Error> {
        self.queue.enter()?;
        self.feed.keep(&self.queue, set, self.blueprint.shape)
    }
}
