//! Blocks of samples in the form that rules read.

use crate::rule::Row;
use ndarray::s;
use rpo_core::{MatrixView, csr_row};
use std::ops::Range;

/// A block of consecutive rows of a matrix, each available as a [`Row`].
///
/// Contiguous dense rows are used in place; sparse rows are expanded into a buffer that stays zero elsewhere, so that
/// loading a block costs only its stored values.
#[derive(Debug)]
pub struct RowBlock<'a> {
    x: MatrixView<'a>,
    range: Range<usize>,
    buffer: Vec<f32>,
}

impl<'a> RowBlock<'a> {
    /// Bytes of expanded rows that keep a block inside a core's cache.
    const BYTES: usize = 512 << 10;

    /// Returns the number of rows of a block that fits into a core's cache.
    pub fn good_size(x: MatrixView<'_>) -> usize {
        (Self::BYTES / (size_of::<f32>() * x.n_cols().max(1))).clamp(1, 256)
    }

    /// Creates an empty block.
    pub fn new(x: MatrixView<'a>) -> Self {
        Self {
            x,
            range: 0..0,
            buffer: Vec::new(),
        }
    }

    /// Replaces the block by the given rows of the matrix.
    ///
    /// # Panics
    /// If the range goes past the last row.
    pub fn load(&mut self, range: Range<usize>) {
        let p = self.x.n_cols();
        assert!(range.end <= self.x.n_rows(), "rows of the matrix");
        match self.x {
            MatrixView::Dense(x) if x.is_standard_layout() => {}
            MatrixView::Dense(x) => {
                self.buffer.clear();
                self.buffer.extend(x.slice(s![range.clone(), ..]).iter());
            }
            MatrixView::Sparse(x) => {
                for (i, row) in self.range.clone().enumerate() {
                    let place = &mut self.buffer[i * p..][..p];
                    csr_row(&x, row).0.iter().for_each(|&j| place[j as usize] = 0.0);
                }
                self.buffer.resize(range.len() * p, 0.0);
                for (i, row) in range.clone().enumerate() {
                    let place = &mut self.buffer[i * p..][..p];
                    let (columns, values) = csr_row(&x, row);
                    columns
                        .iter()
                        .zip(values)
                        .for_each(|(&j, &v)| place[j as usize] = v);
                }
            }
        }
        self.range = range;
    }

    fn len(&self) -> usize {
        self.range.len()
    }

    /// Returns the values of the rows, row by row.
    pub fn values(&self) -> &[f32] {
        let p = self.x.n_cols();
        match &self.x {
            MatrixView::Dense(x) => match x.as_slice() {
                Some(all) => &all[self.range.start * p..self.range.end * p],
                None => &self.buffer[..self.len() * p],
            },
            MatrixView::Sparse(_) => &self.buffer[..self.len() * p],
        }
    }

    /// Returns the rows of the block.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let p = self.x.n_cols();
        let values = self.values();
        let row = |(i, row): (usize, usize)| Row {
            values: &values[i * p..][..p],
            stored: match &self.x {
                MatrixView::Dense(_) => None,
                MatrixView::Sparse(x) => Some(csr_row(x, row).0),
            },
        };
        self.range.clone().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn blocks_show_the_rows_in_every_layout() {
        let x = Array2::from_shape_fn(
            (7, 3),
            |(i, j)| if (i + j) % 2 == 0 { (i * 3 + j) as f32 } else { 0.0 },
        );
        let sparse = MatrixView::from(&x).to_csr();
        let columns_first = x.t().to_owned();
        for view in [
            (&x).into(),
            MatrixView::Dense(columns_first.t()),
            MatrixView::Sparse(sparse.view()),
        ] {
            let mut block = RowBlock::new(view);
            for range in [0..3, 3..4, 2..7, 0..0, 1..3] {
                block.load(range.clone());
                assert_eq!(block.len(), range.len());
                let seen: Vec<_> = block.rows().iter().map(|row| row.values.to_vec()).collect();
                let expected: Vec<_> = range.map(|i| x.row(i).to_vec()).collect();
                assert_eq!(block.values(), seen.concat());
                assert_eq!(seen, expected);
            }
        }
    }
}
