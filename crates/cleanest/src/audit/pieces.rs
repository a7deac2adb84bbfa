//! Probabilities and labels that lie in the memory of another program, and are not copied.

use std::ops::Range;

/// Probabilities that follow one another.
#[derive(Clone, Copy, Debug)]
pub enum Floats<'a> {
    /// Of 32 bits.
    F32(&'a [f32]),
    /// Of 64 bits.
    F64(&'a [f64]),
}

/// Labels that follow one another.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Integers<'a> {
    U32(&'a [u32]),
    I32(&'a [i32]),
    I64(&'a [i64]),
}

/// A table in pieces: those of the probabilities are whole rows, those of the labels may be cut elsewhere.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    classes: usize,
    values: Vec<(usize, Floats<'a>)>,
    labels: Vec<(usize, Integers<'a>)>,
    rows: usize,
}

impl Floats<'_> {
    /// How many numbers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Integers<'_> {
    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U32(labels) => labels.len(),
            Self::I32(labels) => labels.len(),
            Self::I64(labels) => labels.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first that is not one of so many classes, with its place.
    #[must_use]
    pub fn stranger(&self, classes: usize) -> Option<(usize, i64)> {
        let wide: &dyn Fn(usize) -> i64 = match self {
            Self::U32(labels) => &|at| i64::from(labels[at]),
            Self::I32(labels) => &|at| i64::from(labels[at]),
            Self::I64(labels) => &|at| labels[at],
        };
        // One comparison for all of them; which one it was is looked for only if there is one.
        let (signed, long) = (i32::try_from(classes).unwrap_or(i32::MAX), classes as i64);
        let strangers = match self {
            Self::U32(labels) => labels.iter().filter(|&&label| i64::from(label) >= long).count(),
            Self::I32(labels) => labels.iter().filter(|&&label| label < 0 || label >= signed).count(),
            Self::I64(labels) => labels.iter().filter(|&&label| label < 0 || label >= long).count(),
        };
        if strangers == 0 {
            return None;
        }
        (0..self.len()).map(|at| (at, wide(at))).find(|(_, label)| !(0..long).contains(label))
    }

    /// Some of them, behind those that are in `to`.
    fn append(&self, range: Range<usize>, to: &mut Vec<u32>) {
        match self {
            Self::U32(labels) => to.extend_from_slice(&labels[range]),
            Self::I32(labels) => to.extend(labels[range].iter().map(|&label| label as u32)),
            Self::I64(labels) => to.extend(labels[range].iter().map(|&label| label as u32)),
        }
    }
}

impl<'a> Pieces<'a> {
    /// Rows of `classes` probabilities, and a label below `classes` for each.
    ///
    /// # Panics
    /// If a piece is not whole rows, or there is not a label for each: both are checked where they come from.
    #[must_use]
    pub fn new(classes: usize, values: Vec<Floats<'a>>, labels: Vec<Integers<'a>>) -> Self {
        assert!(values.iter().all(|piece| piece.len().is_multiple_of(classes)), "pieces of whole rows");
        let (values, rows) = counted(values, |piece| piece.len() / classes);
        let (labels, given) = counted(labels, Integers::len);
        assert_eq!(rows, given, "a label for each row");
        Self { classes, values, labels, rows }
    }

    /// How many examples there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many classes there are.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Ranges of at most so many rows, none of which is in two pieces.
    pub(super) fn parts(&self, most: usize) -> Vec<Range<usize>> {
        let whole = self.values.iter().map(|(first, piece)| *first..first + piece.len() / self.classes);
        let cut = |piece: Range<usize>| {
            piece.clone().step_by(most).map(move |first| first..piece.end.min(first + most))
        };
        whole.flat_map(cut).collect()
    }

    /// The probabilities of some rows of one piece.
    pub(super) fn values(&self, part: &Range<usize>) -> Floats<'a> {
        let (first, piece) = self.values[place(&self.values, part.start)];
        let range = (part.start - first) * self.classes..(part.end - first) * self.classes;
        match piece {
            Floats::F32(values) => Floats::F32(&values[range]),
            Floats::F64(values) => Floats::F64(&values[range]),
        }
    }

    /// The labels of some rows, written over `labels`.
    pub(super) fn read_labels(&self, part: &Range<usize>, labels: &mut Vec<u32>) {
        labels.clear();
        let from = place(&self.labels, part.start);
        for (first, piece) in self.labels[from..].iter().take_while(|(first, _)| *first < part.end) {
            let range = part.start.max(*first) - first..part.end.min(first + piece.len()) - first;
            piece.append(range, labels);
        }
    }
}

/// Each piece with the row it begins with; those without rows are left out.
fn counted<T>(pieces: Vec<T>, rows: impl Fn(&T) -> usize) -> (Vec<(usize, T)>, usize) {
    let (mut first, mut counted) = (0, Vec::with_capacity(pieces.len()));
    for piece in pieces {
        let rows = rows(&piece);
        if rows > 0 {
            counted.push((first, piece));
            first += rows;
        }
    }
    (counted, first)
}

/// Which piece a row is in.
fn place<T>(pieces: &[(usize, T)], row: usize) -> usize {
    pieces.partition_point(|(first, _)| *first <= row) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_are_cut_apart_are_read_like_one() {
        let values = [0.5_f32; 10];
        let pieces = Pieces::new(
            2,
            vec![Floats::F32(&values[..4]), Floats::F32(&[]), Floats::F32(&values[4..])],
            vec![Integers::I64(&[0, 1, 0]), Integers::U32(&[1]), Integers::I32(&[0])],
        );
        assert_eq!(pieces.rows(), 5);
        assert_eq!(pieces.parts(2), [0..2, 2..4, 4..5]);
        let mut labels = Vec::new();
        pieces.read_labels(&(1..5), &mut labels);
        assert_eq!(labels, [1, 0, 1, 0]);
        assert_eq!(pieces.values(&(2..4)).len(), 4);
    }

    #[test]
    fn the_first_label_that_is_no_class_is_found() {
        assert_eq!(Integers::I64(&[0, 2, -1, 9]).stranger(3), Some((2, -1)));
        assert_eq!(Integers::I64(&[0, 2]).stranger(3), None);
        assert_eq!(Integers::U32(&[0, 3]).stranger(3), Some((1, 3)));
        assert_eq!(Integers::I32(&[-5]).stranger(3), Some((0, -5)));
    }
}
