//! The rows that k-means clusters.

use super::images::Images;
use super::{Geometry, length};
use crate::error::TreeError;
use rpo_core::{MatrixError, MatrixView, Mismatch, ParameterError, WeightError, csr_row};

/// Rows to be clustered: only stored values, with the occurring columns renumbered.
///
/// With the renumbering, clustering few rows costs only what these rows store, whatever the number of columns.
#[derive(Debug, Clone)]
pub struct Points {
    /// Start of each row, and the end.
    pub(super) start: Vec<usize>,
    /// Renumbered columns in the given order; entries beyond the end are undefined.
    columns: Vec<u32>,
    values: Vec<f32>,
    pub(super) weights: Vec<f64>,
    /// Squared length of each row, or of its image.
    pub(super) squares: Vec<f64>,
    /// Square roots of `squares`, with 1 in place of 0.
    pub(super) lengths: Vec<f64>,
    /// The column of each number; entries beyond `n_names` are undefined.
    names: Vec<u32>,
    n_names: usize,
    /// Per column its number, or [`ABSENT`].
    numbers: Vec<u32>,
    /// Per number, the position where it was stored last: repeated columns of a row are summed.
    last: Vec<usize>,
    /// The map whose images of the rows are compared, if any.
    pub(super) images: Option<Images>,
}

const ABSENT: u32 = u32::MAX;

impl Points {
    /// Creates an empty set of rows with `n_columns` columns.
    pub(crate) fn new(n_columns: usize) -> Self {
        Self {
            start: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            weights: Vec::new(),
            squares: Vec::new(),
            lengths: Vec::new(),
            names: Vec::new(),
            n_names: 0,
            numbers: vec![ABSENT; n_columns],
            last: Vec::new(),
            images: None,
        }
    }

    /// Collects some rows of a matrix, scaled and weighted.
    pub(super) fn from_matrix(
        x: MatrixView<'_>,
        rows: impl IntoIterator<Item = usize>,
        scales: Option<&[f32]>,
        weights: Option<&[f32]>,
    ) -> Self {
        let mut points = Self::new(x.n_cols());
        for row in rows {
            points.push_row(x, row, scales, weights.map_or(1.0, |w| w[row]));
        }
        points
    }

    /// Appends a row of a matrix with the same number of columns, multiplied column by column by `scales`.
    ///
    /// # Panics
    /// If the row, one of its columns, or its scale does not exist.
    pub(super) fn push_row(&mut self, x: MatrixView<'_>, row: usize, scales: Option<&[f32]>, weight: f32) {
        let scale = |j: u32| scales.map_or(1.0, |s| s[j as usize]);
        match x {
            MatrixView::Dense(x) => {
                let entries = x.row(row);
                let entries = entries.iter().enumerate();
                self.push(entries.map(|(j, v)| (j as u32, v * scale(j as u32))), weight);
            }
            MatrixView::Sparse(x) => {
                let (columns, values) = csr_row(&x, row);
                self.push(
                    columns.iter().zip(values).map(|(&j, v)| (j, v * scale(j))),
                    weight,
                );
            }
        }
    }

    /// Makes room for rows with this many entries together, so that appending them copies nothing.
    pub fn reserve(&mut self, n_entries: usize) {
        let end = self.end() + n_entries;
        self.columns.resize(self.columns.len().max(end), 0);
        self.values.resize(self.values.len().max(end), 0.0);
    }

    /// Appends a row given by its values that may differ from zero, in any order; values of the same column are
    /// summed. Returns its squared length.
    ///
    /// # Panics
    /// If a column does not exist.
    pub fn push(&mut self, entries: impl Iterator<Item = (u32, f32)>, weight: f32) -> f64 {
        let Some(most) = entries.size_hint().1 else {
            return self.push(entries.collect::<Vec<_>>().into_iter(), weight);
        };
        let begin = self.end();
        let (mut end, mut n_names) = (begin, self.n_names);
        grow(&mut self.columns, end + most);
        grow(&mut self.values, end + most);
        grow(&mut self.names, n_names + most);
        grow(&mut self.last, n_names + most);
        let (columns, values) = (&mut self.columns[..], &mut self.values[..]);
        let (names, numbers, last) = (&mut self.names[..], &mut self.numbers[..], &mut self.last[..]);
        let (mut square, mut repeats) = (-0.0, false);
        for (column, value) in entries {
            if value == 0.0 {
                continue;
            }
            // Always written: whether a column occurs for the first time cannot be predicted.
            let number = &mut numbers[column as usize];
            let is_new = *number == ABSENT;
            *number = if is_new { n_names as u32 } else { *number };
            let number = *number;
            names[n_names] = column;
            n_names += usize::from(is_new);
            let last = &mut last[number as usize];
            if (begin..end).contains(last) && columns[*last] == number {
                values[*last] += value;
                repeats = true;
                continue;
            }
            *last = end;
            (columns[end], values[end]) = (number, value);
            square += f64::from(value) * f64::from(value);
            end += 1;
        }
        if repeats {
            let values = values[begin..end].iter();
            square = values.map(|&v| f64::from(v) * f64::from(v)).sum();
        }
        self.n_names = n_names;
        self.start.push(end);
        self.weights.push(weight.into());
        self.squares.push(square);
        self.lengths.push(length(square));
        square
    }

