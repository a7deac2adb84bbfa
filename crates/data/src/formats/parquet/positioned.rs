//! A file that many columns read from at once.
//!
//! The `parquet` crate reads a plain file through its one position, which workers would move under each other. Here
//! every read says where it reads.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// A file without a position.
#[derive(Clone)]
pub(super) struct Positioned {
    file: Arc<File>,
    length: u64,
}

impl Positioned {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<Reader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        // The headers of pages are read so, and are short.
        Ok(BufReader::with_capacity(1 << 10, Reader { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.length);
        if end.is_none() {
            return Err(ParquetError::EOF(format!("{length} bytes from byte {start} of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        Reader { file: Arc::clone(&self.file), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads on from a place of its own.
pub(super) struct Reader {
    file: Arc<File>,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
