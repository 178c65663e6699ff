//! Scores of many samples: all scores, or the largest of each sample.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, Domain, MatrixView, Predictor, best_of, check_dense, csr_of_rows};

use crate::LinearError;
use crate::checks::check_features;

/// Number of samples that are scored at once.
const CHUNK: usize = 256;

/// The outputs and scores that are kept for each sample.
type TopScores = Vec<Vec<(u32, f32)>>;

/// A model that scores samples.
pub(crate) trait Scorer: Predictor + Sync {
    /// Writes the scores (rows x d) of some rows of `x`.
    fn score(&self, x: MatrixView<'_>, rows: &[usize], out: ArrayViewMut2<'_, f32>);

    /// Returns all scores (n x d), in at most `limit` bytes.
    fn scores_with_limit(&self, x: MatrixView<'_>, limit: usize) -> Result<Array2<f32>, LinearError> {
        let d = self.n_outputs();
        check_features(self.n_features(), x)?;
        check_dense(x.n_rows(), d, size_of::<f32>(), limit).map_err(LinearError::Predictions)?;
        let mut out = Array2::zeros((x.n_rows(), d));
        let checked: Vec<Result<(), LinearError>> = out
            .axis_chunks_iter_mut(Axis(0), CHUNK)
            .into_par_iter()
            .enumerate()
            .map(|(chunk, mut out)| {
                let first = chunk * CHUNK;
                let rows: Vec<usize> = (first..first + out.nrows()).collect();
                self.score(x, &rows, out.view_mut());
                check_finite(out.view(), first)
            })
            .collect();
        checked.into_iter().collect::<Result<(), _>>()?;
        Ok(out)
    }

    /// Returns the k largest scores of each sample, of which zeros are left out unless one is negative; ties go to the
    /// smaller output indices. Each thread holds the scores of one chunk at a time.
    fn top_scores(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, LinearError> {
        let (d, n) = (self.n_outputs(), x.n_rows());
        check_features(self.n_features(), x)?;
        Domain::Count.check("k", k)?;
        let chunks: Vec<Result<TopScores, LinearError>> = (0..n.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let rows: Vec<usize> = (chunk * CHUNK..n.min((chunk + 1) * CHUNK)).collect();
                let mut scores = Array2::zeros((rows.len(), d));
                self.score(x, &rows, scores.view_mut());
                check_finite(scores.view(), chunk * CHUNK)?;
                Ok(scores.rows().into_iter().map(|row| best_of(row, k)).collect())
            })
            .collect();
        let chunks = chunks.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(csr_of_rows(chunks.iter().flatten(), (n, d)))
    }
}

/// Refuses scores beyond the range of `f32`; `first` is the sample of the first row.
pub(crate) fn check_finite(scores: ArrayView2<'_, f32>, first: usize) -> Result<(), LinearError> {
    // Has no early exit, so that the comparisons are vectorised.
    if scores.iter().fold(true, |ok, v| ok & v.is_finite()) {
        return Ok(());
    }
    let bad = scores.indexed_iter().find(|(_, v)| !v.is_finite());
    bad.map_or(Ok(()), |((row, output), &value)| {
        Err(LinearError::Score {
            sample: first + row,
            output,
            value,
        })
    })
}
