//! How a batch comes to the GPU: as rows of a set that is already there, or copied while the GPU still computes.

use cudarc::driver::CudaEvent;

use super::{
    blueprint::Blueprint,
    command::{Argument, Launch, arguments},
    gpu::driver,
    kernel::{Kernel, blocks},
    memory::{DeviceMemory, Pinned},
    queue::Queue,
};
use crate::{Crop, Error, Input, Kept, Normalization, Set, Shape};

/// Memory that is left free when a set is kept.
const MARGIN: usize = 512 << 20;
/// What is added to a row or column of a crop, so that it has no sign.
const ORIGIN: i32 = 16_384;

/// Examples on the GPU, and what brings them to one scale: a table of bytes, or means and deviations, or nothing.
#[derive(Debug)]
struct Examples {
    data: DeviceMemory,
    scale: Option<DeviceMemory>,
    images: bool,
    count: usize,
}

/// Some of a batch, and where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portion {
    /// The first example.
    pub(super) first: usize,
    /// How many.
    pub(super) count: usize,
    /// Examples of the pass it is for; the rest is filled up.
    pub(super) batch: usize,
    /// Which of the two staging areas it uses.
    pub(super) slot: usize,
    /// Steps made so far.
    pub(super) step: u64,
}

/// The way of batches to the GPU.
#[derive(Debug)]
pub(super) struct Feed {
    kept: Vec<Examples>,
    orders: [Pinned<u32>; 2],
    staged: [Option<Staged>; 2],
    /// The table of the last normalization, so that it is sent once.
    table: Option<(Normalization, DeviceMemory)>,
}

/// Memory for a batch on both sides.
#[derive(Debug)]
struct Staged {
    host: Pinned<u8>,
    device: DeviceMemory,
}

impl Feed {
    /// For batches of at most so many examples.
    pub(super) fn new(queue: &Queue, batch: usize) -> Result<Self, Error> {
        let order = || Pinned::new(&queue.gpu.context, 2 + 2 * batch);
        Ok(Self { kept: Vec::new(), orders: [order()?, order()?], staged: [None, None], table: None })
    }

    /// Keeps a set, if there is room for it.
    pub(super) fn keep(&mut self, queue: &Queue, set: &Set<'_>, shape: Shape) -> Result<Option<Kept>, Error> {
        let stream = &queue.stream;
        let (bytes, length) = match set {
            Set::Images { pixels, .. } => (pixels.len(), pixels.len()),
            Set::Rows { numbers, .. } => (size_of_val(*numbers), numbers.len()),
        };
        if length == 0 || !length.is_multiple_of(shape.size()) {
            let expected = format!("examples of {shape} has a multiple of {} numbers", shape.size());
            return Err(Error::Input { expected, found: length.to_string() });
        }
        if bytes + MARGIN > queue.gpu.memory()?.0 {
            return Ok(None);
        }
        let count = length / shape.size();
        let examples = match *set {
            Set::Images { pixels, normalization } => {
                normalization.check(shape.channels)?;
                let scale = DeviceMemory::of(stream, &table(normalization, shape.channels))?;
                Examples { data: DeviceMemory::of(stream, pixels)?, scale: Some(scale), images: true, count }
            }
            Set::Rows { numbers, normalization } => {
                normalization.check(shape.size())?;
                let scale = DeviceMemory::of(stream, &means(normalization, shape.size()))?;
                Examples {
                    data: DeviceMemory::of(stream, numbers)?,
                    scale: Some(scale),
                    images: false,
                    count,
                }
            }
        };
        self.kept.push(examples);
        Ok(Some(Kept(self.kept.len() - 1)))
    }

    /// How many examples a batch has, if all of them are there.
    pub(super) fn examples(&self, input: &Input<'_>, shape: Shape) -> Result<usize, Error> {
        let Input::Kept { set, rows, crops } = input else { return input.examples(shape) };
        let kept = self.kept.get(set.0).ok_or(Error::NotKept)?;
        let refused =
            |expected: String, found: usize| Err(Error::Input { expected, found: found.to_string() });
        if let Some(&row) = rows.iter().find(|&&row| row as usize >= kept.count) {
            return refused(format!("rows below {}", kept.count), row as usize);
        }
        if rows.is_empty() || (!crops.is_empty() && crops.len() != rows.len()) {
            return refused(format!("{} rows with a crop each, or none", rows.len()), crops.len());
        }
        Ok(rows.len())
    }

    /// Brings some of a batch to where the network reads it.
    pub(super) fn bring(
        &mut self,
        queue: &Queue,
        blueprint: &Blueprint,
        input: &Input<'_>,
        portion: Portion,
    ) -> Result<(), Error> {
        let arrived = self.stage(queue, blueprint.shape, input, portion)?;
        self.order(queue, blueprint, input, portion)?;
        if let Some(event) = arrived {
            queue.stream.wait(&event).map_err(driver("waiting for a copy"))?;
        }
        let launch = self.gather(blueprint, input, portion)?;
        queue.launch(&launch)
    }

