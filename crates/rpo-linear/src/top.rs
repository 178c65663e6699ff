//! The largest scores of rows, as CSR.

use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use rpo_core::CsrMatrix;

use crate::LinearError;
use crate::error::parameter;

/// The k largest scores of each row that are not 0, of equal ones the smaller outputs; `scores` gives those of the rows
/// of a chunk, which are all that is held at once per thread.
pub(crate) fn top_k(
    (rows, outputs): (usize, usize),
    chunk: usize,
    k: usize,
    scores: impl Fn(&[usize]) -> Array2<f32> + Sync,
) -> Result<CsrMatrix, LinearError> {
    if k == 0 {
        return parameter("k", 0, "at least 1");
    }
    let chunks: Vec<Vec<Vec<(u32, f32)>>> = (0..rows.div_ceil(chunk))
        .into_par_iter()
        .map(|i| {
            let rows: Vec<usize> = (i * chunk..rows.min((i + 1) * chunk)).collect();
            scores(&rows)
                .rows()
                .into_iter()
                .map(|row| top_of(row, k))
                .collect()
        })
        .collect();
    let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in chunks.iter().flatten() {
        columns.extend(row.iter().map(|(j, _)| *j));
        values.extend(row.iter().map(|(_, v)| *v));
        indptr.push(columns.len());
    }
    Ok(CsrMatrix::new((rows, outputs), indptr, columns, values))
}

fn top_of(row: ArrayView1<'_, f32>, k: usize) -> Vec<(u32, f32)> {
    let mut scores: Vec<(u32, f32)> = (0..)
        .zip(row.iter().copied())
        .filter(|(_, v)| *v != 0.0)
        .collect();
    if scores.len() > k {
        scores.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores.truncate(k);
        scores.sort_unstable_by_key(|(j, _)| *j);
    }
    scores
}