    /// Compares the rows by their images under a linear map, given by the entries of each column's image: distances,
    /// cosines and means are those of the images, at the cost of the rows. To be called after all rows were appended.
    ///
    /// # Panics
    /// If an entry is not below `n_components`.
    pub fn map<I: Iterator<Item = (u32, f32)>>(&mut self, n_components: usize, image: impl Fn(u32) -> I) {
        let mut images = Images::new(n_components);
        self.names().iter().for_each(|&column| images.push(image(column)));
        let mut buffer = Vec::new();
        for row in 0..self.len() {
            let (columns, values) = self.row(row);
            self.squares[row] = images.square(columns, values, &mut buffer);
            self.lengths[row] = length(self.squares[row]);
        }
        self.images = Some(images);
    }

    /// Removes the last row.
    pub fn pop(&mut self) {
        if self.weights.pop().is_some() {
            self.start.pop();
            self.squares.pop();
            self.lengths.pop();
        }
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.images = None;
        for &column in &self.names[..self.n_names] {
            self.numbers[column as usize] = ABSENT;
        }
        self.n_names = 0;
        self.start.truncate(1);
        self.weights.clear();
        self.squares.clear();
        self.lengths.clear();
    }

    /// Returns the [size](Geometry::size) of the products of a row with centres.
    #[inline]
    pub(super) fn size(&self, row: usize, geometry: Geometry) -> f64 {
        match geometry {
            Geometry::Euclidean => self.squares[row],
            Geometry::Spherical if self.squares[row] > 0.0 => self.lengths[row],
            Geometry::Spherical => 0.0,
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Number of columns.
    pub(super) fn n_columns(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the occurring columns, by their numbers.
    pub(super) fn names(&self) -> &[u32] {
        &self.names[..self.n_names]
    }

    /// Returns the end of the last row.
    fn end(&self) -> usize {
        self.start[self.len()]
    }

    /// Returns the number of a column among the occurring ones.
    pub(super) fn number(&self, column: usize) -> Option<usize> {
        let number = self.numbers[column];
        (number != ABSENT).then_some(number as usize)
    }

    /// Returns the renumbered columns of all entries, one row after the other.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns[..self.end()]
    }

    /// Returns the renumbered columns and the values of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.start[row]..self.start[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// Makes room for `n` numbers, and for as many again.
fn grow<T: Copy + Default>(numbers: &mut Vec<T>, n: usize) {
    if numbers.len() < n {
        numbers.resize(2 * n, T::default());
    }
}

/// Rejects a matrix, scales and weights that cannot be clustered.
pub(super) fn check(
    x: MatrixView<'_>,
    scales: Option<&[f32]>,
    weights: Option<&[f32]>,
) -> Result<(), TreeError> {
    x.check_csr("rows to cluster")?;
    let (rows, columns) = (x.n_rows(), x.n_cols());
    if rows == 0 || columns == 0 {
        return Err(TreeError::Empty { rows, columns });
    }
    if let Some(scales) = scales {
        Mismatch::check("scales for the columns", columns, scales.len())?;
        if let Some(bad) = scales.iter().find(|s| !s.is_finite()) {
            return Err(ParameterError::out_of_range("scales", bad, "finite").into());
        }
    }
    if let Some(weights) = weights {
        Mismatch::check("weights for the rows", rows, weights.len())?;
        WeightError::check(weights.iter().copied())?;
    }
    x.check_values(f32::is_finite).map_err(TreeError::NonFinite)?;
    scales.map_or(Ok(()), |scales| check_scaled(x, scales))
}

/// Rejects products of finite values and scales that are not finite.
fn check_scaled(x: MatrixView<'_>, scales: &[f32]) -> Result<(), TreeError> {
    for row in 0..x.n_rows() {
        let mut bad = None;
        x.for_each_in_row(row, |j, v| {
            let (column, value) = (j as usize, v * scales[j as usize]);
            if !value.is_finite() && bad.is_none() {
                bad = Some(MatrixError::NonFinite { row, column, value });
            }
        });
        bad.map_or(Ok(()), |bad| Err(TreeError::NonFinite(bad)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_columns_are_summed_and_rows_can_go() {
        let mut points = Points::new(10);
        for _ in 0..2 {
            assert_eq!(points.push([(7, 1.0), (2, 2.0), (7, -3.0)].into_iter(), 1.0), 8.0);
            assert_eq!(points.push([(2, 5.0), (4, 0.0)].into_iter(), 2.0), 25.0);
            assert_eq!(points.row(0), (&[0, 1][..], &[-2.0, 2.0][..]));
            assert_eq!(points.row(1), (&[1][..], &[5.0][..]));
            assert_eq!(points.names(), [7, 2]);
            points.pop();
            points.push([(2, 1.0), (9, 1.0)].into_iter(), 1.0);
            assert_eq!(points.row(1), (&[1, 2][..], &[1.0, 1.0][..]));
            assert_eq!(points.len(), 2);
            points.clear();
            assert_eq!(points.len(), 0);
        }
    }
}
