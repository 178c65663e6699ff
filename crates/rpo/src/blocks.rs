//! Processes samples in blocks, so that intermediate results stay within a memory limit.

use crate::ModelError;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use rpo_core::MatrixView;
use std::ops::Range;

/// Size in bytes of the dense scores held at a time where all are computed and few are kept or written.
pub const BLOCK_BYTES: usize = 64 << 20;

/// Calls `f(samples, features)` for blocks of samples. Each block is as large as possible with `columns` 32-bit numbers
/// per sample within `memory_limit` bytes, and holds at least one sample.
///
/// # Errors
/// The first error of `f`.
pub fn for_each_block<E>(
    x: MatrixView<'_>,
    columns: usize,
    memory_limit: usize,
    mut f: impl FnMut(Range<usize>, MatrixView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let n = x.n_rows();
    let size = (memory_limit / dense_bytes(1, columns).max(1)).clamp(1, n.max(1));
    if size == n {
        return f(0..n, x);
    }
    for start in (0..n).step_by(size) {
        let samples = start..(start + size).min(n);
        let block = x.select_rows(&samples.clone().collect::<Vec<_>>());
        f(samples, block.view())?;
    }
    Ok(())
}

/// Computes the scores of all samples block by block, and keeps of each sample what `keep(sample, scores)` returns: the
/// best labels with their scores.
pub(crate) fn best_by_blocks(
    x: MatrixView<'_>,
    n_outputs: usize,
    predict: impl Fn(MatrixView<'_>) -> Result<Array2<f32>, ModelError>,
    keep: impl Fn(usize, ArrayView1<'_, f32>) -> Result<Vec<(u32, f32)>, ModelError> + Sync,
) -> Result<Vec<Vec<(u32, f32)>>, ModelError> {
    let mut best = Vec::with_capacity(x.n_rows());
    for_each_block(x, n_outputs, BLOCK_BYTES, |samples, block| {
        let scores = predict(block).map_err(|e| e.in_block(samples.start))?;
        let rows = 0..samples.len();
        let kept = rows
            .into_par_iter()
            .map(|row| keep(samples.start + row, scores.row(row)));
        // The error is that of the first sample.
        for kept in kept.collect::<Vec<_>>() {
            best.push(kept?);
        }
        Ok::<(), ModelError>(())
    })?;
    Ok(best)
}

/// Size in bytes of a dense matrix of 32-bit numbers.
pub(crate) fn dense_bytes(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).saturating_mul(size_of::<f32>())
}
