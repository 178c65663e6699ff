//! The best labels of each sample, without the scores of all samples at once.

use crate::{Model, ModelError};
use rpo_core::{MatrixView, Predictor, Propensity, csr_row};
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
    let (scores, n_labels) = (scores.view(), model.n_outputs());
    let most = k.min(n_labels);
    let best = |row: usize| {
        let (labels, values) = csr_row(&scores, row);
        // Labels that are left out have score 0, and are the next ones: no score of the sample is negative.
        let mut stored = labels.iter().copied().peekable();
        let absent = (0..n_labels as u32).filter(|label| stored.next_if_eq(label).is_none());
        let zeros = absent.take(most - labels.len()).map(|label| (label, 0.0));
        let pairs = labels.iter().copied().zip(values.iter().copied());
        pairs.chain(zeros).collect::<Vec<(u32, f32)>>()
    };
    let lists: Vec<_> = (0..scores.rows()).map(best).collect();
    Ok(TopK::from_lists(n_labels, k, &lists)?)
}
