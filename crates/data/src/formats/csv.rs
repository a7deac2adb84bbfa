//! Tables as text: fields apart by commas, tabs or semicolons, rows by line feeds, quotes where a field needs them.
//!
//! The first row names the columns, unless all of it is numbers; then they are called 1, 2, 3 and so on. Numbers are
//! read where they stand; anything else goes the slow way over [`Field`].

use super::{Format, has_extension};
use crate::table::number::{exact, is_missing, prefix};
use crate::table::{
    Assembly, Blocks, Ends, Fault, Piece, Request, Role, RowEnds, RowReader, SAMPLE, Schema, What, closing_quote,
    is_header, read_blocks, shown,
};
use crate::{Dataset, Error, Options, Part};
use std::borrow::Cow;
use std::path::Path;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    about: "a table as text, .csv or .tsv, plain or gzip: one row an example, one column its label",
    recognizes: |path| path.is_file() && has_extension(path, &["csv", "tsv", "tab"]),
    has_test: |_| false,
    self_contained: false,
    read,
};

fn read(path: &Path, _: Part, options: &Options) -> Result<Dataset, Error> {
    table(path, Request::Features, options)?.dataset(FORMAT.name, path, options)
}

/// The columns of the file that are asked for.
pub(crate) fn table(path: &Path, request: Request<'_>, options: &Options) -> Result<Assembly, Error> {
    let delimiter = delimiter(path, options)?;
    let mut blocks = Blocks::open(path, Ends::Quoted(delimiter), &options.limits)?;
    let first = blocks.next().map_err(|error| at_row(error, 1))?;
    let mut first = first.ok_or_else(|| Error::Empty { path: path.into() })?;
    let sample = sample(&first, delimiter).map_err(|row| Error::Quote { path: path.into(), row })?;
    let header = is_header(&sample[0].0, sample.get(1).map(|row| &*row.0), request, options);
    let names = names(path, &sample[0].0, header)?;
    let numeric = numeric(&sample[usize::from(header)..], names.len());
    let schema = Schema::new(path, names, &numeric, (request, options))?;
    let row_bytes = (sample[sample.len() - 1].1 / sample.len()).max(1);
    if header {
        first.drain(..sample[0].1);
    }
    let expected = crate::source::length(path)? as usize / row_bytes;
    let reader = Rows { roles: schema.roles.clone(), delimiter };
    let most = matches!(request, Request::Features).then_some(options.limits.categories);
    let assembly = Assembly::new(schema, expected.min(options.limits.rows), most);
    read_blocks(blocks, first, &reader, assembly, options)
}

fn at_row(error: Error, row: usize) -> Error {
    match error {
        Error::RowTooLong { path, limit, .. } => Error::RowTooLong { path, row, limit },
        other => other,
    }
}

/// The byte that stands between fields: by the name of the file, else the commonest in the first line.
fn delimiter(path: &Path, options: &Options) -> Result<u8, Error> {
    if has_extension(path, &["tsv", "tab"]) {
        return Ok(b'\t');
    }
    let mut start = Vec::new();
    let mut stream = crate::source::Stream::open(path, &options.limits)?;
    stream.read_up_to(1 << 16, &mut start).map_err(|source| crate::source::failure(path, source))?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |byte: u8| memchr::memchr_iter(byte, line).count();
    let [commas, tabs, semicolons] = [b',', b'\t', b';'].map(count);
    Ok(if tabs > commas.max(semicolons) {
        b'\t'
    } else if semicolons > commas {
        b';'
    } else {
        b','
    })
}

/// The fields of the first rows, each with where its row ends; the number of a row whose quote does not close.
type Sample = Vec<(Vec<Vec<u8>>, usize)>;

fn sample(block: &[u8], delimiter: u8) -> Result<Sample, usize> {
    let mut rows = Vec::new();
    let mut start = block.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let ends = RowEnds { text: block, at: start, delimiter }.chain([block.len()]);
    for end in ends.take(SAMPLE) {
        let (mut fields, mut at) = (Vec::new(), start);
        while at < end {
            let field = Field::at(block, at, delimiter).ok_or(rows.len())?;
            fields.push(field.text.into_owned());
            at = field.end + 1;
            if block.get(field.end) != Some(&delimiter) {
                break;
            }
        }
        if !fields.is_empty() {
            rows.push((fields, end));
        }
        start = end;
    }
    if rows.is_empty() { Err(0) } else { Ok(rows) }
}

fn names(path: &Path, first: &[Vec<u8>], header: bool) -> Result<Vec<String>, Error> {
    if !header {
        return Ok((1..=first.len()).map(|number| number.to_string()).collect());
    }
    let name = |(column, text): (usize, &Vec<u8>)| {
        let column = (column + 1).to_string();
        String::from_utf8(text.clone()).map_err(|_| Error::Utf8 { path: path.into(), row: 0, column })
    };
    first.iter().enumerate().map(name).collect()
}

