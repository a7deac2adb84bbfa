//! Opening files: plain or compressed, whole or as a stream, never more than was allowed.

use crate::{Error, Limits};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

/// Deflate makes at most this many bytes of one.
const GREATEST_EXPANSION: u64 = 1032;

/// Opens a file, and refuses a folder by the same words on every system.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    let about = file.metadata().map_err(|source| Error::io(path, source))?;
    if about.is_dir() {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(Error::Read { path: path.into(), source });
    }
    Ok(file)
}

/// How long the file is.
pub(crate) fn length(path: &Path) -> Result<u64, Error> {
    std::fs::metadata(path).map(|about| about.len()).map_err(|source| Error::io(path, source))
}

/// A file to be read from its beginning to its end, decompressed if it is gzip.
pub(crate) struct Stream {
    reader: Box<dyn Read + Send>,
    /// More than this many bytes cannot come, whatever a header in the file claims.
    pub(crate) at_most: u64,
    /// Whether the bytes are those of the file, which could be mapped as well.
    pub(crate) is_plain: bool,
}

impl Stream {
    /// Opens the file; gzip is known by its first bytes, not by its name.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Self, Error> {
        let failed = |source| Error::io(path, source);
        let mut file = open(path)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut magic = Vec::new();
        (&mut file).take(2).read_to_end(&mut magic).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        if magic != [0x1f, 0x8b] {
            return Ok(Self { reader: Box::new(file), at_most: length, is_plain: true });
        }
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(1 << 18, file));
        let limit = limits.decompressed;
        let at_most = length.saturating_mul(GREATEST_EXPANSION).min(limit);
        Ok(Self { reader: Box::new(Limited { decoder, left: limit, limit }), at_most, is_plain: false })
    }

    /// The next `expected` bytes, or as many as there are, appended to `bytes`.
    pub(crate) fn read_up_to(&mut self, expected: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
        bytes.reserve_exact(usize::try_from(expected.min(self.at_most)).unwrap_or(0));
        (&mut self.reader).take(expected).read_to_end(bytes).map(|count| count as u64)
    }

    /// Whether nothing is left.
    pub(crate) fn is_at_end(&mut self) -> io::Result<bool> {
        let mut one = [0];
        Ok(self.reader.read(&mut one)? == 0)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// The whole file as text or bytes, for files that are small by nature.
pub(crate) fn whole(path: &Path, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut stream = Stream::open(path, limits)?;
    let mut bytes = Vec::new();
    stream
        .read_up_to(stream.at_most.saturating_add(1), &mut bytes)
        .map_err(|source| failure(path, source))?;
    Ok(bytes)
}

/// What went wrong while a stream was read.
pub(crate) fn failure(path: &Path, source: io::Error) -> Error {
    if let Some(Exceeded(limit)) = source.get_ref().and_then(|inner| inner.downcast_ref()) {
        return Error::Expands { path: path.into(), limit: *limit };
    }
    match source.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            Error::Compressed { path: path.into(), source }
        }
        _ => Error::io(path, source),
    }
}

/// More came out of a compressed file than was allowed.
#[derive(Debug, thiserror::Error)]
#[error("more than {0} bytes")]
struct Exceeded(u64);

/// A decoder that stops at a limit with an error of its own.
struct Limited<R> {
    decoder: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.left =
            self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other(Exceeded(self.limit)))?;
        Ok(count)
    }
}
