//! Metrics of probabilities: logarithmic loss, Brier score, expected calibration error.
//!
//! Shapes: truth and probabilities n_samples x n_labels. The samples of a label are those where it is observed. Sums
//! are computed in `f64`, in sample order. Cost: O(n d).

use crate::real::check_scores;
use crate::{LabelSets, MetricError, Real};
use ndarray::{ArrayView2, s};
use rayon::prelude::*;
use rpo_core::{is_probability, math};

/// Number of labels that are read together, so that the sums of a block stay in the cache.
const BLOCK: usize = 128;

/// Number of intervals of equal width for the expected calibration error, as in Guo, Pleiss, Sun, Weinberger (ICML
/// 2017).
const BINS: usize = 15;

/// The errors of probabilities for each label; NaN for a label without observed samples. Smaller is better.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{LabelSets, ProbabilityErrors};
/// let truth = LabelSets::from_lists(1, &[vec![0], vec![]])?;
/// let errors = ProbabilityErrors::new(&truth, array![[0.75_f32], [0.5]].view())?;
/// assert_eq!(errors.brier, [(0.0625 + 0.25) / 2.0]);
/// assert_eq!(errors.log_loss, [-(0.75_f64.ln() + 0.5_f64.ln()) / 2.0]);
/// assert_eq!(errors.calibration, [(0.25 + 0.5) / 2.0]);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProbabilityErrors {
    /// The logarithmic loss, −(1/n) Σ ln q, in nats, where q is the probability of the true value (p for a sample that
    /// has the label, 1 − p for any other). q is at least the rounding unit of `f32` (1.2e-7), also for scores in
    /// `f64`, as in scikit-learn for scores in `f32`, so that a probability of 0 costs 15.9.
    pub log_loss: Vec<f64>,
    /// The Brier score, (1/n) Σ (y − p)².
    pub brier: Vec<f64>,
    /// The expected calibration error, (1/n) Σ_b |Σ_{i in b} (y_i − p_i)|: the differences of frequency and mean
    /// probability in 15 intervals b of equal width, weighted by their numbers of samples (Guo et al. 2017, eq. 3).
    pub calibration: Vec<f64>,
}

/// The sums of a label.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: usize,
    log: f64,
    square: f64,
    /// Σ (y − p) of each interval.
    bins: [f64; BINS],
}

impl Sums {
    fn add(&mut self, relevant: bool, p: f64) {
        let y = if relevant { 1.0 } else { 0.0 };
        let of_truth = if relevant { p } else { 1.0 - p };
        self.n += 1;
        self.log -= math::ln(of_truth.max(f64::from(f32::EPSILON)));
        self.square += (y - p) * (y - p);
        self.bins[((p * BINS as f64) as usize).min(BINS - 1)] += y - p;
    }
}

impl ProbabilityErrors {
    /// Compares probabilities with labels.
    ///
    /// # Errors
    /// Shapes that differ; a score that is not a probability, outside [0, 1] by more than 1e-6.
    pub fn new<S: Real>(truth: &LabelSets<'_>, scores: ArrayView2<'_, S>) -> Result<Self, MetricError> {
        check_scores(truth, scores)?;
        let n_labels = scores.ncols();
        let block = |block: usize| {
            let columns = block * BLOCK..n_labels.min((block + 1) * BLOCK);
            let mut sums = vec![Sums::default(); columns.len()];
            for sample in 0..truth.n_samples() {
                let (mut relevant, mut missing) = (
                    within(truth.labels(sample), columns.start),
                    within(truth.missing(sample), columns.start),
                );
                let scores = scores.slice(s![sample, columns.clone()]);
                for ((label, &score), sums) in columns.clone().zip(scores).zip(&mut sums) {
                    let score: f64 = score.into();
                    if !is_probability(score) {
                        let value = score;
                        return Err(MetricError::NotAProbability { sample, label, value });
                    }
                    let is_relevant = relevant.next_if(|&j| j as usize == label).is_some();
                    if missing.next_if(|&j| j as usize == label).is_none() {
                        sums.add(is_relevant, score.clamp(0.0, 1.0));
                    }
                }
            }
            Ok(sums)
        };
        let blocks = (0..n_labels.div_ceil(BLOCK)).into_par_iter().map(block);
        // All first, so that the error of the first block is returned for any number of threads.
        let blocks: Vec<Result<Vec<Sums>, MetricError>> = blocks.collect();
        let sums = blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        let each = |value: fn(&Sums) -> f64| sums.iter().map(|s| value(s) / s.n as f64).collect();
        Ok(Self {
            log_loss: each(|s| s.log),
            brier: each(|s| s.square),
            calibration: each(|s| s.bins.iter().map(|b| b.abs()).sum()),
        })
    }
}