/// Which columns hold nothing but numbers in the sample.
fn numeric(sample: &[(Vec<Vec<u8>>, usize)], columns: usize) -> Vec<bool> {
    let fits = |text: &Vec<u8>| is_missing(text) || exact(text).is_some();
    (0..columns).map(|column| sample.iter().all(|row| row.0.get(column).is_none_or(fits))).collect()
}

/// A field and where it ends: at a delimiter, at the end of its row, or at the end of the text.
struct Field<'a> {
    text: Cow<'a, [u8]>,
    end: usize,
}

impl<'a> Field<'a> {
    /// The field that begins at `start`; none if its quote does not close.
    fn at(text: &'a [u8], start: usize, delimiter: u8) -> Option<Self> {
        let ending = |from: usize| {
            let rest = &text[from..];
            from + memchr::memchr2(delimiter, b'\n', rest).unwrap_or(rest.len())
        };
        if text.get(start) != Some(&b'"') {
            let end = ending(start);
            return Some(Self { text: Cow::Borrowed(text[start..end].trim_ascii()), end });
        }
        let close = closing_quote(text, start)?;
        let inside = &text[start + 1..close];
        let text = if memchr::memchr(b'"', inside).is_none() {
            Cow::Borrowed(inside)
        } else {
            Cow::Owned(unquoted(inside))
        };
        Some(Self { text, end: ending(close + 1) })
    }
}

/// The text with two quotes become one.
fn unquoted(inside: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter();
    while let Some(&byte) = bytes.next() {
        text.push(byte);
        if byte == b'"' {
            bytes.next();
        }
    }
    text
}

/// Reads rows whose columns have these roles.
struct Rows {
    roles: Vec<Role>,
    delimiter: u8,
}

impl RowReader for Rows {
    fn read(&self, rows: &[u8], piece: &mut Piece) -> Result<(), Fault> {
        let mut at = 0;
        while at < rows.len() {
            if self.roles.len() > 1 && matches!(rows[at], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            let row = piece.seen;
            at = self.row(rows, at, piece).map_err(|what| Fault { row, what })?;
        }
        Ok(())
    }
}

impl Rows {
    /// Reads one row; gives where the next begins.
    fn row(&self, text: &[u8], mut at: usize, piece: &mut Piece) -> Result<usize, What> {
        let base = piece.begin();
        let last = self.roles.len() - 1;
        for (column, &role) in self.roles.iter().enumerate() {
            at = self.field(text, at, piece, (column, role, base))?;
            let more = text.get(at) == Some(&self.delimiter);
            if more != (column < last) {
                let found = column + 1 + if more { self.fields_after(text, at) } else { 0 };
                return Err(What::Ragged { expected: self.roles.len(), found });
            }
            at += 1;
        }
        piece.end();
        Ok(at)
    }

    /// Reads one field into its place; gives where it ends.
    fn field(
        &self,
        text: &[u8],
        at: usize,
        piece: &mut Piece,
        (column, role, base): (usize, Role, usize),
    ) -> Result<usize, What> {
        if let Role::Number(place) = role
            && let Some((value, length)) = prefix(&text[at.min(text.len())..])
            && text.get(at + length).is_none_or(|&byte| byte == self.delimiter || byte == b'\n')
        {
            piece.numbers[base + place] = value;
            return Ok(at + length);
        }
        let field = Field::at(text, at.min(text.len()), self.delimiter).ok_or(What::Quote)?;
        match role {
            Role::Number(place) => number(&field.text, piece, (column, base + place))?,
            Role::Category(place) => piece.category(place, column, &field.text)?,
            Role::Label => piece.label(column, &field.text)?,
            Role::Ignored => {}
        }
        Ok(field.end)
    }

    /// How many fields come after the delimiter at `at`.
    fn fields_after(&self, text: &[u8], mut at: usize) -> usize {
        let mut count = 0;
        while text.get(at) == Some(&self.delimiter) {
            count += 1;
            let Some(field) = Field::at(text, at + 1, self.delimiter) else { break };
            at = field.end;
        }
        count
    }
}

/// A number that is not plain: with spaces, in quotes, of many digits, or none at all.
fn number(text: &[u8], piece: &mut Piece, (column, place): (usize, usize)) -> Result<(), What> {
    let text = text.trim_ascii();
    if is_missing(text) {
        return piece.missing_number(column);
    }
    let value = exact(text).ok_or_else(|| What::Number(column, shown(text)))?;
    if !value.is_finite() {
        return Err(What::NotFinite(column, shown(text)));
    }
    piece.numbers[place] = value;
    Ok(())
}
