//! The header of NumPy's array file, read with suspicion and written plainly.
//!
//! A file is `\x93NUMPY`, a version, the length of a Python dictionary, the dictionary (`descr`, `fortran_order`,
//! `shape`), then the numbers. Only plain numbers are known here: arrays of objects are pickles, which run code when
//! they are opened, and are refused by name. Nothing is allocated on the word of a header.

const MAGIC: &[u8] = b"\x93NUMPY";
/// A longer dictionary than this describes something else than an array of numbers.
const LONGEST_DICTIONARY: usize = 1 << 16;

/// What one element of an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

/// NumPy's name of each element, without the byte order.
const ELEMENTS: [(&str, Element, usize); 12] = [
    ("b1", Element::Bool, 1),
    ("u1", Element::U8, 1),
    ("u2", Element::U16, 2),
    ("u4", Element::U32, 4),
    ("u8", Element::U64, 8),
    ("i1", Element::I8, 1),
    ("i2", Element::I16, 2),
    ("i4", Element::I32, 4),
    ("i8", Element::I64, 8),
    ("f2", Element::F16, 2),
    ("f4", Element::F32, 4),
    ("f8", Element::F64, 8),
];

impl Element {
    /// Bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        ELEMENTS.iter().find(|row| row.1 == self).map_or(0, |row| row.2)
    }

    /// NumPy's name of it, without the byte order.
    #[must_use]
    pub fn name(self) -> &'static str {
        ELEMENTS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }
}

/// What an array file says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What one element is.
    pub element: Element,
    /// Whether the bytes of an element stand in the order of another kind of machine.
    pub big_endian: bool,
    /// Whether the first index runs fastest.
    pub fortran_order: bool,
    /// Lengths of the dimensions; their product times the size of an element fits in memory's numbers.
    pub shape: Vec<usize>,
    /// Where the numbers begin in the file.
    pub start: usize,
}

/// Each way in which an array file can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Problem {
    #[error("not an npy file: it does not begin with \\x93NUMPY")]
    NotAnArray,
    #[error("npy version {0}.{1} is not known")]
    Version(u8, u8),
    #[error("the header ends at byte {found} of {expected}")]
    Truncated { expected: usize, found: usize },
    #[error("the header is {0} bytes long, more than an array of numbers needs")]
    TooLong(usize),
    #[error("the header is not a dictionary of descr, fortran_order and shape: at byte {0} of it")]
    NotADictionary(usize),
    #[error("the header has no `{0}`")]
    Missing(&'static str),
    #[error("an array of objects is a pickle, which can run code when opened")]
    Objects,
    #[error("a structured array has several kinds of element")]
    Structured,
    #[error("elements of type `{0}` are not numbers this program reads")]
    Element(String),
    #[error("a length in the shape is negative")]
    Negative,
    #[error("the shape has more elements than a file can hold")]
    Overflow,
    #[error("the shape asks for {expected} bytes of numbers, the file has {found}")]
    Length { expected: usize, found: usize },
}