    /// Copies what comes from the host, beside what the GPU computes.
    fn stage(
        &mut self,
        queue: &Queue,
        shape: Shape,
        input: &Input<'_>,
        portion: Portion,
    ) -> Result<Option<CudaEvent>, Error> {
        let (start, length) = (portion.first * shape.size(), portion.count * shape.size());
        let bytes: &[u8] = match input {
            Input::Kept { .. } => return Ok(None),
            Input::Images { pixels, .. } => &pixels[start..start + length],
            Input::Rows(numbers) => {
                let numbers = &numbers[start..start + length];
                // SAFETY: any number can be looked at as its bytes.
                unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
            }
        };
        let place = &mut self.staged[portion.slot];
        if place.as_ref().is_none_or(|staged| staged.device.bytes() < bytes.len()) {
            let (context, room) = (&queue.gpu.context, bytes.len().max(portion.batch * shape.size() * 4));
            *place = Some(Staged {
                host: Pinned::new(context, room)?,
                device: DeviceMemory::zeros(&queue.copies, room)?,
            });
        }
        let Some(Staged { host, device }) = place else { return Ok(None) };
        host.values_mut()[..bytes.len()].copy_from_slice(bytes);
        host.send(bytes.len(), device.address(), queue.copies.cu_stream())?;
        if let Input::Images { normalization, .. } = input
            && self.table.as_ref().is_none_or(|(known, _)| known != *normalization)
        {
            queue.wait()?;
            let table = DeviceMemory::of(&queue.stream, &table(normalization, shape.channels))?;
            self.table = Some(((*normalization).clone(), table));
        }
        queue.copies.record_event(None).map(Some).map_err(driver("recording an event"))
    }

    /// Sends the step, the rows and the crops.
    fn order(
        &mut self,
        queue: &Queue,
        blueprint: &Blueprint,
        input: &Input<'_>,
        portion: Portion,
    ) -> Result<(), Error> {
        let Portion { first, count, batch, slot, step } = portion;
        let order = self.orders[slot].values_mut();
        (order[0], order[1]) = (step as u32, (step >> 32) as u32);
        let (rows, crops) = order[2..2 + 2 * batch].split_at_mut(batch);
        match input {
            Input::Kept { rows: asked, crops: cut, .. } => {
                rows[..count].copy_from_slice(&asked[first..first + count]);
                rows[count..].fill(asked[first]);
                for (word, crop) in crops.iter_mut().zip(cut.iter().skip(first)) {
                    *word = encoded(*crop);
                }
            }
            _ => rows
                .iter_mut()
                .enumerate()
                .for_each(|(row, word)| *word = if row < count { row as u32 } else { 0 }),
        }
        let to = blueprint.orders[slot].address(queue.base());
        self.orders[slot].send(2 + 2 * batch, to, queue.stream.cu_stream())
    }

    /// What gathers the batch.
    fn gather(&self, blueprint: &Blueprint, input: &Input<'_>, portion: Portion) -> Result<Launch, Error> {
        let (batch, window) = (portion.batch, Argument::Window(blueprint.intake.window()));
        let (order, to) = (blueprint.orders[portion.slot], blueprint.input);
        let grid = blocks(batch * blueprint.intake.shape().size() / 8);
        let staged = || self.staged[portion.slot].as_ref().map_or(0, |staged| staged.device.address());
        let (data, scale, images, cropped) = match input {
            Input::Kept { set, crops, .. } => {
                let kept = self.kept.get(set.0).ok_or(Error::NotKept)?;
                let scale = kept.scale.as_ref().map(DeviceMemory::address);
                (kept.data.address(), scale, kept.images, !crops.is_empty())
            }
            Input::Images { .. } => {
                (staged(), self.table.as_ref().map(|(_, table)| table.address()), true, false)
            }
            Input::Rows(_) => (staged(), None, false, false),
        };
        let address = |address: Option<u64>| address.map_or(Argument::Nothing, Argument::Address);
        let data = Argument::Address(data);
        let (kernel, arguments): (_, &[Argument]) = if images {
            let table = address(scale);
            (Kernel::GatherImages, arguments![data, order, table, to, batch, cropped, window])
        } else {
            let deviation = scale.map(|mean| mean + (blueprint.shape.size() * size_of::<f32>()) as u64);
            let (mean, deviation) = (address(scale), address(deviation));
            (Kernel::GatherRows, arguments![data, order, mean, deviation, to, batch, window])
        };
        Ok(Launch { kernel, grid, arguments: arguments.to_vec() })
    }
}

/// A crop as the kernels read it.
fn encoded(crop: Crop) -> u32 {
    let part = |offset: i16| (i32::from(offset) + ORIGIN).clamp(0, 2 * ORIGIN - 1) as u32;
    part(crop.top) | (part(crop.left) << 15) | (u32::from(crop.flipped) << 31)
}

/// The number of each byte in each channel.
fn table(normalization: &Normalization, channels: usize) -> Vec<f32> {
    let (mean, deviation) = (&normalization.mean, &normalization.deviation);
    let number = |channel: usize, byte: usize| {
        let centered = byte as f32 / 255.0 - mean.get(channel).unwrap_or(&0.0);
        centered / deviation.get(channel).unwrap_or(&1.0)
    };
    (0..channels).flat_map(|channel| (0..256).map(move |byte| number(channel, byte))).collect()
}

/// The means and then the deviations of so many numbers.
fn means(normalization: &Normalization, size: usize) -> Vec<f32> {
    let all = |numbers: &[f32], otherwise: f32| {
        (0..size).map(|at| *numbers.get(at).unwrap_or(&otherwise)).collect()
    };
    let (mean, deviation): (Vec<f32>, Vec<f32>) =
        (all(&normalization.mean, 0.0), all(&normalization.deviation, 1.0));
    [mean, deviation].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crop_is_told_in_one_word() {
        let crop = |top, left, flipped| encoded(Crop { top, left, flipped });
        assert_eq!(crop(0, 0, false), 0x4000 | 0x4000 << 15);
        assert_eq!(crop(-4, 3, true), 0x3ffc | 0x4003 << 15 | 1 << 31);
    }

    #[test]
    fn a_table_has_the_numbers_the_processor_computes() {
        let normalization = Normalization { mean: vec![0.5, 0.0], deviation: vec![0.25, 1.0] };
        let table = table(&normalization, 2);
        assert_eq!(table.len(), 512);
        assert_eq!((table[255], table[256 + 51]), (2.0, 0.2));
    }
}
