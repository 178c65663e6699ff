//! The best labels of each sample, without the scores of all samples at once.

use crate::{Model, ModelError};
use rpo_core::{MatrixView, Predictor, Propensity, top_of_pairs};
use rpo_metrics::{LabelSets, MissingTruth, TopK};

/// The best k labels of each sample, plus enough further labels to replace those that are skipped because they are
/// missing.
pub(super) fn of(
    model: &Model,
    x: MatrixView<'_>,
    truth: MatrixView<'_>,
    k: usize,
    rerank: Option<Propensity>,
) -> Result<TopK, ModelError> {
    let missing = if truth.has_missing() {
        LabelSets::new(truth, MissingTruth::Skip)?.most_missing()
    } else {
        0
    };
    let k = k.saturating_add(missing);
    let scores = model.predict_top_k_ranked(x, k, rerank)?;
    // A label that is not among the k largest nonzero scores has score 0 only if none of these is negative.
    match scores.data().iter().any(|score| *score < 0.0) {
        true => of_all_scores(model, x, k, rerank),
        false => Ok(TopK::from_csr(scores.view(), k)?),
    }
}

/// The best k labels of each sample among all labels, also those with score 0.
fn of_all_scores(
    model: &Model,
    x: MatrixView<'_>,
    k: usize,
    rerank: Option<Propensity>,
) -> Result<TopK, ModelError> {
    let lists = model.best_by_blocks(x, rerank, |scores| {
        top_of_pairs((0..).zip(scores.iter().copied()).collect(), k)
    })?;
    Ok(TopK::from_lists(model.n_outputs(), k, &lists)?)
}
