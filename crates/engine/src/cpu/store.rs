//! Where each parameter lies, and how it is laid out there and in PyTorch.

use std::ops::Range;

use super::{buffer::Buffer, operation::Memory};
use crate::{
    Error, Parameters, Tensor,
    architecture::{Architecture, ParameterSpec, Role},
    plan::fuse::Fusion,
};

/// One parameter and its place.
#[derive(Clone, Debug)]
struct Entry {
    spec: ParameterSpec,
    range: Range<usize>,
    /// Whether it moves with a gradient.
    trained: bool,
    /// Height, width, inputs and outputs of a filter, which lies `[height][width][in][out]`.
    filter: Option<[usize; 4]>,
}

/// Gradients that are exchanged at a time: enough to pay for a message, and few enough to begin early.
const BUCKET: usize = 1 << 18;

/// Gradients that are final once the backward pass of an operation is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) range: Range<usize>,
    pub(super) after: usize,
}

/// All parameters of a network and their places.
#[derive(Clone, Debug)]
pub(super) struct Store {
    architecture: String,
    entries: Vec<Entry>,
    /// How many numbers are trained; they lie first.
    pub(super) trained: usize,
    pub(super) weights: usize,
    pub(super) statistics: usize,
}

impl Store {
    /// Gives every parameter a place: those a gradient reaches come first, weight and bias of a layer side by side.
    pub(super) fn new(architecture: &Architecture, fusion: &Fusion<'_>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for spec in architecture.parameters() {
            let layer = spec.name.rsplit_once('.').map_or("", |(layer, _)| layer);
            let fused = fusion.operations.iter().find(|fused| fused.node.name == layer);
            let filter =
                (spec.role == Role::Weight).then(|| filter_of(&spec, fused.map(|f| fusion.shapes[f.input])));
            let trained = spec.role.is_trained() && fused.is_some_and(|fused| fused.alive);
            entries.push(Entry { spec, range: 0..0, trained, filter: filter.flatten() });
        }
        let mut place = |keep: &dyn Fn(&Entry) -> bool, mut next: usize| {
            for entry in entries.iter_mut().filter(|entry| keep(entry)) {
                let size = entry.spec.shape.iter().product::<usize>();
                entry.range = next..next + size;
                next += size;
            }
            next
        };
        let trained = place(&|entry| entry.trained, 0);
        let weights = place(&|entry| entry.spec.role.is_trained() && !entry.trained, trained);
        let statistics = place(&|entry| !entry.spec.role.is_trained(), 0);
        Self { architecture: architecture.name().into(), entries, trained, weights, statistics }
    }

    /// The place of a parameter that the architecture has.
    pub(super) fn range(&self, layer: &str, what: &str) -> Option<Range<usize>> {
        let mine = |entry: &&Entry| {
            entry.spec.name.strip_prefix(layer).and_then(|rest| rest.strip_prefix('.')) == Some(what)
        };
        self.entries.iter().find(mine).map(|entry| entry.range.clone())
    }

    /// The gradients in pieces, in the order they become final: the last layers come first.
    pub(super) fn buckets(&self, fusion: &Fusion<'_>) -> Vec<Bucket> {
        let layer =
            |entry: &Entry| entry.spec.name.rsplit_once('.').map_or("", |(layer, _)| layer).to_owned();
        let operation = |name: &str| fusion.operations.iter().position(|fused| fused.node.name == name);
        let mut buckets: Vec<Bucket> = Vec::new();
        for entry in self.entries.iter().rev().filter(|entry| entry.trained) {
            let after = operation(&layer(entry)).unwrap_or(0);
            match buckets.last_mut().filter(|bucket| bucket.range.len() < BUCKET) {
                Some(bucket) => {
                    bucket.range.start = entry.range.start;
                    bucket.after = bucket.after.min(after);
                }
                None => buckets.push(Bucket { range: entry.range.clone(), after }),
            }
        }
        buckets
    }

    /// Where running means and variances lie among the statistics; how often they moved is the same for all workers.
    pub(super) fn running(&self) -> Vec<Range<usize>> {
        let running =
            |entry: &&Entry| !entry.spec.role.is_trained() && entry.spec.role != Role::BatchesTracked;
        self.entries.iter().filter(running).map(|entry| entry.range.clone()).collect()
    }

    /// Starts every parameter where PyTorch starts it.
    pub(super) fn initialize(&self, memory: &mut Memory, seed: u64) {
        for entry in &self.entries {
            let values = entry.spec.initial(seed);
            entry.write(&values, entry.home(memory));
        }
    }

    /// Every parameter by name.
    pub(super) fn parameters(&self, memory: &Memory) -> Parameters {
        let mut parameters = Parameters::new();
        for entry in &self.entries {
            let home = if entry.spec.role.is_trained() { &memory.weights } else { &memory.statistics };
            parameters.insert(&entry.spec.name, entry.tensor(home));
        }
        parameters
    }

    /// The trained parameters of another buffer: gradients, or what an optimizer remembers.
    pub(super) fn trained_of(&self, buffer: &Buffer, suffix: &str, into: &mut Parameters) {
        for entry in self.entries.iter().filter(|entry| entry.trained) {
            into.insert(format!("{}{suffix}", entry.spec.name), entry.tensor(buffer));
        }
    }

    /// Takes parameters over, all of them or none.
    pub(super) fn load(&self, memory: &mut Memory, parameters: &Parameters) -> Result<(), Error> {
        let known = |name: &str| self.entries.iter().any(|entry| entry.spec.name == name);
        if let Some((name, _)) = parameters.iter().find(|(name, _)| !known(name)) {
            let (name, architecture) = (name.into(), self.architecture.clone());
            return Err(Error::ParameterUnknown { name, architecture });
        }
        for entry in &self.entries {
            entry.check(parameters, "")?;
        }
        for entry in &self.entries {
            match parameters.tensor(&entry.spec.name) {
                Some(tensor) => entry.write(&tensor.values, entry.home(memory)),
                None => entry.home(memory)[entry.range.clone()].fill(0.0),
            }
        }
        Ok(())
    }

    /// Refuses a set of tensors that lacks one, or has one of another shape, named with `suffix`.
    pub(super) fn check_trained(&self, parameters: &Parameters, suffix: &str) -> Result<(), Error> {
        self.entries
            .iter()
            .filter(|entry| entry.trained)
            .try_for_each(|entry| entry.check(parameters, suffix))
    }

    /// Takes checked tensors over into another buffer.
    pub(super) fn load_trained(&self, buffer: &mut Buffer, parameters: &Parameters, suffix: &str) {
        for entry in self.entries.iter().filter(|entry| entry.trained) {
            if let Some(tensor) = parameters.tensor(&format!("{}{suffix}", entry.spec.name)) {
                entry.write(&tensor.values, buffer);
            }
        }
    }
}

