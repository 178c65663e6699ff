//! Means and standard deviations of columns.

use crate::builder::MatrixBuilder;
use crate::column_sums::{ColumnSums, column_sums};
use rpo_core::{Matrix, MatrixError, MatrixView};

/// The mean and 1 / sd of each column, of the observed values, with divisor n.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    /// 0 where values are left unchanged.
    pub(super) mean: Vec<f64>,
    /// 0 for a constant column, 1 where values are left unchanged.
    pub(super) factor: Vec<f64>,
}

impl Moments {
    /// Computes the moments of values of samples with these weights.
    pub(super) fn of(values: MatrixView<'_>, weights: Option<&[f32]>) -> Self {
        Self::of_sums(&column_sums(values, weights))
    }

    /// The moments of columns with these sums.
    pub(super) fn of_sums(columns: &[ColumnSums]) -> Self {
        let factor = |sums: &ColumnSums| match sums.varies() {
            true => (sums.weight / sums.squares).sqrt(),
            false => 0.0,
        };
        let (mean, factor) = columns.iter().map(|sums| (sums.mean, factor(sums))).unzip();
        Self { mean, factor }
    }

    /// Leaves the values of a column unchanged.
    pub(super) fn keep(&mut self, column: usize) {
        (self.mean[column], self.factor[column]) = (0.0, 1.0);
    }

    /// Number of columns whose zeros become other values.
    pub(super) fn n_shifted(&self) -> usize {
        self.mean.iter().filter(|mean| **mean != 0.0).count()
    }

    /// Returns true if all values are left unchanged.
    pub(super) fn keep_all(&self) -> bool {
        self.mean.iter().all(|mean| *mean == 0.0) && self.factor.iter().all(|factor| *factor == 1.0)
    }

    fn moved(&self, column: usize, value: f32) -> f32 {
        ((f64::from(value) - self.mean[column]) * self.factor[column]) as f32
    }

    /// Standardizes values; the result is dense and takes at most `memory_limit` bytes.
    pub(super) fn dense(&self, values: MatrixView<'_>, memory_limit: usize) -> Result<Matrix, MatrixError> {
        let mut dense = values.to_dense(memory_limit)?;
        for mut row in dense.rows_mut() {
            row.iter_mut()
                .enumerate()
                .for_each(|(j, v)| *v = self.moved(j, *v));
        }
        Ok(Matrix::Dense(dense))
    }

    /// Standardizes sparse values. A zero that is not stored becomes stored if the mean of its column is not 0.
    pub(super) fn sparse(&self, values: MatrixView<'_>) -> Matrix {
        let shifted = |j: &u32| self.mean[*j as usize] != 0.0;
        let shifted: Vec<u32> = (0..values.n_cols() as u32).filter(shifted).collect();
        let mut builder = MatrixBuilder::sparse(values.n_cols());
        for row in 0..values.n_rows() {
            let mut absent = shifted.iter().copied().peekable();
            let mut push = |j: u32, v: f32| builder.push(j, self.moved(j as usize, v));
            values.for_each_in_row(row, |j, v| {
                while let Some(before) = absent.next_if(|before| *before < j) {
                    push(before, 0.0);
                }
                absent.next_if_eq(&j);
                push(j, v);
            });
            absent.for_each(|j| push(j, 0.0));
            builder.end_row();
        }
        builder.finish()
    }
}