impl Header {
    /// Reads the header at the start of `bytes`, which may be the whole file or its beginning.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        if !bytes.starts_with(MAGIC) {
            return Err(Problem::NotAnArray);
        }
        let byte = |at: usize| bytes.get(at).copied().ok_or(truncated(at + 1, bytes));
        let (major, minor) = (byte(6)?, byte(7)?);
        let (begin, length) = match major {
            1 => (10, usize::from(u16::from_le_bytes([byte(8)?, byte(9)?]))),
            2 | 3 => (12, u32::from_le_bytes([byte(8)?, byte(9)?, byte(10)?, byte(11)?]) as usize),
            _ => return Err(Problem::Version(major, minor)),
        };
        if length > LONGEST_DICTIONARY {
            return Err(Problem::TooLong(length));
        }
        let text = bytes.get(begin..begin + length).ok_or(truncated(begin + length, bytes))?;
        let dictionary = Dictionary::parse(text)?;
        let (element, big_endian) = dictionary.element()?;
        let header = Self {
            element,
            big_endian,
            fortran_order: dictionary.fortran_order.ok_or(Problem::Missing("fortran_order"))?,
            shape: dictionary.shape.ok_or(Problem::Missing("shape"))?,
            start: begin + length,
        };
        header.bytes().map(|_| header)
    }

    /// How many bytes of numbers follow the header.
    pub fn bytes(&self) -> Result<usize, Problem> {
        let product = self.shape.iter().try_fold(self.element.size(), |product, &n| product.checked_mul(n));
        product.filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or(Problem::Overflow)
    }

    /// The numbers of a whole file, if they are exactly as many as the header says.
    pub fn data<'a>(&self, file: &'a [u8]) -> Result<&'a [u8], Problem> {
        let data = file.get(self.start..).unwrap_or_default();
        let expected = self.bytes()?;
        if data.len() == expected { Ok(data) } else { Err(Problem::Length { expected, found: data.len() }) }
    }

    /// The bytes that stand before little-endian numbers in C order; their length is a multiple of 64.
    #[must_use]
    pub fn write(element: Element, shape: &[usize]) -> Vec<u8> {
        let order = if element.size() == 1 { '|' } else { '<' };
        let lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let lengths = if shape.len() > 1 { lengths.trim_end_matches(", ") } else { lengths.trim_end() };
        let name = element.name();
        let mut text =
            format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({lengths}), }}");
        let padding = 64 - (10 + text.len() + 1) % 64;
        text.extend(std::iter::repeat_n(' ', padding % 64));
        text.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }
}

fn truncated(expected: usize, bytes: &[u8]) -> Problem {
    Problem::Truncated { expected, found: bytes.len() }
}

/// The three entries of the header, as far as they were given.
#[derive(Default)]
struct Dictionary {
    descr: Option<String>,
    fortran_order: Option<bool>,
    shape: Option<Vec<usize>>,
}

impl Dictionary {
    fn parse(text: &[u8]) -> Result<Self, Problem> {
        let mut cursor = Cursor { text, at: 0 };
        let mut found = Self::default();
        cursor.expect(b'{')?;
        while !cursor.take(b'}') {
            let key = cursor.string()?;
            cursor.expect(b':')?;
            match key.as_str() {
                "descr" if cursor.peek() == Some(b'[') => return Err(Problem::Structured),
                "descr" => found.descr = Some(cursor.string()?),
                "fortran_order" => found.fortran_order = Some(cursor.boolean()?),
                "shape" => found.shape = Some(cursor.tuple()?),
                _ => return Err(cursor.wrong()),
            }
            if !cursor.take(b',') && cursor.peek() != Some(b'}') {
                return Err(cursor.wrong());
            }
        }
        Ok(found)
    }

    fn element(&self) -> Result<(Element, bool), Problem> {
        let descr = self.descr.as_deref().ok_or(Problem::Missing("descr"))?;
        let (order, name) = match descr.as_bytes().first() {
            Some(b'<' | b'|' | b'=') => (false, &descr[1..]),
            Some(b'>') => (true, &descr[1..]),
            _ => (false, descr),
        };
        let name = if name == "?" { "b1" } else { name };
        if name.starts_with('O') {
            return Err(Problem::Objects);
        }
        let known = ELEMENTS.iter().find(|row| row.0 == name);
        known.map(|row| (row.1, order)).ok_or_else(|| Problem::Element(descr.to_owned()))
    }
}

