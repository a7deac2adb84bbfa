//! Where the numbers of a set lie: in memory of our own, in a file, or in the program.

use crate::mapped::Mapped;
use std::ops::{Deref, Range};

/// Bytes that are not copied to be looked at.
#[derive(Debug)]
pub(crate) enum Bytes {
    Owned(Vec<u8>),
    Mapped(Mapped, Range<usize>),
}

impl Bytes {
    /// The same without its first `count` bytes; there are at least as many.
    pub(crate) fn after(self, count: usize) -> Self {
        match self {
            Self::Owned(mut bytes) => {
                bytes.drain(..count);
                Self::Owned(bytes)
            }
            Self::Mapped(file, range) => Self::Mapped(file, range.start + count..range.end),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(file, range) => &file[range.clone()],
        }
    }
}

/// Numbers that are not copied to be looked at.
#[derive(Debug)]
pub(crate) enum Floats {
    Owned(Vec<f32>),
    /// Bytes that `Floats::mapped` found to be aligned and a whole number of floats.
    Mapped(Bytes),
}

impl Floats {
    /// The bytes as numbers, or back, if they do not lie as this machine's floats do.
    pub(crate) fn mapped(bytes: Bytes) -> Result<Self, Bytes> {
        let fits = cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, f32>(&bytes).is_ok();
        if fits { Ok(Self::Mapped(bytes)) } else { Err(bytes) }
    }
}

impl Deref for Floats {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::Owned(values) => values,
            Self::Mapped(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}
