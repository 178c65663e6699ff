//! What data must be.

use rpo_core::{MatrixView, check_count, check_dense};

use crate::error::check_length;
use crate::{LinearError, Response};

/// Finite features and outputs of as many rows, at least one, and at least one output.
pub(crate) fn check_data(x: MatrixView<'_>, y: MatrixView<'_>) -> Result<(), LinearError> {
    check_csr("features", x)?;
    check_csr("outputs", y)?;
    check_length("rows of the outputs", x.n_rows(), y.n_rows())?;
    check_count("the number of rows", x.n_rows())?;
    check_count("the number of outputs", y.n_cols())?;
    x.check_finite().map_err(LinearError::Features)?;
    y.check_finite().map_err(LinearError::Outputs)
}

/// Outputs that fit a response.
pub(crate) fn check_labels(response: Response, y: MatrixView<'_>) -> Result<(), LinearError> {
    if response == Response::Identity {
        return Ok(());
    }
    for row in 0..y.n_rows() {
        let (mut bad, mut n_labels) = (None, 0);
        y.for_each_in_row(row, |column, value| match value {
            0.0 => {}
            1.0 => n_labels += 1,
            _ => bad = bad.or(Some((column, value))),
        });
        if let Some((column, value)) = bad {
            return Err(LinearError::NotLabel {
                row,
                column: column as usize,
                value,
            });
        }
        if response == Response::Softmax && n_labels != 1 {
            return Err(LinearError::NotClass { row, n_labels });
        }
    }
    Ok(())
}

/// Features to predict for.
pub(crate) fn check_features(expected: usize, x: MatrixView<'_>) -> Result<(), LinearError> {
    check_csr("features", x)?;
    check_length("features", expected, x.n_cols())?;
    x.check_finite().map_err(LinearError::Features)
}

/// Scores of n x d within a budget of bytes.
pub(crate) fn check_scores(rows: usize, columns: usize, budget: usize) -> Result<(), LinearError> {
    check_dense(rows, columns, size_of::<f32>(), budget).map_err(LinearError::Predictions)
}

fn check_csr(what: &'static str, a: MatrixView<'_>) -> Result<(), LinearError> {
    match a {
        MatrixView::Sparse(a) if !a.is_csr() => Err(LinearError::NotCsr(what)),
        _ => Ok(()),
    }
}
