//! A long text cut into blocks of whole rows, so that many workers can read it at once.

use crate::source::{self, Stream};
use crate::{Error, Limits};
use std::path::{Path, PathBuf};

/// Bytes read at a time.
const BLOCK: usize = 2 << 20;
/// Bytes a worker takes at a time.
const PIECE: usize = 128 << 10;

/// Where rows end in a kind of text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ends {
    /// At every line feed.
    Lines,
    /// At every line feed outside of quotes; fields are apart by this byte.
    Quoted(u8),
}

/// The rows of a file, a block at a time.
pub(crate) struct Blocks {
    path: PathBuf,
    stream: Stream,
    ends: Ends,
    longest_row: usize,
    /// What was read beyond the last whole row.
    rest: Vec<u8>,
    finished: bool,
}

impl Blocks {
    /// Opens the file; a byte order mark at its start is passed over.
    pub(crate) fn open(path: &Path, ends: Ends, limits: &Limits) -> Result<Self, Error> {
        let mut stream = Stream::open(path, limits)?;
        let mut rest = Vec::new();
        stream.read_up_to(3, &mut rest).map_err(|source| source::failure(path, source))?;
        if rest == [0xEF, 0xBB, 0xBF] {
            rest.clear();
        }
        Ok(Self { path: path.into(), stream, ends, longest_row: limits.row_bytes, rest, finished: false })
    }

    /// The next whole rows; none at the end. A row that is too long is reported as row 0.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut block = std::mem::take(&mut self.rest);
        while !self.finished {
            let before = block.len();
            let read = self.stream.read_up_to(BLOCK as u64, &mut block);
            let read = read.map_err(|source| source::failure(&self.path, source))?;
            self.finished = read < BLOCK as u64;
            let end = if self.finished { None } else { self.last_end(&block, before) };
            if let Some(end) = end {
                self.rest = block.split_off(end);
                break;
            }
            if !self.finished && block.len() > self.longest_row {
                return Err(Error::RowTooLong { path: self.path.clone(), row: 0, limit: self.longest_row });
            }
        }
        if self.finished && self.rest.is_empty() {
            let end =
                block.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
            block.truncate(end);
        }
        Ok(Some(block).filter(|block| !block.is_empty()))
    }

    /// Where the last whole row of the block ends; the bytes before `searched` hold no end outside of quotes.
    fn last_end(&self, block: &[u8], searched: usize) -> Option<usize> {
        match self.ends {
            Ends::Quoted(delimiter) if memchr::memchr(b'"', block).is_some() => {
                RowEnds { text: block, at: 0, delimiter }.last()
            }
            _ => memchr::memrchr(b'\n', &block[searched..]).map(|at| searched + at + 1),
        }
    }

    /// The block in pieces of whole rows.
    pub(crate) fn split<'a>(&self, block: &'a [u8]) -> Vec<&'a [u8]> {
        split(self.ends, block)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn split(ends: Ends, block: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut cut = |end: usize| {
        if end - start >= PIECE {
            pieces.push(&block[start..end]);
            start = end;
        }
    };
    match ends {
        Ends::Quoted(delimiter) if memchr::memchr(b'"', block).is_some() => {
            RowEnds { text: block, at: 0, delimiter }.for_each(cut);
        }
        _ => {
            let mut at = PIECE;
            while let Some(line) = block.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
                cut(at + line + 1);
                at += line + 1 + PIECE;
            }
        }
    }
    if start < block.len() {
        pieces.push(&block[start..]);
    }
    pieces
}

/// Where rows end in text with quotes; each end is one past the line feed.
pub(crate) struct RowEnds<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
    pub(crate) delimiter: u8,
}

impl Iterator for RowEnds<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            if self.text.get(self.at) == Some(&b'"') {
                self.at = closing_quote(self.text, self.at)? + 1;
            }
            let rest = self.text.get(self.at..)?;
            let found = memchr::memchr2(self.delimiter, b'\n', rest)?;
            self.at += found + 1;
            if rest[found] == b'\n' {
                return Some(self.at);
            }
        }
    }
}

/// Where the quote that opens at `start` closes; two quotes stand for one inside.
pub(crate) fn closing_quote(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr(b'"', text.get(at..)?)?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}
