//! Metrics on the order of a sample's scores: LRAP, coverage error, ranking loss.
//!
//! Shapes: truth and scores n_samples x n_labels. Ties always count against the ranking. Samples are scored in parallel
//! and summed in sample order, so that results do not depend on the number of threads. Missing labels are left out of
//! the ranking of their sample, and a sample without observed labels is left out of the means.

mod area;
mod levels;
mod observed;

pub use area::{Curve, area_per_label, micro_area};

use crate::real::{check_scores, row_slice};
use crate::{EmptySamples, LabelSets, Mean, MetricError, Real};
use levels::{Counts, Levels, average_precision};
use ndarray::ArrayView2;
use observed::ObservedSample;
use rayon::prelude::*;

/// A metric of the order of a sample's scores s for d labels, of which R are relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// The label ranking average precision (LRAP), larger is better:
    /// $\frac{1}{|R|} \sum_{j \in R} \frac{|\{l \in R : s_l \ge s_j\}|}{|\{l : s_l \ge s_j\}|}$, over samples with R ≠
    /// ∅ (optionally also the others, each counted as 1). 1 for a perfect ranking, |R|/d if all scores tie. Source:
    /// Joly, Geurts, Wehenkel 2014, eq. 6, which leaves out samples without labels: hence the default
    /// [`EmptySamples::Skip`]. scikit-learn counts them as 1.
    Lrap(EmptySamples),
    /// The coverage error, the depth of the ranking that includes every relevant label, smaller is better:
    /// $\max_{j \in R} |\{l : s_l \ge s_j\}|$, where depths count from 1. A sample without relevant labels contributes
    /// 0 (scikit-learn's convention). Between the mean number of labels and d.
    Coverage,
    /// The ranking loss, the fraction of wrongly ordered pairs (relevant, irrelevant), smaller is better:
    /// $\frac{|\{(j, l) : j \in R, l \notin R, s_l \ge s_j\}|}{|R| (d - |R|)}$. A tie counts as a full error, and samples with
    /// no or all labels relevant contribute 0 (scikit-learn's convention).
    Loss,
}

/// Returns the mean of a metric over the samples with observed labels for which it is defined.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{LabelSets, Ranking, ranking};
/// let truth = LabelSets::from_lists(4, &[[1, 3]])?;
/// // Two of the four labels at or above the lower relevant one are relevant.
/// let scores = array![[0.9, 0.8, 0.7, 0.6]];
/// assert_eq!(ranking(&truth, scores.view(), Ranking::Lrap(Default::default()))?.value, 0.5);
/// assert_eq!(ranking(&truth, scores.view(), Ranking::Coverage)?.value, 4.0);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
///
/// # Errors
/// Shapes that differ, scores that are not finite.
pub fn ranking<S: Real>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
    metric: Ranking,
) -> Result<Mean, MetricError> {
    let rows = match metric {
        Ranking::Lrap(empty_samples) => {
            let empty = match empty_samples {
                EmptySamples::Skip => f64::NAN,
                EmptySamples::One => 1.0,
            };
            each_row(truth, scores, |relevant, row, levels, counts| {
                if relevant.is_empty() {
                    return empty;
                }
                count_row(relevant, row, levels, counts);
                average_precision(levels.walk(counts), relevant.len() as u64)
            })
        }
        Ranking::Coverage => each_row(truth, scores, |relevant, row, levels, counts| {
            // The lowest relevant score determines the depth.
            let lowest = relevant
                .iter()
                .map(|&j| row[j as usize])
                .min_by(|a, b| a.order(*b));
            levels.set(lowest.into_iter());
            counts.reset(levels);
            levels.count::<false>(row, counts);
            levels.walk(counts).last().map_or(0.0, |l| l.at_least as f64)
        }),
        Ranking::Loss => each_row(truth, scores, |relevant, row, levels, counts| {
            let n_pairs = relevant.len() * (row.len() - relevant.len());
            if n_pairs == 0 {
                return 0.0;
            }
            count_row(relevant, row, levels, counts);
            let wrong: u64 = levels
                .walk(counts)
                .map(|l| l.relevant * (l.at_least - l.relevant_at_least))
                .sum();
            wrong as f64 / n_pairs as f64
        }),
    };
    Ok(Mean::from_iter(rows?))
}

