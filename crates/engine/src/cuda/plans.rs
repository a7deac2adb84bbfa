//! Which of cuDNN's plans is used for each convolution.
//!
//! Reproducible: the first proposal that gives the same bits each time, without looking at a clock. Tuned: the fastest of
//! the first few; which one that was is kept for the next start.

use std::{
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Attribute, cudnnBackendAttributeType_t as Type,
    cudnnBackendDescriptorType_t as Kind,
};

use super::{
    Selection, cache,
    command::{Convolve, Direction, Geometry},
    convolve::{Graph, NAMES, Plan, Proposal},
    descriptor::Descriptor,
    memory::DeviceMemory,
    program::PROFILE,
    queue::Queue,
};
use crate::Error;

/// Proposals that are timed; with a bias fewer, because each of those is compiled first.
const TIMED: usize = 16;
const TIMED_BIASED: usize = 6;
/// Channels from which on the newest engine is the best for gradients of filters, and the proposals it is looked for in.
const WIDE: usize = 32;
const FEW: usize = 4;
/// Runs of each that are timed together.
const RUNS: usize = 10;

/// The plans of a network, and the memory they work in.
#[derive(Debug)]
pub(super) struct Plans {
    selection: Selection,
    /// What was chosen; none where cuDNN has no plan.
    chosen: HashMap<(Geometry, Direction), Option<Rc<Plan>>>,
    /// In tuned mode, the number of the fastest proposal of each convolution, as the cache has it.
    fastest: BTreeMap<String, usize>,
    file: String,
    changed: bool,
    /// Memory for plans in order, and for those that run beside them.
    workspaces: [DeviceMemory; 2],
}

/// Bytes of each workspace on a GPU with so much memory.
pub(super) fn workspace(total: usize) -> usize {
    (total / 64).clamp(64 << 20, 512 << 20)
}

impl Plans {
    /// No plans yet.
    pub(super) fn new(queue: &Queue, selection: Selection) -> Result<Self, Error> {
        let bytes = workspace(queue.gpu.memory()?.1);
        let workspaces =
            [DeviceMemory::zeros(&queue.stream, bytes)?, DeviceMemory::zeros(&queue.stream, bytes)?];
        let (gpu, cudnn) = (cache::file_name(&queue.gpu.name), &queue.gpu.versions.cudnn);
        let file = format!("plans-{gpu}-cudnn-{cudnn}-{}.txt", queue.precision);
        let fastest = match selection {
            Selection::Tuned => cache::read(&file).map(|bytes| parsed(&bytes)).unwrap_or_default(),
            Selection::Reproducible => BTreeMap::new(),
        };
        Ok(Self { selection, chosen: HashMap::new(), fastest, file, changed: false, workspaces })
    }

    /// The plan for a pass, bound to its tensors; none where cuDNN has none.
    pub(super) fn bind(
        &mut self,
        queue: &Queue,
        convolve: &Convolve,
        beside: bool,
    ) -> Result<Option<(Rc<Plan>, Descriptor)>, Error> {
        let tensors = self.tensors(queue, convolve, beside)?;
        let key = (convolve.geometry, convolve.direction);
        let plan = if let Some(known) = self.chosen.get(&key) {
            known.clone()
        } else {
            let found = self.choose(queue, convolve, &tensors).map(Rc::new);
            self.chosen.insert(key, found.clone());
            found
        };
        Ok(plan.map(|plan| (plan, tensors)))
    }

    /// Keeps what was found out.
    pub(super) fn save(&mut self) {
        if self.changed {
            let lines = self.fastest.iter().map(|(convolution, number)| format!("{number} {convolution}\n"));
            cache::write(&self.file, lines.collect::<String>().as_bytes());
            self.changed = false;
        }
    }

