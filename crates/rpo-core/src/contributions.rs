//! What features contribute to predictions.

use crate::{CsrMatrix, InverseLink, MatrixView, Mismatch, Predictor, TooFew};

/// What each feature contributes to some scores of each sample: the scores are the base plus the contributions.
///
/// The score of an output is its prediction, or what the model's link makes a prediction of: the log-odds of a label
/// that is predicted by a logistic function, the logarithm of a number that is predicted by an exponential one, and
/// the activation of a class for the softmax.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    /// The mean score of each output over the background samples, d.
    pub base: Vec<f64>,
    /// The function from the score of each output to its prediction, d.
    pub links: Vec<InverseLink>,
    /// A row for each sample and each of its outputs, in this order, and a column for each feature.
    pub values: CsrMatrix,
}

/// A model whose predictions are explained by Shapley values: the contribution of a feature is the mean change of the
/// score when the feature becomes seen, over all orders in which features can be seen (Shapley 1953; Lundberg and Lee
/// 2017). Background samples, such as those of the training, supply the values of features that are not seen.
pub trait Explain: Predictor {
    /// Returns what features contribute to some scores of the samples `x` (n x p): `outputs` lists the outputs of
    /// each sample, `background` (any number of rows x p) are the background samples.
    ///
    /// # Errors
    /// As for [`predict`](Predictor::predict), for both sets of samples; a list of outputs for another number of
    /// samples, an output that does not exist, and no background sample.
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, Self::Error>;
}

/// Checks the arguments of an explanation: a list of outputs for each sample, outputs below `n_outputs`, and at least one
/// background sample.
///
/// # Errors
/// [`Mismatch`] and [`TooFew`].
pub fn check_explained<E: From<Mismatch> + From<TooFew>>(
    x: MatrixView<'_>,
    outputs: &[&[u32]],
    n_outputs: usize,
    background: MatrixView<'_>,
) -> Result<(), E> {
    Mismatch::check("samples with outputs to explain", x.n_rows(), outputs.len())?;
    TooFew::check("background samples", 1, background.n_rows())?;
    for outputs in outputs {
        TooFew::check_indices("outputs to explain", outputs, n_outputs)?;
    }
    Ok(())
}
