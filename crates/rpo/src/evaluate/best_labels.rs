//! The best labels of each sample, without the scores of all samples at once.

use crate::blocks::{BLOCK_BYTES, for_each_block};
use crate::{Model, ModelError};
use rpo_core::{MatrixView, Predictor, Propensity};
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
        true => of_all_scores(model, x, k),
        false => Ok(TopK::from_csr(scores.view(), k)?),
    }
}

/// The best k labels of each sample among the scores of all labels, of some samples at a time.
fn of_all_scores(model: &Model, x: MatrixView<'_>, k: usize) -> Result<TopK, ModelError> {
    let mut lists: Vec<Vec<(u32, f32)>> = Vec::with_capacity(x.n_rows());
    for_each_block(x, model.n_outputs(), BLOCK_BYTES, |samples, block| {
        let scores = model.predict_with_limit(block, usize::MAX);
        let scores = scores.map_err(|e| e.in_block(samples.start))?;
        let best = TopK::from_scores(scores.view(), k)?;
        let list = |i| best.labels(i).iter().copied().zip(best.scores(i).iter().copied());
        lists.extend((0..best.n_samples()).map(|i| list(i).collect()));
        Ok::<(), ModelError>(())
    })?;
    Ok(TopK::from_lists(model.n_outputs(), k, &lists)?)
}
