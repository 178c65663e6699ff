//! Scores of many rows: all of them, or the largest of each row.

use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, check_count, csr_of_rows, top_of};

use crate::LinearError;
use crate::checks::{check_features, check_scores};

/// Rows that are scored at once.
const CHUNK: usize = 256;

/// A model that scores rows.
pub(crate) trait Scorer: Sync {
    /// Numbers of features p and outputs d.
    fn shape(&self) -> (usize, usize);

    /// Writes the scores (rows x d) of some rows of `x`.
    fn score(&self, x: MatrixView<'_>, rows: &[usize], out: ArrayViewMut2<'_, f32>);

    /// All scores (n x d), of at most `budget` bytes.
    fn scores_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, LinearError> {
        let (p, d) = self.shape();
        check_features(p, x)?;
        check_scores(x.n_rows(), d, budget)?;
        let mut out = Array2::zeros((x.n_rows(), d));
        out.axis_chunks_iter_mut(Axis(0), CHUNK)
            .into_par_iter()
            .enumerate()
            .for_each(|(chunk, out)| {
                let first = chunk * CHUNK;
                let rows: Vec<usize> = (first..first + out.nrows()).collect();
                self.score(x, &rows, out);
            });
        Ok(out)
    }

    /// The k largest scores of each row that are not 0, of equal ones the smaller outputs; those of a chunk are all that
    /// is held at once per thread.
    fn top_scores(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, LinearError> {
        let ((p, d), n) = (self.shape(), x.n_rows());
        check_features(p, x)?;
        check_count("k", k)?;
        let chunks: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let rows: Vec<usize> = (chunk * CHUNK..n.min((chunk + 1) * CHUNK)).collect();
                let mut scores = Array2::zeros((rows.len(), d));
                self.score(x, &rows, scores.view_mut());
                scores.rows().into_iter().map(|row| top_of(row, k)).collect()
            })
            .collect();
        Ok(csr_of_rows(chunks.iter().flatten(), (n, d)))
    }
}