/// Where the reader of the dictionary stands.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.take(byte) { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> Problem {
        Problem::NotADictionary(self.at)
    }

    fn string(&mut self) -> Result<String, Problem> {
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"')).ok_or(self.wrong())?;
        let rest = &self.text[self.at + 1..];
        let length = rest.iter().position(|&byte| byte == quote).ok_or(self.wrong())?;
        let inside = std::str::from_utf8(&rest[..length]).map_err(|_| self.wrong())?;
        self.at += length + 2;
        Ok(inside.to_owned())
    }

    fn boolean(&mut self) -> Result<bool, Problem> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong())
    }

    fn tuple(&mut self) -> Result<Vec<usize>, Problem> {
        let mut lengths = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            lengths.push(self.number()?);
            if !self.take(b',') && self.peek() != Some(b')') {
                return Err(self.wrong());
            }
        }
        Ok(lengths)
    }

    fn number(&mut self) -> Result<usize, Problem> {
        match self.peek() {
            Some(b'-') => return Err(Problem::Negative),
            Some(b'0'..=b'9') => {}
            _ => return Err(self.wrong()),
        }
        let mut value = 0_usize;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            let next = value.checked_mul(10).and_then(|tens| tens.checked_add(usize::from(digit - b'0')));
            value = next.ok_or(Problem::Overflow)?;
            self.at += 1;
        }
        // Python 2 wrote long numbers with an L.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(dictionary: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((dictionary.len() as u16).to_le_bytes());
        bytes.extend(dictionary.as_bytes());
        bytes
    }

    fn refused(dictionary: &str) -> Problem {
        Header::parse(&file(dictionary)).unwrap_err()
    }

    #[test]
    fn a_header_as_numpy_writes_it_is_read() {
        let header =
            Header::parse(&file("{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4), }  \n")).unwrap();
        assert_eq!(header.element, Element::F32);
        assert!(header.big_endian && header.fortran_order);
        assert_eq!(header.shape, [3, 4]);
        assert_eq!(header.bytes(), Ok(48));
    }

    #[test]
    fn every_way_to_be_wrong_has_its_own_name() {
        let ends = "'fortran_order': False, 'shape': (2,)}";
        assert_eq!(refused(&format!("{{'descr': '|O', {ends}")), Problem::Objects);
        assert_eq!(refused(&format!("{{'descr': [('a', '<f4')], {ends}")), Problem::Structured);
        assert_eq!(refused(&format!("{{'descr': '<U5', {ends}")), Problem::Element("<U5".into()));
        assert_eq!(refused(&format!("{{{ends}")), Problem::Missing("descr"));
        let start = "{'descr': '<f8', 'fortran_order': False";
        assert_eq!(refused(&format!("{start}}}")), Problem::Missing("shape"));
        assert_eq!(refused(&format!("{start}, 'shape': (-1, 2)}}")), Problem::Negative);
        assert_eq!(refused(&format!("{start}, 'shape': ({0}, {0})}}", 1_u64 << 40)), Problem::Overflow);
        assert_eq!(refused(&format!("{start}, 'shape': (1{})}}", "0".repeat(40))), Problem::Overflow);
        assert!(matches!(refused("[1, 2]"), Problem::NotADictionary(0)));
        assert_eq!(Header::parse(b"PK\x03\x04").unwrap_err(), Problem::NotAnArray);
        assert_eq!(Header::parse(b"\x93NUMPY\x09\x00\0\0").unwrap_err(), Problem::Version(9, 0));
        assert_eq!(
            Header::parse(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f").unwrap_err(),
            Problem::TooLong(0x7fff_ffff)
        );
    }

    #[test]
    fn a_file_of_another_length_is_refused() {
        let mut bytes = Header::write(Element::F64, &[2, 2]);
        let header = Header::parse(&bytes).unwrap();
        bytes.extend([0; 31]);
        assert_eq!(header.data(&bytes), Err(Problem::Length { expected: 32, found: 31 }));
        bytes.push(0);
        assert_eq!(header.data(&bytes).map(<[u8]>::len), Ok(32));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(shape in prop::collection::vec(0_usize..1000, 0..5), kind in 0..ELEMENTS.len()) {
            let bytes = Header::write(ELEMENTS[kind].1, &shape);
            let header = Header::parse(&bytes).unwrap();
            prop_assert_eq!(bytes.len() % 64, 0);
            prop_assert_eq!(header.shape, shape);
            prop_assert_eq!(header.element, ELEMENTS[kind].1);
            prop_assert_eq!(header.start, bytes.len());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..128) {
            let _ = Header::parse(&bytes);
            let mut whole = Header::write(Element::U8, &[7, 8, 9]);
            for (at, byte) in bytes.iter().take(4).enumerate() {
                let at = (cut + at * 31) % whole.len();
                whole[at] = *byte;
            }
            let _ = Header::parse(&whole[..cut.min(whole.len())]);
            let _ = Header::parse(&whole);
        }
    }
}
