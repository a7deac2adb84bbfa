//! What one element of an array can be.

use super::Problem;

/// A kind of element, or several that a reader can do with.
pub trait Kind: Copy {
    /// What NumPy calls `name`, which stands behind the byte order.
    fn named(name: &str) -> Option<Self>;

    /// Bytes of one element.
    fn size(self) -> usize;
}

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
pub(super) const ELEMENTS: [(&str, Element, usize); 12] = [
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

impl Kind for Element {
    fn named(name: &str) -> Option<Self> {
        let name = if name == "?" { "b1" } else { name };
        ELEMENTS.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    fn size(self) -> usize {
        Self::size(self)
    }
}

/// A text, which has the same room whatever its length: what is left is filled with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    characters: usize,
    /// Whether each character is a number of 32 bits (`U`), and not a byte (`S`).
    is_wide: bool,
}

impl Text {
    /// The text in the bytes of one element; nothing if it is none.
    #[must_use]
    pub fn read(self, bytes: &[u8], big_endian: bool) -> Option<String> {
        if !self.is_wide {
            let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            return std::str::from_utf8(&bytes[..end]).ok().map(str::to_owned);
        }
        let number = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        let letters = bytes.as_chunks().0.iter().map(|&four| char::from_u32(number(four)));
        let text: String = letters.collect::<Option<_>>()?;
        Some(text.trim_end_matches('\0').to_owned())
    }
}

impl Kind for Text {
    fn named(name: &str) -> Option<Self> {
        let (is_wide, length) = match name.split_at_checked(1)? {
            ("U", length) => (true, length),
            ("S", length) => (false, length),
            _ => return None,
        };
        Some(Self { characters: length.parse().ok()?, is_wide })
    }

    fn size(self) -> usize {
        self.characters.saturating_mul(if self.is_wide { 4 } else { 1 })
    }
}

/// What a label can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Label {
    Number(Element),
    Text(Text),
}

impl Kind for Label {
    fn named(name: &str) -> Option<Self> {
        Element::named(name).map(Self::Number).or_else(|| Text::named(name).map(Self::Text))
    }

    fn size(self) -> usize {
        match self {
            Self::Number(element) => element.size(),
            Self::Text(text) => text.size(),
        }
    }
}

/// The kind that is called so, and whether its bytes stand in the order of another kind of machine.
pub(super) fn parse<K: Kind>(descr: &str) -> Result<(K, bool), Problem> {
    let (big_endian, name) = match descr.as_bytes().first() {
        Some(b'<' | b'|' | b'=') => (false, &descr[1..]),
        Some(b'>') => (true, &descr[1..]),
        _ => (false, descr),
    };
    if name.starts_with('O') {
        return Err(Problem::Objects);
    }
    let kind = K::named(name).ok_or_else(|| Problem::Element(descr.to_owned()))?;
    Ok((kind, big_endian))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_both_kinds_are_read_without_what_fills_them() {
        let wide = Text::named("U4").unwrap();
        assert_eq!(wide.size(), 16);
        let bytes: Vec<u8> = "dö京\0".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
        assert_eq!(wide.read(&bytes, false).as_deref(), Some("dö京"));
        let swapped: Vec<u8> =
            bytes.as_chunks::<4>().0.iter().flat_map(|four| four.iter().rev().copied()).collect();
        assert_eq!(wide.read(&swapped, true).as_deref(), Some("dö京"));
        assert_eq!(wide.read(&[0; 16], false).as_deref(), Some(""));
        assert_eq!(wide.read(&[0xff; 16], false), None);
        let narrow = Text::named("S3").unwrap();
        assert_eq!((narrow.size(), narrow.read(b"ab\0", false).as_deref()), (3, Some("ab")));
        assert_eq!(narrow.read(b"\xff\xfe\0", false), None);
        assert_eq!(Text::named("U"), None);
        assert_eq!(Text::named("f4"), None);
    }

    #[test]
    fn a_text_longer_than_memory_has_a_size_that_is_refused() {
        let text = Text::named(&format!("U{}", usize::MAX)).unwrap();
        assert_eq!(text.size(), usize::MAX);
    }
}
