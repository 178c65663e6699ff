//! Training outputs with their weights, by sample and by output.

use super::form::target_bytes;
use crate::boosting::resolved::Resolved;
use crate::error::EnsembleError;
use ndarray::{Array2, ArrayView2, Axis, s};
use rpo_core::{CsrMatrix, MatrixView, check_dense, csr_row};
use std::ops::Range;
use std::sync::OnceLock;

/// One output (n x 1) and the weights of its cells.
pub(in crate::boosting) type Column = (Array2<f32>, Option<Array2<f32>>);

/// Training outputs (n x d), NaN where missing, with a weight per sample and optionally one per cell.
#[derive(Debug)]
pub(in crate::boosting) struct Outputs<'a> {
    pub(in crate::boosting) y: MatrixView<'a>,
    /// Weights c, one per sample.
    pub(in crate::boosting) weights: &'a [f32],
    /// Weights u, one per cell.
    cells: Option<ArrayView2<'a, f32>>,
    /// Sparse outputs, stored by column.
    by_column: Option<CsrMatrix>,
    /// True if an output is missing.
    has_missing: bool,
    /// True if no cell has a weight other than 1.
    has_equal_cells: bool,
    /// See [`Self::mean_weights`].
    mean_weights: OnceLock<Vec<f32>>,
    total_weight: f64,
    n_weighted: usize,
}

impl<'a> Outputs<'a> {
    pub(in crate::boosting) fn new(
        y: MatrixView<'a>,
        weights: &'a [f32],
        cells: Option<ArrayView2<'a, f32>>,
    ) -> Self {
        let (by_column, has_missing) = match y {
            MatrixView::Dense(y) => (None, y.iter().any(|v| v.is_nan())),
            MatrixView::Sparse(y) => (
                Some(y.transpose_view().to_csr()),
                y.data().iter().any(|v| v.is_nan()),
            ),
        };
        Self {
            y,
            weights,
            cells,
            by_column,
            has_missing,
            has_equal_cells: cells.is_none_or(|u| u.iter().all(|u| *u == 1.0)),
            mean_weights: OnceLock::new(),
            total_weight: weights.iter().map(|&c| f64::from(c)).sum(),
            n_weighted: weights.iter().filter(|c| **c > 0.0).count(),
        }
    }

    pub(in crate::boosting) fn n_rows(&self) -> usize {
        self.y.n_rows()
    }

    pub(in crate::boosting) fn n_outputs(&self) -> usize {
        self.y.n_cols()
    }

    /// Returns true if all outputs of a sample have the same weight, because none is missing and cells have no weights.
    pub(in crate::boosting) fn is_complete(&self) -> bool {
        self.cells.is_none() && !self.has_missing
    }

    /// Returns true if every output of every sample is observed, with weight 1.
    pub(in crate::boosting) fn counts_all(&self) -> bool {
        self.has_equal_cells && !self.has_missing
    }

    /// Copies the outputs of some samples, row after row, and the weights u of their cells, 0 for missing outputs.
    /// Weights are not written if outputs are [complete](Self::is_complete).
    pub(in crate::boosting) fn copy_rows(&self, rows: Range<usize>, y: &mut [f64], cells: &mut [f64]) {
        let d = self.n_outputs();
        match self.y {
            MatrixView::Dense(a) => {
                let values = a.slice_move(s![rows.clone(), ..]);
                widen(values, y);
            }
            MatrixView::Sparse(a) => {
                y.fill(0.0);
                for (row, y) in rows.clone().zip(y.chunks_exact_mut(d)) {
                    let (columns, values) = csr_row(&a, row);
                    let stored = columns.iter().zip(values);
                    stored.for_each(|(&j, &v)| y[j as usize] = f64::from(v));
                }
            }
        }
        if self.is_complete() {
            return;
        }
        match self.cells {
            None => cells.fill(1.0),
            Some(u) => widen(u.slice_move(s![rows, ..]), cells),
        }
        if self.has_missing {
            for (y, cell) in y.iter_mut().zip(cells) {
                if y.is_nan() {
                    (*y, *cell) = (0.0, 0.0);
                }
            }
        }
    }

