//! The header of NumPy's array file, read with suspicion and written plainly.
//!
//! A file is `\x93NUMPY`, a version, the length of a Python dictionary, the dictionary (`descr`, `fortran_order`,
//! `shape`), then the elements. Only plain numbers are known here, and texts where they are labels: arrays of objects
//! are pickles, which run code when they are opened, and are refused by name. Nothing is allocated on the word of a
//! header.

mod dictionary;
mod element;

pub use element::{Element, Kind, Label, Text};

use dictionary::Dictionary;

const MAGIC: &[u8] = b"\x93NUMPY";
/// A longer dictionary than this describes something else than an array of numbers.
const LONGEST_DICTIONARY: usize = 1 << 16;

/// What a file of numbers says of itself.
pub type Header = HeaderOf<Element>;

/// What an array file says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderOf<K> {
    /// What one element is.
    pub element: K,
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
    #[error("row {row} is not a text")]
    NotText { row: usize },
    #[error("a length in the shape is negative")]
    Negative,
    #[error("the shape has more elements than a file can hold")]
    Overflow,
    #[error("the shape asks for {expected} bytes of numbers, the file has {found}")]
    Length { expected: usize, found: usize },
}

impl<K: Kind> HeaderOf<K> {
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
        let descr = dictionary.descr.ok_or(Problem::Missing("descr"))?;
        let (element, big_endian) = element::parse(&descr)?;
        let header = Self {
            element,
            big_endian,
            fortran_order: dictionary.fortran_order.ok_or(Problem::Missing("fortran_order"))?,
            shape: dictionary.shape.ok_or(Problem::Missing("shape"))?,
            start: begin + length,
        };
        header.bytes().map(|_| header)
    }

    /// The same of another kind of element.
    #[must_use]
    pub fn of<L>(&self, element: L) -> HeaderOf<L> {
        let Self { big_endian, fortran_order, start, .. } = *self;
        HeaderOf { element, big_endian, fortran_order, shape: self.shape.clone(), start }
    }

    /// How many bytes of elements follow the header.
    pub fn bytes(&self) -> Result<usize, Problem> {
        let product = self.shape.iter().try_fold(self.element.size(), |product, &n| product.checked_mul(n));
        product.filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or(Problem::Overflow)
    }

    /// The elements of a whole file, if they are exactly as many as the header says.
    pub fn data<'a>(&self, file: &'a [u8]) -> Result<&'a [u8], Problem> {
        let data = file.get(self.start..).unwrap_or_default();
        let expected = self.bytes()?;
        if data.len() == expected { Ok(data) } else { Err(Problem::Length { expected, found: data.len() }) }
    }
}

impl Header {
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

#[cfg(test)]
mod tests {
    use super::element::ELEMENTS;
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
    fn labels_may_be_texts_and_nothing_else() {
        let ends = "'fortran_order': False, 'shape': (3,)}";
        let header = |descr: &str| HeaderOf::<Label>::parse(&file(&format!("{{'descr': '{descr}', {ends}")));
        assert_eq!(header("<U5").map(|header| header.bytes()), Ok(Ok(60)));
        assert_eq!(header("|S5").map(|header| header.bytes()), Ok(Ok(15)));
        assert_eq!(header("<i8").map(|header| header.element), Ok(Label::Number(Element::I64)));
        assert_eq!(header("<M8[D]"), Err(Problem::Element("<M8[D]".into())));
        assert_eq!(header("<U9999999999999999999"), Err(Problem::Overflow));
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
            let _ = HeaderOf::<Label>::parse(&bytes);
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