fn count_row<S: Real>(relevant: &[u32], row: &[S], levels: &mut Levels<S>, counts: &mut Counts) {
    levels.set(relevant.iter().map(|&j| row[j as usize]));
    counts.reset(levels);
    levels.count::<false>(row, counts);
}

/// Calls `score_row(relevant labels, scores, scratch, scratch)` for every row, without missing labels. Results are in
/// sample order, NaN for samples without observed labels.
fn each_row<S: Real>(
    truth: &LabelSets<'_>,
    scores: ArrayView2<'_, S>,
    score_row: impl Fn(&[u32], &[S], &mut Levels<S>, &mut Counts) -> f64 + Sync,
) -> Result<Vec<f64>, MetricError> {
    check_scores(truth, scores)?;
    let scratch = || {
        let (buffer, observed) = (Vec::new(), ObservedSample::default());
        (buffer, observed, Levels::default(), Counts::default())
    };
    Ok((0..truth.n_samples())
        .into_par_iter()
        .map_init(scratch, |(buffer, observed, levels, counts), i| {
            let (relevant, row) = observed.of(truth, i, row_slice(scores.row(i), buffer));
            if row.is_empty() {
                return f64::NAN;
            }
            score_row(relevant, row, levels, counts)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo_core::Mismatch;

    #[test]
    fn one_row_by_hand() {
        // Ranking 0, 1, 2, 3; relevant 1 and 3: precisions 1/2 and 2/4, depth 4, wrong pairs (1,0) (3,0) (3,2).
        let truth = LabelSets::from_lists(4, &[[1, 3]]).unwrap();
        let scores = array![[0.9, 0.8, 0.7, 0.6]];
        assert_eq!(
            ranking(&truth, scores.view(), Ranking::Lrap(EmptySamples::Skip))
                .unwrap()
                .value,
            0.5
        );
        assert_eq!(
            ranking(&truth, scores.view(), Ranking::Coverage).unwrap().value,
            4.0
        );
        assert_eq!(ranking(&truth, scores.view(), Ranking::Loss).unwrap().value, 0.75);
    }

    #[test]
    fn rows_without_labels_are_counted() {
        let truth = LabelSets::from_lists(2, &[vec![0], vec![]]).unwrap();
        let scores = array![[0.0_f32, 1.0], [0.0, 1.0]];
        let skipped = Mean {
            value: 0.5,
            n_used: 1,
            n_skipped: 1,
        };
        assert_eq!(
            ranking(&truth, scores.view(), Ranking::Lrap(EmptySamples::Skip)).unwrap(),
            skipped
        );
        assert_eq!(
            ranking(&truth, scores.view(), Ranking::Lrap(EmptySamples::One))
                .unwrap()
                .value,
            0.75
        );
        let none = LabelSets::from_lists(2, &[vec![], vec![]]).unwrap();
        let found = ranking(&none, scores.view(), Ranking::Lrap(EmptySamples::Skip)).unwrap();
        assert!(found.value.is_nan() && found.n_skipped == 2);
    }

    #[test]
    fn bad_scores_are_named() {
        let truth = LabelSets::from_lists(2, &[[0], [1]]).unwrap();
        let wide = array![[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]];
        let expected = Mismatch {
            what: "labels",
            expected: 2,
            given: 3,
        };
        assert_eq!(ranking(&truth, wide.view(), Ranking::Loss), Err(expected.into()));
        let infinite = array![[0.0, 1.0], [f64::INFINITY, f64::NAN]];
        let expected = MetricError::NonFinite {
            what: "scores",
            sample: 1,
            column: 0,
            value: f64::INFINITY,
        };
        assert_eq!(ranking(&truth, infinite.view(), Ranking::Coverage), Err(expected));
    }
}
