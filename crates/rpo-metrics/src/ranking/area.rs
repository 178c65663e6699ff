//! Areas under curves: ROC AUC and average precision, per label and micro.
//!
//! Shapes: truth and scores n_samples x n_labels. A per-label value is NaN if it is undefined. All areas are computed
//! by counting scores against the relevant ones, exactly and in integers up to the last division. The micro averages
//! only need memory for the ones of the truth, never a sorted copy of all entries. The samples of a label are those
//! where it is observed.

use super::levels::{Counts, Level, Levels, average_precision};
use super::observed::without;
use crate::real::{check_scores, row_slice};
use crate::{LabelSets, MetricError, Real};
use ndarray::{ArrayView2, s};
use rayon::prelude::*;
use std::ops::Range;

/// Number of labels whose columns are gathered together: one cache line of `f32` from each row.
const BLOCK: usize = 16;

/// A curve over the thresholds of a score. Its area is the metric; larger is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// The ROC curve: P(s⁺ > s⁻) + ½ P(s⁺ = s⁻) over pairs of a relevant and an irrelevant entry. NaN if all entries
    /// are relevant or none is.
    Roc,
    /// The precision-recall curve. Its area is the average precision, the sum over distinct thresholds of precision
    /// times the gain in recall, without interpolation. NaN if no entry is relevant.
    PrecisionRecall,
}

/// Returns the area under the curve of each label, over the samples where it is observed. Collect the areas into a
/// [`Mean`](crate::Mean) for a macro average, or with weights for a weighted one.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{Curve, LabelSets, Mean, area_per_label};
/// let truth = LabelSets::from_lists(2, &[vec![0], vec![], vec![0]])?;
/// let areas = area_per_label(&truth, array![[0.9_f32, 0.1], [0.4, 0.2], [0.3, 0.3]].view(), Curve::Roc)?;
/// assert_eq!(Mean::from_iter(areas).value, 0.5); // of label 0; no sample has label 1
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
///
/// # Errors
/// Shapes that differ, scores that are not finite.
pub fn area_per_label<S: Real>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
    curve: Curve,
) -> Result<Vec<f64>, MetricError> {
    check_scores(truth, scores)?;
    Ok(match curve {
        Curve::Roc => per_label::<S, true>(truth, scores, &|levels, counts, n_rows| {
            roc_auc(levels.walk(counts), levels.n_relevant(), n_rows)
        }),
        Curve::PrecisionRecall => per_label::<S, false>(truth, scores, &|levels, counts, _| {
            average_precision(levels.walk(counts), levels.n_relevant())
        }),
    })
}

/// Returns the area under the curve of all observed entries taken together (micro average).
///
/// # Errors
/// Shapes that differ, scores that are not finite.
pub fn micro_area<S: Real>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
    curve: Curve,
) -> Result<f64, MetricError> {
    Ok(match curve {
        Curve::Roc => {
            let (levels, counts) = all_entries::<S, true>(truth, scores)?;
            let n_observed = (scores.len() - truth.n_missing()) as u64;
            roc_auc(levels.walk(&counts), levels.n_relevant(), n_observed)
        }
        Curve::PrecisionRecall => {
            let (levels, counts) = all_entries::<S, false>(truth, scores)?;
            average_precision(levels.walk(&counts), levels.n_relevant())
        }
    })
}

/// Returns Mann-Whitney U divided by the number of pairs, computed from twice U, which is an integer.
fn roc_auc(levels: impl Iterator<Item = Level>, n_relevant: u64, n_items: u64) -> f64 {
    let n_irrelevant = n_items - n_relevant;
    let twice_u: u128 = levels
        .map(|l| {
            let tied = l.tied - l.relevant;
            let above = l.at_least - l.relevant_at_least - tied;
            u128::from(l.relevant) * u128::from(2 * n_irrelevant - 2 * above - tied)
        })
        .sum();
    twice_u as f64 / (2.0 * n_relevant as f64 * n_irrelevant as f64)
}

