//! Rows in blocks, so that what is computed from them stays within a limit.

use crate::error::CliError;
use rpo::core::MatrixView;
use std::ops::Range;

/// Calls `f(rows, features)` for blocks of rows, each as large as lets `columns` `f32` per row stay within
/// `bytes`, and of at least one row.
pub(crate) fn for_each_block(
    x: MatrixView<'_>,
    columns: usize,
    bytes: usize,
    mut f: impl FnMut(Range<usize>, MatrixView<'_>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let n = x.n_rows();
    let size = (bytes / dense_bytes(1, columns).max(1)).clamp(1, n.max(1));
    if size == n {
        return f(0..n, x);
    }
    for start in (0..n).step_by(size) {
        let rows = start..(start + size).min(n);
        let block = x.select_rows(&rows.clone().collect::<Vec<_>>());
        f(rows, block.view()).map_err(|e| e.of_block(start))?;
    }
    Ok(())
}

/// Bytes of a dense matrix of `f32`.
pub(crate) fn dense_bytes(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).saturating_mul(size_of::<f32>())
}
