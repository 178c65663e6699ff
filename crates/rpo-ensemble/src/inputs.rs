//! Checks of the data that ensembles are fitted to.

use crate::error::EnsembleError;
use rpo_core::{CsrMatrix, MatrixView, Mismatch, WeightError, finite_or_missing};
use rpo_tree::TreeError;

/// Checks shapes, outputs and weights.
pub(crate) fn check_complete(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    weights: Option<&[f32]>,
) -> Result<(), EnsembleError> {
    check_shapes(x, y)?;
    y.check_values(f32::is_finite).map_err(EnsembleError::Outputs)?;
    weights.map_or(Ok(()), |weights| check_weights(weights, x.n_rows()))
}

/// Like [`check_complete`], but outputs may be missing. Each output must be observed in a sample of positive weight,
/// since nothing could be learned about it otherwise.
pub(crate) fn check_with_missing(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    weights: Option<&[f32]>,
) -> Result<(), EnsembleError> {
    check_shapes(x, y)?;
    y.check_values(finite_or_missing)
        .map_err(EnsembleError::Outputs)?;
    weights.map_or(Ok(()), |weights| check_weights(weights, x.n_rows()))?;
    let unobserved = y.first_unobserved(weights);
    unobserved.map_or(Ok(()), |output| Err(EnsembleError::NoTarget { output }))
}

/// Largest number of outputs of an ensemble, 134,217,728. Fitting allocates vectors with one number per output. With
/// more outputs they would take gigabytes, so that one mistyped label index could end the process instead of being an
/// error.
pub const MAX_OUTPUTS: usize = 1 << 27;

/// Checks that features and outputs have the same number of samples and are stored by rows, and that there are 1 to
/// [`MAX_OUTPUTS`] outputs.
pub(crate) fn check_shapes(x: MatrixView<'_>, y: MatrixView<'_>) -> Result<(), EnsembleError> {
    Mismatch::check("rows of outputs for the rows of features", x.n_rows(), y.n_rows())?;
    check_some_outputs(y.n_cols())?;
    if y.n_cols() > MAX_OUTPUTS {
        let (what, given, limit) = ("the number of outputs", y.n_cols(), MAX_OUTPUTS);
        return Err(TreeError::TooLarge { what, given, limit }.into());
    }
    x.check_csr("features")?;
    y.check_csr("outputs")?;
    Ok(())
}

/// Refuses a number of outputs of 0.
pub(crate) fn check_some_outputs(n_outputs: usize) -> Result<(), EnsembleError> {
    if n_outputs == 0 {
        return Err(EnsembleError::NoOutputs);
    }
    Ok(())
}

/// Checks that there is one weight per sample, that weights are finite and not negative, and that not all are zero.
pub(crate) fn check_weights(weights: &[f32], n_rows: usize) -> Result<(), EnsembleError> {
    Mismatch::check("weights for the rows of features", n_rows, weights.len())?;
    Ok(WeightError::check(weights.iter().copied())?)
}

/// Checks shapes and values, and returns the labels as CSR.
pub(crate) fn check_labels(x: MatrixView<'_>, y: MatrixView<'_>) -> Result<CsrMatrix, EnsembleError> {
    check_shapes(x, y)?;
    check_binary(y, false)?;
    Ok(y.to_csr())
}

/// Checks that outputs are 0 or 1, or NaN if they may be missing.
pub(crate) fn check_binary(y: MatrixView<'_>, missing: bool) -> Result<(), EnsembleError> {
    match y.first_not_label(missing) {
        Some((sample, output, value)) => Err(EnsembleError::NotALabel {
            sample,
            output,
            value,
        }),
        None => Ok(()),
    }
}
