//! A column of texts, each text kept once.

use std::collections::HashMap;

/// The code of a value that is not there.
pub(crate) const MISSING: u32 = u32::MAX;

/// A number for each row, and the text each number stands for, in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codes {
    pub(crate) rows: Vec<u32>,
    pub(crate) values: Vec<String>,
    index: HashMap<Box<[u8]>, u32>,
}

impl Codes {
    /// Appends a text; none if it is not UTF-8.
    pub(crate) fn push(&mut self, text: &[u8]) -> Option<()> {
        let code = match self.index.get(text) {
            Some(&code) => code,
            None => self.intern(std::str::from_utf8(text).ok()?),
        };
        self.rows.push(code);
        Some(())
    }

    /// Appends a value that is not there.
    pub(crate) fn push_missing(&mut self) {
        self.rows.push(MISSING);
    }

    /// Appends the rows of another column.
    pub(crate) fn append(&mut self, other: &Self) {
        let known: Vec<u32> = other
            .values
            .iter()
            .map(|text| self.index.get(text.as_bytes()).copied().unwrap_or_else(|| self.intern(text)))
            .collect();
        self.rows.extend(other.rows.iter().map(|&code| known.get(code as usize).copied().unwrap_or(MISSING)));
    }

    fn intern(&mut self, text: &str) -> u32 {
        let code = self.values.len() as u32;
        self.values.push(text.to_owned());
        self.index.insert(text.as_bytes().into(), code);
        code
    }

    /// The text of a row.
    pub(crate) fn text(&self, row: usize) -> Option<&str> {
        self.values.get(self.rows[row] as usize).map(String::as_str)
    }

    /// Renumbers the texts in lexicographic order.
    pub(crate) fn sorted(mut self) -> Self {
        let mut order: Vec<u32> = (0..self.values.len() as u32).collect();
        order.sort_by(|&a, &b| self.values[a as usize].cmp(&self.values[b as usize]));
        let mut rank = vec![0; order.len()];
        for (place, &code) in order.iter().enumerate() {
            rank[code as usize] = place as u32;
        }
        for code in &mut self.rows {
            *code = rank.get(*code as usize).copied().unwrap_or(MISSING);
        }
        self.values.sort_unstable();
        self.index.clear();
        self
    }
}
