//! Expansion of targets to one output per level.

use super::state::check_memory;
use crate::error::EnsembleError;
use ndarray::{Array2, ArrayView2};
use rpo_core::MatrixView;

/// Repeats each column `n_levels` times in succession (n x d K), giving one output per level of each target.
pub(super) fn repeated(
    y: MatrixView<'_>,
    n_levels: usize,
    limit: usize,
) -> Result<Array2<f32>, EnsembleError> {
    let n_outputs = y.n_cols().saturating_mul(n_levels);
    check_memory(limit, y.n_rows(), n_outputs, size_of::<f32>())?;
    let (mut row, mut out) = (vec![0.0; y.n_cols()], Array2::zeros((y.n_rows(), n_outputs)));
    for (i, mut repeated) in out.rows_mut().into_iter().enumerate() {
        y.copy_row(i, &mut row);
        repeated
            .iter_mut()
            .enumerate()
            .for_each(|(j, v)| *v = row[j / n_levels]);
    }
    Ok(out)
}

/// Like [`repeated`], but for the weights of cells.
pub(super) fn repeated_cells(cells: ArrayView2<'_, f32>, n_levels: usize) -> Array2<f32> {
    let shape = (cells.nrows(), cells.ncols() * n_levels);
    Array2::from_shape_fn(shape, |(i, j)| cells[[i, j / n_levels]])
}