/// Calls `value` with the counts of each column that has a relevant sample, and the number of its observed samples.
/// Other columns are NaN.
fn per_label<S: Real, const TIES: bool>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
    value: &(impl Fn(&Levels<S>, &Counts, u64) -> f64 + Sync),
) -> Vec<f64> {
    let (starts, rows) = truth.samples_by_label();
    let missing = (truth.n_missing() > 0).then(|| truth.missing_by_label());
    let (n_rows, n_labels) = scores.dim();
    let n_blocks = n_labels.div_ceil(BLOCK);
    let scratch = || (Vec::new(), Vec::new(), Levels::default(), Counts::default());
    let blocks =
        (0..n_blocks)
            .into_par_iter()
            .map_init(scratch, |(columns, observed, levels, counts), block| {
                let labels = block * BLOCK..n_labels.min((block + 1) * BLOCK);
                if starts[labels.start] == starts[labels.end] {
                    return vec![f64::NAN; labels.len()];
                }
                gather_columns(scores, labels.clone(), columns);
                let one = |(label, column): (usize, &[S])| {
                    let relevant = &rows[starts[label]..starts[label + 1]];
                    if relevant.is_empty() {
                        return f64::NAN;
                    }
                    levels.set(relevant.iter().map(|&i| column[i as usize]));
                    counts.reset(levels);
                    let column = match &missing {
                        None => column,
                        Some((starts, rows)) => {
                            without(column, &rows[starts[label]..starts[label + 1]], observed);
                            &observed[..]
                        }
                    };
                    levels.count::<TIES>(column, counts);
                    value(levels, counts, column.len() as u64)
                };
                labels.zip(columns.chunks_exact(n_rows)).map(one).collect()
            });
    blocks.collect::<Vec<_>>().concat()
}

/// Copies some columns of a row-major matrix, one after another.
fn gather_columns<S: Real>(scores: ArrayView2<'_, S>, columns: Range<usize>, out: &mut Vec<S>) {
    let n_rows = scores.nrows();
    out.clear();
    out.resize(n_rows * columns.len(), S::default());
    for (i, row) in scores.slice(s![.., columns]).rows().into_iter().enumerate() {
        for (c, &score) in row.iter().enumerate() {
            out[c * n_rows + i] = score;
        }
    }
}

/// Counts every entry against the relevant ones, one block of samples per thread. The counts are integers, so that the
/// blocks may be added in any order.
fn all_entries<S: Real, const TIES: bool>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
) -> Result<(Levels<S>, Counts), MetricError> {
    check_scores(truth, scores)?;
    let n_rows = truth.n_samples();
    let mut levels = Levels::default();
    levels.set((0..n_rows).flat_map(|i| truth.labels(i).iter().map(move |&j| scores[[i, j as usize]])));
    let new_counts = || {
        let mut counts = Counts::default();
        counts.reset(&levels);
        counts
    };
    let size = n_rows.div_ceil(rayon::current_num_threads());
    let counts = (0..n_rows.div_ceil(size))
        .into_par_iter()
        .map(|block| {
            let (mut counts, mut buffer, mut observed) = (new_counts(), Vec::new(), Vec::new());
            for i in block * size..n_rows.min((block + 1) * size) {
                let mut row = row_slice(scores.row(i), &mut buffer);
                if !truth.missing(i).is_empty() {
                    without(row, truth.missing(i), &mut observed);
                    row = &observed;
                }
                levels.count::<TIES>(row, &mut counts);
            }
            counts
        })
        .reduce(new_counts, |a, b| a.merge(&b));
    Ok((levels, counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn two_labels_by_hand() {
        // Label 0: relevant 0.9 and 0.5, irrelevant 0.5 and 0.1: pairs 1, 1, 1/2, 1. Label 1: every sample has it.
        let truth = LabelSets::from_lists(2, &[vec![0, 1], vec![0, 1], vec![1], vec![1]]).unwrap();
        let scores = array![[0.9_f32, 0.3], [0.5, 0.2], [0.5, 0.1], [0.1, 0.0]];
        let areas = area_per_label(&truth, scores.view(), Curve::Roc).unwrap();
        assert_eq!(areas[0], 0.875);
        assert!(areas[1].is_nan());
        // Label 0: precision 1 at the first, 2/3 at the tie.
        let precisions = area_per_label(&truth, scores.view(), Curve::PrecisionRecall).unwrap();
        assert_eq!(precisions, [f64::midpoint(1.0, 2.0 / 3.0), 1.0]);
    }
}
