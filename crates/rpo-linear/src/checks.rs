//! Checks of features and outputs.

use rpo_core::{InverseLink, MatrixView, Mismatch, TooFew, WeightError};

use crate::LinearError;

/// Checks that features and outputs are finite and have the same number of samples, at least one, that there is at
/// least one output, and that outputs are labels or classes if the inverse link gives probabilities.
pub(crate) fn check_data(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    inverse_link: InverseLink,
) -> Result<(), LinearError> {
    x.check_csr("features")?;
    y.check_csr("outputs")?;
    Mismatch::check("samples of the outputs", x.n_rows(), y.n_rows())?;
    TooFew::check("samples", 1, x.n_rows())?;
    TooFew::check("outputs", 1, y.n_cols())?;
    x.check_values(f32::is_finite).map_err(LinearError::Features)?;
    y.check_values(f32::is_finite).map_err(LinearError::Outputs)?;
    check_labels(inverse_link, y)
}

fn check_labels(inverse_link: InverseLink, y: MatrixView<'_>) -> Result<(), LinearError> {
    if inverse_link == InverseLink::Identity {
        return Ok(());
    }
    if let Some((sample, output, value)) = y.first_not_label(false) {
        return Err(LinearError::NotALabel {
            sample,
            output,
            value,
        });
    }
    let n_labels = |row| {
        let mut n_labels = 0;
        y.for_each_in_row(row, |_, value| n_labels += usize::from(value == 1.0));
        n_labels
    };
    let mut classes = (0..y.n_rows()).filter(|_| inverse_link == InverseLink::Softmax);
    match classes.find(|&row| n_labels(row) != 1) {
        Some(row) => Err(LinearError::NotClass {
            sample: row,
            n_labels: n_labels(row),
        }),
        None => Ok(()),
    }
}

/// Checks the weights of n samples, if they are given.
pub(crate) fn check_weights(weights: Option<&[f32]>, n: usize) -> Result<(), LinearError> {
    let Some(weights) = weights else {
        return Ok(());
    };
    Mismatch::check("weights of the samples", n, weights.len())?;
    Ok(WeightError::check(weights.iter().copied())?)
}

/// Checks the groups of n samples, if they are given.
pub(crate) fn check_groups(groups: Option<&[u32]>, n: usize) -> Result<(), LinearError> {
    groups.map_or(Ok(()), |groups| {
        Ok(Mismatch::check("groups of the samples", n, groups.len())?)
    })
}

/// Checks the features of samples for prediction.
pub(crate) fn check_features(expected: usize, x: MatrixView<'_>) -> Result<(), LinearError> {
    x.check_csr("features")?;
    Mismatch::check("features", expected, x.n_cols())?;
    x.check_values(f32::is_finite).map_err(LinearError::Features)
}
