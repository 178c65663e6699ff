//! Checks of features and outputs.

use rpo_core::{Domain, InverseLink, MatrixView, Mismatch};

use crate::LinearError;

/// Checks that features and outputs are finite and have the same number of samples, at least one, that there is at
/// least one output, and that outputs are labels or classes if the inverse link gives probabilities.
pub(crate) fn check_data(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    inverse_link: InverseLink,
) -> Result<(), LinearError> {
    check_csr("features", x)?;
    check_csr("outputs", y)?;
    Mismatch::check("samples of the outputs", x.n_rows(), y.n_rows())?;
    Domain::Count.check("number of samples", x.n_rows())?;
    Domain::Count.check("number of outputs", y.n_cols())?;
    x.check_values(f32::is_finite).map_err(LinearError::Features)?;
    y.check_values(f32::is_finite).map_err(LinearError::Outputs)?;
    check_labels(inverse_link, y)
}

fn check_labels(inverse_link: InverseLink, y: MatrixView<'_>) -> Result<(), LinearError> {
    if inverse_link == InverseLink::Identity {
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
        if inverse_link == InverseLink::Softmax && n_labels != 1 {
            return Err(LinearError::NotClass { row, n_labels });
        }
    }
    Ok(())
}

/// Checks the features of samples for prediction.
pub(crate) fn check_features(expected: usize, x: MatrixView<'_>) -> Result<(), LinearError> {
    check_csr("features", x)?;
    Mismatch::check("features", expected, x.n_cols())?;
    x.check_values(f32::is_finite).map_err(LinearError::Features)
}

fn check_csr(what: &'static str, a: MatrixView<'_>) -> Result<(), LinearError> {
    match a {
        MatrixView::Sparse(a) if !a.is_csr() => Err(LinearError::NotCsr(what)),
        _ => Ok(()),
    }
}