    /// Returns the mean weight of the cells of each sample; nothing if all are 1.
    pub(in crate::boosting) fn mean_weights(&self) -> &[f32] {
        self.mean_weights.get_or_init(|| {
            if self.counts_all() {
                return Vec::new();
            }
            let d = self.n_outputs();
            let (mut y, mut cells) = (vec![0.0; d], vec![1.0; d]);
            let means = (0..self.n_rows()).map(|row| {
                self.copy_rows(row..row + 1, &mut y, &mut cells);
                (cells.iter().sum::<f64>() / d as f64) as f32
            });
            means.collect()
        })
    }

    /// Copies an output and the weights c u of its cells, 0 where it is missing.
    pub(in crate::boosting) fn copy_column(&self, output: usize, y: &mut [f64], weights: &mut [f64]) {
        match self.y {
            MatrixView::Dense(a) => y
                .iter_mut()
                .zip(a.column(output))
                .for_each(|(y, &v)| *y = f64::from(v)),
            MatrixView::Sparse(_) => {
                y.fill(0.0);
                self.for_each_in_column(output, |row, v| y[row] = v);
            }
        }
        weights
            .iter_mut()
            .zip(self.weights)
            .for_each(|(w, &c)| *w = f64::from(c));
        if let Some(u) = &self.cells {
            weights
                .iter_mut()
                .zip(u.column(output))
                .for_each(|(w, &u)| *w *= f64::from(u));
        }
        if self.has_missing {
            for (y, weight) in y.iter_mut().zip(weights) {
                if y.is_nan() {
                    (*y, *weight) = (0.0, 0.0);
                }
            }
        }
    }

    /// Calls `f(sample, value)` for the stored values of a sparse output, by sample.
    pub(in crate::boosting) fn for_each_in_column(&self, output: usize, mut f: impl FnMut(usize, f64)) {
        let columns = self
            .by_column
            .as_ref()
            .expect("sparse outputs are kept by column too");
        let view = columns.view();
        let (rows, values) = csr_row(&view, output);
        rows.iter()
            .zip(values)
            .for_each(|(&i, &v)| f(i as usize, f64::from(v)));
    }

    /// Returns true if outputs are sparse and [complete](Self::is_complete).
    pub(in crate::boosting) fn is_complete_and_sparse(&self) -> bool {
        self.by_column.is_some() && self.is_complete()
    }

    /// Returns the weighted mean of an output. Outputs must be sparse and complete.
    pub(in crate::boosting) fn mean_of_stored(&self, output: usize) -> f64 {
        let mut sum = 0.0;
        self.for_each_in_column(output, |i, y| sum += f64::from(self.weights[i]) * y);
        sum / self.total_weight
    }

    /// Returns the number of samples of positive weight.
    pub(in crate::boosting) fn n_weighted(&self) -> usize {
        self.n_weighted
    }

    /// Returns each output as a separate array (n x 1), with its cell weights. Refuses them if they exceed the memory limit
    /// together with the scores and targets of their boosters.
    pub(in crate::boosting) fn apart(&self, params: &Resolved) -> Result<Vec<Column>, EnsembleError> {
        let (n, d) = (self.n_rows(), self.n_outputs());
        let given = size_of::<f32>() * (1 + usize::from(self.cells.is_some()));
        let bytes = given + size_of::<f64>() + target_bytes(params, self);
        check_memory(params.memory_limit, n, d, bytes)?;
        let column = |j: usize| {
            let mut y = Array2::zeros((n, 1));
            match self.y {
                MatrixView::Dense(a) => y.column_mut(0).assign(&a.column(j)),
                MatrixView::Sparse(_) => self.for_each_in_column(j, |i, v| y[[i, 0]] = v as f32),
            }
            let cells = self.cells.map(|u| u.column(j).insert_axis(Axis(1)).to_owned());
            (y, cells)
        };
        Ok((0..d).map(column).collect())
    }
}

/// Copies numbers row after row, converted to `f64`.
fn widen(values: ArrayView2<'_, f32>, out: &mut [f64]) {
    match values.to_slice() {
        Some(values) => out
            .iter_mut()
            .zip(values)
            .for_each(|(out, &v)| *out = f64::from(v)),
        None => out
            .iter_mut()
            .zip(&values)
            .for_each(|(out, &v)| *out = f64::from(v)),
    }
}

/// Refuses training data structures beyond the memory limit.
pub(in crate::boosting) fn check_memory(
    limit: usize,
    rows: usize,
    columns: usize,
    bytes_per_cell: usize,
) -> Result<(), EnsembleError> {
    check_dense(rows, columns, bytes_per_cell, limit).map_err(EnsembleError::Training)
}
