//! Training with other workers: gradients are summed where they lie, by NCCL, or else on the way through the host.

use std::{ops::Range, sync::Arc};

use super::{
    Precision,
    blueprint::Blueprint,
    command::Exchange,
    gpu::driver,
    gpus::Gpus,
    memory,
    nccl::{self, Number},
    queue::Queue,
};
use crate::{
    Error,
    peers::{Group, Part},
};

/// Pieces a backward pass is cut in, so that the exchange of one goes on beside the next.
pub(super) const PIECES: usize = 4;

/// Those a network trains with.
#[derive(Debug)]
pub(super) struct Together {
    group: Arc<dyn Group>,
    gpus: Option<Arc<Gpus>>,
    /// Whether batch norms see the batch of all.
    whole_norms: bool,
}

impl Together {
    /// Joins the GPUs of all workers, where each has one of its own and all have NCCL; otherwise a sentence says why not.
    pub(super) fn new(
        group: Arc<dyn Group>,
        ordinal: usize,
        whole_norms: bool,
    ) -> Result<(Self, Option<String>), Error> {
        if let Some(gpus) = group.gpus() {
            return Ok((Self { group, gpus: Some(gpus), whole_norms }, None));
        }
        let own = match nccl::present() {
            Ok(()) => String::new(),
            Err(missing) => missing.to_string(),
        };
        let worker = group.worker().clone();
        let place = format!("{}\n{ordinal}\n{own}", worker.hosts[worker.rank]);
        let all: Vec<String> = group
            .gather(place.as_bytes())
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect();
        let missing = all.iter().enumerate().find_map(|(rank, place)| {
            let problem = place.splitn(3, '\n').nth(2).filter(|problem| !problem.is_empty());
            let shared = all[..rank].contains(place).then_some("shares its GPU with another");
            problem.or(shared).map(|problem| format!("{}: {problem}", worker.name(rank)))
        });
        if let Some(problem) = missing {
            return Ok((
                Self { group, gpus: None, whole_norms },
                Some(format!("gradients go by way of the host: {problem}")),
            ));
        }
        let id = if worker.rank == 0 { nccl::new_id()?.to_vec() } else { Vec::new() };
        let id = group.of_first(id).try_into().unwrap_or([0; 128]);
        let gpus = Gpus::join(ordinal, (worker.rank, worker.size()), id)?;
        Ok((Self { group, gpus: Some(Arc::new(gpus)), whole_norms }, None))
    }

    /// Pieces of the backward pass: gradients are exchanged while it goes on where there is anybody to wait for, and where
    /// batch norms do not make everybody wait anyway.
    pub(super) fn pieces(&self) -> usize {
        let several = self.group.size() > 1 || self.group.is_exercise();
        if self.gpus.is_some() && several && !self.whole_norms { PIECES } else { 1 }
    }

    /// Sums of a batch norm over all workers, between two kernels.
    pub(super) fn exchange(&self, queue: &Queue, exchange: Exchange) -> Result<(), Error> {
        let (at, count) = (exchange.at.address(queue.base()), exchange.count);
        if let Some(gpus) = &self.gpus {
            // SAFETY: there are so many numbers, which only this stream uses; it has waited for the gradients of the step
            // before, and those of this step are summed after the last norm.
            return unsafe { gpus.sum_on(&queue.stream, at, count) };
        }
        // SAFETY: as above.
        unsafe {
            let mut numbers = memory::fetch::<f64>(&queue.stream, at, count)?;
            self.group.sum(&mut numbers);
            memory::put(&queue.stream, at, &numbers)
        }
    }

    /// Begins to sum the gradients of some filters, once what was ordered so far is done.
    pub(super) fn filters(
        &self,
        queue: &Queue,
        blueprint: &Blueprint,
        range: Range<usize>,
    ) -> Result<(), Error> {
        let Some(gpus) = &self.gpus else { return Ok(()) };
        let ready = queue.stream.record_event(None).map_err(driver("recording an event"))?;
        gpus.stream.wait(&ready).map_err(driver("waiting for a gradient"))?;
        let (number, bytes) = number(queue.precision);
        let at = blueprint.lists.filter_slopes.after(range.start * bytes).address(queue.base());
        // SAFETY: the list has these numbers, and until the optimizer waits for the sum nobody else uses them.
        unsafe { gpus.sum(at, range.len(), number) }
    }