/// How a filter lies: a linear layer's covers the whole image it reads.
fn filter_of(spec: &ParameterSpec, input: Option<crate::Shape>) -> Option<[usize; 4]> {
    match (&spec.shape[..], input) {
        (&[out, inputs, height, width], _) => Some([height, width, inputs, out]),
        (&[out, _], Some(image)) => Some([image.height, image.width, image.channels, out]),
        _ => None,
    }
}

impl Entry {
    fn home<'a>(&self, memory: &'a mut Memory) -> &'a mut [f32] {
        if self.spec.role.is_trained() { &mut memory.weights } else { &mut memory.statistics }
    }

    /// Older files have no count of batches; everything else must be there and fit.
    fn check(&self, parameters: &Parameters, suffix: &str) -> Result<(), Error> {
        let name = format!("{}{suffix}", self.spec.name);
        let expected = self.spec.shape.clone();
        match parameters.tensor(&name) {
            None if self.spec.role == Role::BatchesTracked => Ok(()),
            None => Err(Error::ParameterMissing { name, expected }),
            Some(tensor) if tensor.shape != expected || tensor.values.len() != self.range.len() => {
                Err(Error::ParameterShape { name, expected, found: tensor.shape.clone() })
            }
            Some(_) => Ok(()),
        }
    }

    /// Calls `visit(ours, theirs)` with the places of every number in our layout and in PyTorch's.
    fn visit(&self, mut visit: impl FnMut(usize, usize)) {
        let Some([height, width, inputs, outputs]) = self.filter else {
            return (0..self.range.len()).for_each(|index| visit(self.range.start + index, index));
        };
        let taps = height * width;
        for (tap, input) in (0..taps).flat_map(|tap| (0..inputs).map(move |input| (tap, input))) {
            let ours = self.range.start + (tap * inputs + input) * outputs;
            (0..outputs).for_each(|output| visit(ours + output, (output * inputs + input) * taps + tap));
        }
    }

    fn tensor(&self, from: &[f32]) -> Tensor {
        let mut values = vec![0.0; self.range.len()];
        self.visit(|ours, theirs| values[theirs] = from[ours]);
        Tensor { shape: self.spec.shape.clone(), values }
    }

    fn write(&self, values: &[f32], to: &mut [f32]) {
        self.visit(|ours, theirs| to[ours] = values[theirs]);
    }
}
