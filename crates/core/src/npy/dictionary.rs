//! The dictionary in the header of an array file, which Python wrote.

use super::Problem;

/// The three entries of the header, as far as they were given.
#[derive(Default)]
pub(super) struct Dictionary {
    pub(super) descr: Option<String>,
    pub(super) fortran_order: Option<bool>,
    pub(super) shape: Option<Vec<usize>>,
}

impl Dictionary {
    pub(super) fn parse(text: &[u8]) -> Result<Self, Problem> {
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
