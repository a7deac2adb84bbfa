//! Where a run trains.

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

/// A device that is found and opened while something else is done: a GPU takes a part of a second.
#[derive(Debug)]
pub struct Placing {
    device: Device,
    opening: Option<JoinHandle<(Device, Option<String>)>>,
}

impl Placing {
    /// Starts to look.
    #[must_use]
    pub fn new(device: Device) -> Self {
        let open = move || {
            if let Device::Cuda(ordinal) = device {
                // Only to have it open: what stands in the way is said where the network is made.
                let _ = cuda::available(ordinal);
            }
            place(device)
        };
        Self { device, opening: (device != Device::Cpu).then(|| std::thread::spawn(open)) }
    }

    /// The device, once it is found; as [`place`] has it.
    #[must_use]
    pub fn wait(self) -> (Device, Option<String>) {
        self.opening.and_then(|opening| opening.join().ok()).unwrap_or((self.device, None))
    }
}