/// Iterates over the labels of an increasing list, from the first label of a block on.
fn within(labels: &[u32], first: usize) -> std::iter::Peekable<impl Iterator<Item = u32>> {
    let from = labels.partition_point(|&j| (j as usize) < first);
    labels[from..].iter().copied().peekable()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MissingTruth;
    use ndarray::array;

    #[test]
    fn what_is_no_probability_is_named() {
        let truth = LabelSets::from_lists(2, &[vec![0], vec![1]]).unwrap();
        let off = array![[0.5_f32, 0.0], [1.0, 1.25]];
        let expected = MetricError::NotAProbability {
            sample: 1,
            label: 1,
            value: 1.25,
        };
        assert_eq!(ProbabilityErrors::new(&truth, off.view()).unwrap_err(), expected);
        let rounded = array![[1.000_000_1_f32, -1e-7], [0.0, 1.0]];
        let errors = ProbabilityErrors::new(&truth, rounded.view()).unwrap();
        assert_eq!((errors.log_loss, errors.brier), (vec![0.0; 2], vec![0.0; 2]));
    }

    #[test]
    fn a_certain_error_costs_what_the_rounding_unit_costs() {
        let truth = LabelSets::from_lists(1, &[[0]]).unwrap();
        let errors = ProbabilityErrors::new(&truth, array![[0.0_f32]].view()).unwrap();
        assert_eq!(errors.log_loss, [-f64::from(f32::EPSILON).ln()]);
    }

    #[test]
    fn intervals_of_probabilities_cancel_within_only() {
        // 0.2 to 0.2667 is one interval: errors of 0.75 and -0.25 partly cancel; 0.5 is in another interval.
        let truth = LabelSets::from_lists(1, &[vec![0], vec![], vec![], vec![0]]).unwrap();
        let p = array![[0.25_f64], [0.25], [0.25], [0.5]];
        let errors = ProbabilityErrors::new(&truth, p.view()).unwrap();
        assert_eq!(errors.calibration, [(0.25 + 0.5) / 4.0]);
    }

    #[test]
    fn labels_beyond_a_block_are_found() {
        let n = BLOCK + 3;
        let mut y = ndarray::Array2::<f32>::zeros((2, n));
        (y[[0, BLOCK + 1]], y[[1, 2]], y[[1, BLOCK]]) = (1.0, 1.0, f32::NAN);
        y[[0, BLOCK + 2]] = f32::NAN;
        y[[1, BLOCK + 2]] = f32::NAN;
        let truth = LabelSets::new((&y).into(), MissingTruth::Skip).unwrap();
        let errors = ProbabilityErrors::new(&truth, ndarray::Array2::<f32>::zeros((2, n)).view()).unwrap();
        let wrong: Vec<usize> = (0..n).filter(|&j| errors.brier[j] == 0.5).collect();
        assert_eq!(wrong, [2, BLOCK + 1]);
        assert!(errors.brier[BLOCK] == 0.0 && errors.brier[BLOCK + 2].is_nan());
    }
}
