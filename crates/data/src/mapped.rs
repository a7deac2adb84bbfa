//! A file as memory, read by the system when it is looked at.
#![allow(unsafe_code)]

use std::fs::File;
use std::ops::Deref;

/// The bytes of a file, mapped and never written.
#[derive(Debug)]
pub(crate) struct Mapped(memmap2::Mmap);

impl Mapped {
    /// Maps the whole file.
    pub(crate) fn new(file: &File) -> std::io::Result<Self> {
        // SAFETY: the map is read-only and private to this type, which hands out plain bytes: every pattern of them
        // is valid. What cannot be excluded is that another program changes the file meanwhile: bytes that change
        // make wrong numbers, and a file cut short ends the process with a bus error. It is the risk of every
        // program that maps its input; docs/decisions/0020 weighs it against holding the file in memory twice.
        unsafe { memmap2::Mmap::map(file) }.map(Self)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
