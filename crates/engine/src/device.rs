//! Where a network runs, by the name it is asked for.

use std::{fmt, str::FromStr};

use crate::Error;

/// Where a network runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The first GPU where there is one that works, the processor otherwise.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU by its number, the first being 0.
    Cuda(usize),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::Device { found: name.into() };
        match name {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let number = name.strip_prefix("cuda:").ok_or_else(unknown)?;
                number.parse().map(Self::Cuda).map_err(|_| unknown())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_found_by_the_name_it_shows() {
        for device in [Device::Auto, Device::Cpu, Device::Cuda(0), Device::Cuda(7)] {
            assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
        }
        assert_eq!("cuda".parse::<Device>().unwrap(), Device::Cuda(0));
    }

    #[test]
    fn a_device_nobody_knows_is_refused_with_those_there_are() {
        for name in ["gpu", "cuda:", "cuda:x", "CPU"] {
            let error = name.parse::<Device>().unwrap_err();
            assert_eq!(error.to_string(), format!("no device is called `{name}`"));
            assert_eq!(error.hint().as_deref(), Some("there are: auto, cpu, cuda:N"));
        }
    }
}
