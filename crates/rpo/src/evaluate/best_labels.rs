//! The best labels of each sample, without the scores of all samples at once.

use crate::{Model, ModelError};
use rpo_core::{MatrixView, Propensity};
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
    Ok(TopK::from_best(scores.view(), k)?)
}