    /// Sums the rest: gradients of vectors, and running statistics by each worker's share. What the network does next
    /// waits for all of it.
    pub(super) fn finish(&self, queue: &Queue, blueprint: &Blueprint, part: Part) -> Result<(), Error> {
        let (store, lists, share) = (&blueprint.store, &blueprint.lists, part.share() as f32);
        let Some(gpus) = &self.gpus else { return self.by_host(queue, blueprint, share) };
        // SAFETY: the lists have so many numbers, and what the network does next waits below.
        unsafe {
            gpus.sum(lists.vector_slopes.address(queue.base()), store.vectors.trained, Number::Single)?;
            if !self.whole_norms {
                gpus.average(lists.statistics.address(queue.base()), store.statistics, share)?;
            }
        }
        let done = gpus.stream.record_event(None).map_err(driver("recording an event"))?;
        queue.stream.wait(&done).map_err(driver("waiting for the other workers"))
    }

    /// The same by way of the host.
    fn by_host(&self, queue: &Queue, blueprint: &Blueprint, share: f32) -> Result<(), Error> {
        let (store, lists) = (&blueprint.store, &blueprint.lists);
        let (filters, half) = (lists.filter_slopes.address(queue.base()), queue.precision == Precision::Bf16);
        let (vectors, statistics) =
            (lists.vector_slopes.address(queue.base()), lists.statistics.address(queue.base()));
        let stream = &queue.stream;
        // SAFETY: each list has so many numbers, and only this stream uses them.
        unsafe {
            let mine = if half {
                let halves = memory::fetch::<u16>(stream, filters, store.filters.trained)?;
                halves.iter().map(|&half| f32::from_bits(u32::from(half) << 16)).collect()
            } else {
                memory::fetch::<f32>(stream, filters, store.filters.trained)?
            };
            let of_filters = self.group.begin(mine);
            let of_vectors = self.group.begin(memory::fetch::<f32>(stream, vectors, store.vectors.trained)?);
            let averaged = if self.whole_norms { 0 } else { store.statistics };
            let mut mine = memory::fetch::<f32>(stream, statistics, averaged)?;
            mine.iter_mut().for_each(|number| *number *= share);
            let of_statistics = self.group.begin(mine);
            let sum = of_filters.wait();
            if half {
                let halves: Vec<u16> = sum.iter().copied().map(narrow).collect();
                memory::put(stream, filters, &halves)?;
            } else {
                memory::put(stream, filters, &sum)?;
            }
            memory::put(stream, vectors, &of_vectors.wait())?;
            memory::put(stream, statistics, &of_statistics.wait())?;
        }
        Ok(())
    }
}

/// How gradients of filters are stored, and in how many bytes.
fn number(precision: Precision) -> (Number, usize) {
    if precision == Precision::Bf16 { (Number::Half, 2) } else { (Number::Single, 4) }
}

/// The nearest bf16; of two equally near the even one.
fn narrow(number: f32) -> u16 {
    let bits = number.to_bits();
    if number.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((u64::from(bits) + 0x7fff + u64::from(bits >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_ties_to_even() {
        let wide = |half: u16| f32::from_bits(u32::from(half) << 16);
        for number in [0.0, 1.0, -1.5, 3.0e38, 1e-40] {
            assert!((wide(narrow(number)) - number).abs() <= number.abs() / 256.0 + 1e-39, "{number}");
        }
        assert_eq!(wide(narrow(1.0 + 1.0 / 256.0)), 1.0);
        assert_eq!(wide(narrow(1.0 + 3.0 / 256.0)), 1.0 + 4.0 / 256.0);
        assert!(wide(narrow(f32::NAN)).is_nan());
        assert_eq!(wide(narrow(f32::INFINITY)), f32::INFINITY);
    }
}
