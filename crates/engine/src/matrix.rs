//! Numbers in rows: the logits of a batch and their gradient.

use crate::Error;

/// A row of numbers for every example, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// The matrix with these values, row after row.
    pub fn from_values(rows: usize, columns: usize, values: Vec<f32>) -> Result<Self, Error> {
        if values.len() == rows * columns {
            return Ok(Self { rows, columns, values });
        }
        let found = (values.len() / columns.max(1), columns);
        Err(Error::MatrixShape { what: "the values of a matrix", expected: (rows, columns), found })
    }

    /// How many examples there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers an example has.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers of one example.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// All numbers, row after row.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers, row after row, to be written.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Makes room for this many rows; does not allocate where there was room before.
    pub fn resize(&mut self, rows: usize, columns: usize) {
        self.values.resize(rows * columns, 0.0);
        (self.rows, self.columns) = (rows, columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_with_a_value_too_many_is_refused() {
        assert!(Matrix::from_values(2, 3, vec![0.0; 6]).is_ok());
        let error = Matrix::from_values(2, 3, vec![0.0; 7]).unwrap_err();
        assert!(error.to_string().contains("expected (2, 3)"), "{error}");
    }

    #[test]
    fn a_row_is_where_it_should_be() {
        let matrix = Matrix::from_values(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(matrix.row(1), [3.0, 4.0]);
    }
}
