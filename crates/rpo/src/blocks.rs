//! Processes samples in blocks, so that intermediate results stay within a memory limit.

use rpo_core::MatrixView;
use std::ops::Range;

/// Size in bytes of the dense scores held at a time where only the best of them are kept.
pub(crate) const BLOCK_BYTES: usize = 64 << 20;

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

/// Size in bytes of a dense matrix of 32-bit numbers.
pub(crate) fn dense_bytes(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).saturating_mul(size_of::<f32>())
}
