//! Where a run trains.

use crate::Error;
use cleanest_engine::{Device, cuda};
use std::thread::JoinHandle;

/// The device that is meant, and, where `auto` cannot mean a GPU, a sentence that says why.
#[must_use]
pub fn place(device: Device) -> (Device, Option<String>) {
    if device != Device::Auto {
        return (device, None);
    }
    match cuda::available(0) {
        Ok(_) => (Device::Cuda(0), None),
        Err(reason) => (Device::Cpu, Some(format!("training on the CPU: {reason}"))),
    }
}

/// What comes of looking for a device.
type Found = Result<(Device, Option<String>), cleanest_engine::Error>;

/// A device that is found and opened while something else is done: a GPU takes a part of a second.
#[derive(Debug)]
pub struct Placing {
    device: Device,
    opening: Option<JoinHandle<Found>>,
}

impl Placing {
    /// Starts to look.
    #[must_use]
    pub fn new(device: Device) -> Self {
        let open = move || match device {
            Device::Cuda(ordinal) => cuda::available(ordinal).map(|_| (device, None)),
            _ => Ok(place(device)),
        };
        Self { device, opening: (device != Device::Cpu).then(|| std::thread::spawn(open)) }
    }

    /// The device as [`place`] has it, once it is found; a GPU that was named and is not there is an error.
    pub fn wait(self) -> Result<(Device, Option<String>), Error> {
        let found = self.opening.and_then(|opening| opening.join().ok());
        Ok(found.unwrap_or(Ok((self.device, None)))?)
    }
}
