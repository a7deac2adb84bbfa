//! A plain matrix of `f64`, row by row.

/// Numbers in rows and columns: logits, probabilities, counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { columns, values: vec![0.0; rows * columns] }
    }

    /// A square matrix with ones on its diagonal.
    #[must_use]
    pub fn identity(size: usize) -> Self {
        Self::from_fn(size, size, |row, column| f64::from(u8::from(row == column)))
    }

    /// A matrix whose entries follow from their place.
    #[must_use]
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Self { columns, values: places.map(|(row, column)| entry(row, column)).collect() }
    }

    /// The values of a matrix with this many columns, row by row.
    ///
    /// # Panics
    /// If the values do not fill whole rows: a bug of the caller.
    #[must_use]
    pub fn from_vec(columns: usize, values: Vec<f64>) -> Self {
        assert!(
            columns > 0 && values.len().is_multiple_of(columns),
            "{} values in rows of {columns}",
            values.len()
        );
        Self { columns, values }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// How many columns there are.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Takes another shape, keeping the memory it has. What its entries are then is not said: they are to be written.
    pub fn reshape(&mut self, rows: usize, columns: usize) {
        self.columns = columns;
        self.values.resize(rows * columns, 0.0);
    }

    /// Takes another shape, keeping the memory it has, and is zero everywhere.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        self.reshape(rows, columns);
        self.values.fill(0.0);
    }

    /// Becomes a copy of another matrix, keeping the memory it has.
    pub fn copy_from(&mut self, other: &Self) {
        self.columns = other.columns;
        self.values.clone_from(&other.values);
    }

    /// One row.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// One row, to be written.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..][..self.columns]
    }

    /// Two different rows, to be written.
    ///
    /// # Panics
    /// If the rows are the same: a bug of the caller.
    #[inline]
    pub fn two_rows_mut(&mut self, first: usize, second: usize) -> (&mut [f64], &mut [f64]) {
        assert_ne!(first, second, "one row cannot be borrowed twice");
        let k = self.columns;
        let (low, high) = self.values.split_at_mut(first.max(second) * k);
        let (low, high) = (&mut low[first.min(second) * k..][..k], &mut high[..k]);
        if first < second { (low, high) } else { (high, low) }
    }

    /// The rows, first to last.
    #[must_use]
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// The rows, first to last, to be written.
    pub fn iter_rows_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [f64]> {
        self.values.chunks_exact_mut(self.columns.max(1))
    }

    /// All values, row by row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, row by row, to be written.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The matrix product.
    ///
    /// # Panics
    /// If the inner sizes differ: a bug of the caller.
    #[must_use]
    pub fn product(&self, right: &Self) -> Self {
        assert_eq!(self.columns, right.rows(), "inner sizes of a product");
        let mut product = Self::zeros(self.rows(), right.columns);
        for (row, left) in self.iter_rows().enumerate() {
            for (&weight, right) in left.iter().zip(right.iter_rows()) {
                for (sum, entry) in product.row_mut(row).iter_mut().zip(right) {
                    *sum += weight * entry;
                }
            }
        }
        product
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.rows(), |row, column| self[(column, row)])
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;

    #[inline]
    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.row(row)[column]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.row_mut(row)[column]
    }
}