    fn choose(&mut self, queue: &Queue, convolve: &Convolve, tensors: &Descriptor) -> Option<Plan> {
        // A graph that cuDNN cannot even describe has no plan.
        let graph = Graph::new(queue.cudnn, convolve.geometry, convolve.direction, queue.precision).ok()?;
        let proposals = graph.proposals();
        let room = self.workspaces[0].bytes();
        let build =
            |proposal: &Proposal| proposal.build(queue.cudnn).ok().filter(|plan| plan.workspace <= room);
        let precise = |proposal: &&Proposal| proposal.is_precise(queue.precision);
        if self.selection == Selection::Reproducible {
            let steady = proposals.iter().filter(precise).filter(|proposal| proposal.is_deterministic());
            return by_rule(convolve, steady.collect()).into_iter().find_map(build);
        }
        let name = convolve.to_string();
        let known = self.fastest.get(&name).and_then(|&number| proposals.get(number));
        if let Some(plan) = known.filter(precise).and_then(build) {
            return Some(plan);
        }
        let timed = if convolve.bias.is_some() { TIMED_BIASED } else { TIMED };
        let candidates = proposals.iter().enumerate().filter(|(_, proposal)| precise(proposal));
        let built = candidates.filter_map(|(number, proposal)| Some((number, build(proposal)?))).take(timed);
        let mut best: Option<(f32, usize, Plan)> = None;
        for (number, plan) in built {
            // One that does not run after all is no candidate.
            let Ok(time) = queue.time(RUNS, || queue.execute(&plan.descriptor, tensors)) else { continue };
            if std::env::var_os(PROFILE).is_some() {
                eprintln!("plan {number} {time:.4} ms  engine {}: {name}", proposals[number].engine());
            }
            if best.as_ref().is_none_or(|(least, ..)| time < *least) {
                best = Some((time, number, plan));
            }
        }
        let (_, number, plan) = best?;
        self.fastest.insert(name, number);
        self.changed = true;
        Some(plan)
    }

    /// Where the tensors of a pass lie, as cuDNN wants to be told.
    fn tensors(&self, queue: &Queue, convolve: &Convolve, beside: bool) -> Result<Descriptor, Error> {
        let places = [Some(convolve.input), Some(convolve.filter), Some(convolve.output), convolve.bias];
        let addresses: Vec<u64> = places.iter().flatten().map(|place| place.address(queue.base())).collect();
        let tensors = Descriptor::new(Kind::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?;
        let (pointer, names) = (Type::CUDNN_TYPE_VOID_PTR, &NAMES[..addresses.len()]);
        tensors.set(Attribute::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointer, &addresses)?;
        tensors.set_numbers(Attribute::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, names)?;
        let workspace = self.workspaces[usize::from(beside)].address();
        tensors.set(Attribute::CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointer, &[workspace])?;
        tensors.finish("binding tensors")
    }
}

/// The order in which proposals are tried without looking at a clock: cuDNN's own, but tensor cores before others, and
/// for gradients of filters the newest engine of the first few. Both rules are measured in the decisions.
fn by_rule<'a>(convolve: &Convolve, mut proposals: Vec<&'a Proposal>) -> Vec<&'a Proposal> {
    proposals.sort_by_key(|proposal| !proposal.is_on_tensor_cores());
    if convolve.direction == Direction::Filter && convolve.geometry.inputs >= WIDE {
        let few = proposals.len().min(FEW);
        proposals[..few].sort_by_key(|proposal| std::cmp::Reverse(proposal.engine()));
    }
    proposals
}

/// The lines of a cache; those that are none are passed over.
fn parsed(bytes: &[u8]) -> BTreeMap<String, usize> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| {
        let (number, name) = line.split_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_was_cut_off_is_read_as_far_as_it_goes() {
        let lines = parsed(b"3 forward 2x8x8x8 to 8, kernel 3, stride 1, padding 1\nx broken\n7");
        assert_eq!(lines.len(), 1);
        assert_eq!(lines.values().next(), Some(&3));
    }

    #[test]
    fn the_workspace_follows_the_memory_within_bounds() {
        assert_eq!(workspace(141 << 30), 512 << 20);
        assert_eq!(workspace(16 << 30), 256 << 20);
        assert_eq!(workspace(2 << 30), 64 << 20);
    }
}
