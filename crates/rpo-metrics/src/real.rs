//! Scores: `f32` or `f64`, read sample by sample, always finite.

use crate::labels::check_not_empty;
use crate::{LabelSets, MetricError};
use ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;
use rpo_core::{CsrView, MatrixView, csr_row};
use std::cmp::Ordering;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A score: `f32` or `f64`. Sums of scores are computed in `f64` for both types.
pub trait Real: Copy + Default + PartialOrd + Into<f64> + Send + Sync + sealed::Sealed {
    /// Compares finite scores; -0 equals 0, as in all comparisons of scores.
    fn order(self, other: Self) -> Ordering {
        self.partial_cmp(&other).unwrap_or(Ordering::Equal)
    }

    /// Returns false if the score is NaN or infinite.
    fn is_finite(self) -> bool;
}

impl Real for f32 {
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

impl Real for f64 {
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

/// Returns the values of a row as a slice, copied to `buffer` if they are not contiguous.
pub(crate) fn row_slice<'a, S: Real>(row: ArrayView1<'a, S>, buffer: &'a mut Vec<S>) -> &'a [S] {
    match row.to_slice() {
        Some(values) => values,
        None => {
            buffer.clear();
            buffer.extend(row.iter().copied());
            buffer
        }
    }
}

/// Checks that the matrix is not empty and that every value is finite; the error names the first offender.
pub(crate) fn check_finite<S: Real>(
    what: &'static str,
    values: ArrayView2<'_, S>,
) -> Result<(), MetricError> {
    check_values(what, values, S::is_finite)
}

/// Checks that the matrix is not empty and that every value is allowed; the error names the first offender.
pub(crate) fn check_values<S: Real>(
    what: &'static str,
    values: ArrayView2<'_, S>,
    allowed: impl Fn(S) -> bool + Sync + Send,
) -> Result<(), MetricError> {
    let (rows, columns) = values.dim();
    check_not_empty((rows, columns))?;
    let offender = (0..rows).into_par_iter().find_map_first(|row| {
        // The first pass has no early exit, so that it vectorises; the second pass runs only if there is an offender.
        let row_values = values.row(row);
        if row_values.fold(true, |all, &v| all & allowed(v)) {
            return None;
        }
        let column = row_values.iter().position(|&v| !allowed(v))?;
        Some(MetricError::NonFinite {
            what,
            sample: row,
            column,
            value: row_values[column].into(),
        })
    });
    offender.map_or(Ok(()), Err)
}

/// Checks that a sparse matrix is compressed by rows and not empty, and that every stored value is allowed; the error
/// names the first offender.
pub(crate) fn check_csr(
    what: &'static str,
    matrix: &CsrView<'_>,
    allowed: impl Fn(f32) -> bool,
) -> Result<(), MetricError> {
    check_not_empty(matrix.shape())?;
    MatrixView::Sparse(*matrix).check_csr(what)?;
    for sample in 0..matrix.rows() {
        let (columns, values) = csr_row(matrix, sample);
        if let Some(at) = values.iter().position(|&v| !allowed(v)) {
            return Err(MetricError::NonFinite {
                what,
                sample,
                column: columns[at] as usize,
                value: values[at].into(),
            });
        }
    }
    Ok(())
}

/// Checks that the scores have the truth's shape and are finite.
pub(crate) fn check_scores<S: Real>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
) -> Result<(), MetricError> {
    truth.check_shape(scores.dim())?;
    check_finite("scores", scores)
}
