//! The definitions, implemented literally: pairs are enumerated and no work is shared.

use ndarray::{Array1, Array2, ArrayView1};

/// A function of the 0/1 relevance and the scores of a row or a column.
pub(crate) type Value = fn(ArrayView1<'_, f32>, ArrayView1<'_, f32>) -> f64;

/// The average precision of scores against 0/1 relevance; NaN if nothing is relevant.
pub(crate) fn average_precision(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> f64 {
    let n = scores.len();
    let hits: Vec<usize> = (0..n).filter(|&j| relevant[j] == 1.0).collect();
    let term = |&j: &usize| {
        let above = (0..n).filter(|&l| scores[l] >= scores[j]);
        let relevant_above = above.clone().filter(|&l| relevant[l] == 1.0).count();
        relevant_above as f64 / above.count() as f64
    };
    hits.iter().map(term).sum::<f64>() / hits.len() as f64
}

pub(crate) fn coverage(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> f64 {
    let depth = |j: usize| scores.iter().filter(|&&s| s >= scores[j]).count();
    let depths = (0..scores.len()).filter(|&j| relevant[j] == 1.0).map(depth);
    depths.max().unwrap_or(0) as f64
}

/// Counts the pairs (relevant, irrelevant): all, those in the wrong order, and ties.
fn pairs(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> (f64, f64, f64) {
    let (mut all, mut wrong, mut tied) = (0.0, 0.0, 0.0);
    for j in (0..scores.len()).filter(|&j| relevant[j] == 1.0) {
        for l in (0..scores.len()).filter(|&l| relevant[l] == 0.0) {
            all += 1.0;
            wrong += f64::from(u8::from(scores[l] > scores[j]));
            tied += f64::from(u8::from(scores[l] == scores[j]));
        }
    }
    (all, wrong, tied)
}

pub(crate) fn ranking_loss(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> f64 {
    let (all, wrong, tied) = pairs(relevant, scores);
    if all == 0.0 { 0.0 } else { (wrong + tied) / all }
}

/// ROC area; NaN if everything or nothing is relevant.
pub(crate) fn roc_auc(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> f64 {
    let (all, wrong, tied) = pairs(relevant, scores);
    (all - wrong - tied / 2.0) / all
}

/// The mean over rows of a value per row; rows without a value are left out.
pub(crate) fn row_mean(
    truth: &Array2<f32>,
    scores: &Array2<f32>,
    value: impl Fn(ArrayView1<'_, f32>, ArrayView1<'_, f32>) -> f64,
) -> f64 {
    let values = truth
        .rows()
        .into_iter()
        .zip(scores.rows())
        .map(|(t, s)| value(t, s));
    let defined: Vec<f64> = values.filter(|v| !v.is_nan()).collect();
    defined.iter().sum::<f64>() / defined.len() as f64
}

/// Returns all entries as one vector.
pub(crate) fn flat(matrix: &Array2<f32>) -> Array1<f32> {
    matrix.iter().copied().collect()
}

/// Returns the labels of a row from best to worst, by sorting.
pub(crate) fn ranking(scores: ArrayView1<'_, f32>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].partial_cmp(&scores[a]).unwrap());
    order
}

pub(crate) fn precision(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>, k: usize) -> f64 {
    let top = ranking(scores).into_iter().take(k);
    top.map(|j| f64::from(relevant[j])).sum::<f64>() / k as f64
}

pub(crate) fn ndcg(relevant: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>, k: usize) -> f64 {
    let gain = |order: Vec<usize>| -> f64 {
        let ranked = order.into_iter().take(k).enumerate();
        ranked
            .map(|(r, j)| f64::from(relevant[j]) / (r as f64 + 2.0).log2())
            .sum()
    };
    let best = gain(ranking(relevant));
    if best == 0.0 {
        0.0
    } else {
        gain(ranking(scores)) / best
    }
}
