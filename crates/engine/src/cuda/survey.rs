//! What there is on this machine to train on, and what is missing.

use cudarc::driver::{result, sys::CUdevice_attribute_enum as Attribute};

use super::{
    Unavailable, Versions,
    gpu::{self, Gpu, driver},
    library,
};
use crate::Error;

/// A GPU that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number, the first being 0.
    pub ordinal: usize,
    /// What its maker calls it.
    pub name: String,
    /// Its compute capability.
    pub capability: (i32, i32),
    /// Bytes of its memory.
    pub memory: usize,
}

/// What there is on this machine, and what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The GPUs the driver knows.
    pub gpus: Vec<Found>,
    /// What stands in the way of using them.
    pub missing: Vec<Unavailable>,
    /// The versions of the libraries, where all are there.
    pub versions: Option<Versions>,
}

/// Looks for GPUs and libraries.
pub fn survey() -> Result<Survey, Error> {
    let mut survey = Survey::default();
    match gpu::count() {
        Ok(count) => survey.gpus = (0..count).map(found).collect::<Result<_, _>>()?,
        Err(Error::Unavailable(reason)) => survey.missing.push(reason),
        Err(other) => return Err(other),
    }
    survey.missing.extend(library::ALL[1..].iter().filter_map(|wanted| wanted.load().err()));
    if survey.missing.is_empty() {
        match Gpu::open(0) {
            Ok(gpu) => survey.versions = Some(gpu.versions.clone()),
            Err(Error::Unavailable(reason)) => survey.missing.push(reason),
            Err(other) => return Err(other),
        }
    }
    Ok(survey)
}

/// How many GPUs the driver shows this process.
#[must_use]
pub fn count() -> usize {
    gpu::count().unwrap_or(0)
}

/// Opens a GPU, or says why it cannot be used: its name and the versions of its libraries.
pub fn available(ordinal: usize) -> Result<(String, Versions), Error> {
    Gpu::open(ordinal).map(|gpu| (gpu.name.clone(), gpu.versions.clone()))
}

fn found(ordinal: usize) -> Result<Found, Error> {
    let asked = driver("asking for a GPU");
    let device = result::device::get(ordinal as i32).map_err(&asked)?;
    // SAFETY: the device was given by the driver.
    let attribute = |attribute| unsafe { result::device::get_attribute(device, attribute) }.map_err(&asked);
    let capability = (
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    // SAFETY: as above.
    let memory = unsafe { result::device::total_mem(device) }.map_err(&asked)?;
    Ok(Found { ordinal, name: result::device::get_name(device).map_err(&asked)?, capability, memory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_never_fails_for_what_is_missing() {
        let survey = survey().unwrap();
        assert!(survey.versions.is_some() || !survey.missing.is_empty());
    }
}
