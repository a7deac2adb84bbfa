//! Why there is no GPU to work with: a sentence, and the cure.

/// Why a GPU cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// A library is not on this machine, or not where it is looked for.
    #[error("{what} was not found: looked for {} in {}", names.join(", "), places.join(", "))]
    Library {
        /// What the library is called.
        what: &'static str,
        /// The names of files that would do.
        names: Vec<String>,
        /// The folders that were looked into.
        places: Vec<String>,
    },
    /// The driver speaks an older CUDA than this program.
    #[error("the NVIDIA driver is too old: it supports CUDA {found}, and CUDA {needed} is needed")]
    Driver {
        /// The newest CUDA it supports.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// A library is older than this program can use.
    #[error("{what} is too old: version {found}, and {needed} is needed")]
    Old {
        /// What the library is called.
        what: &'static str,
        /// The version that is there.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// There is a driver, and no GPU.
    #[error("the NVIDIA driver finds no GPU{}", reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    NoGpu {
        /// What the driver says.
        reason: Option<String>,
    },
    /// There are GPUs, but not this one.
    #[error("there is no `cuda:{asked}`: expected a number below {count}")]
    NoSuchGpu {
        /// The number that was asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// The GPU lacks what the kernels need.
    #[error("{name} is too old: it has compute capability {found}, and {needed} is needed")]
    Gpu {
        /// The GPU.
        name: String,
        /// Its compute capability.
        found: String,
        /// The least that will do.
        needed: String,
    },
}

impl Unavailable {
    /// The cure.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Library { what: "the NVIDIA driver", .. } => {
                "install it, or train with --device cpu".into()
            }
            Self::Library { .. } | Self::Old { .. } => {
                "install it, or name its folder in LD_LIBRARY_PATH; --device cpu needs none".into()
            }
            Self::Driver { .. } => "update the driver, or train with --device cpu".into(),
            Self::NoSuchGpu { .. } => "`cleanest devices` lists what there is".into(),
            Self::NoGpu { .. } | Self::Gpu { .. } => "train with --device cpu".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_absence_is_one_sentence_with_a_cure() {
        let cases = [
            (
                Unavailable::Library {
                    what: "cuDNN",
                    names: vec!["libcudnn.so.9".into()],
                    places: vec!["the system's folders".into(), "/usr/local/cuda/lib64".into()],
                },
                "cuDNN was not found: looked for libcudnn.so.9 in the system's folders, /usr/local/cuda/lib64",
            ),
            (
                Unavailable::Driver { found: "12.2".into(), needed: "13.0".into() },
                "the NVIDIA driver is too old: it supports CUDA 12.2, and CUDA 13.0 is needed",
            ),
            (
                Unavailable::Old { what: "cuDNN", found: "8.9.7".into(), needed: "9.1".into() },
                "cuDNN is too old: version 8.9.7, and 9.1 is needed",
            ),
            (Unavailable::NoGpu { reason: None }, "the NVIDIA driver finds no GPU"),
            (
                Unavailable::NoSuchGpu { asked: 3, count: 2 },
                "there is no `cuda:3`: expected a number below 2",
            ),
            (
                Unavailable::Gpu { name: "Tesla T4".into(), found: "7.5".into(), needed: "8.0".into() },
                "Tesla T4 is too old: it has compute capability 7.5, and 8.0 is needed",
            ),
        ];
        for (reason, sentence) in cases {
            assert_eq!(reason.to_string(), sentence);
            assert!(!reason.hint().is_empty());
        }
    }
}
