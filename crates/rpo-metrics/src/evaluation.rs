//! Evaluation of a prediction against its truth, with any number of metrics.

use crate::{
    Deviance, EmptySamples, IntervalSums, LabelSets, MetricError, MissingTruth, ProbabilityErrors,
    RegressionSums, Score, SetComparison, Thresholds, TopK, ZeroDivision, largest_k,
};
use ndarray::ArrayView2;
use rpo_core::{CsrView, Domain, MatrixView};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a model predicts.
#[derive(Debug, Clone, Copy)]
pub enum Predictions<'a> {
    /// A score for every label (n_samples x n_labels); the predicted values in regression.
    Dense(ArrayView2<'a, f32>),
    /// Scores of the best labels of each sample (n_samples x n_labels); labels that are not stored have score 0.
    Sparse(CsrView<'a>),
    /// The best k labels of each sample.
    TopK(&'a TopK),
}

impl<'a> From<ArrayView2<'a, f32>> for Predictions<'a> {
    fn from(scores: ArrayView2<'a, f32>) -> Self {
        Self::Dense(scores)
    }
}

impl<'a> From<CsrView<'a>> for Predictions<'a> {
    fn from(scores: CsrView<'a>) -> Self {
        Self::Sparse(scores)
    }
}

impl<'a> From<&'a TopK> for Predictions<'a> {
    fn from(top: &'a TopK) -> Self {
        Self::TopK(top)
    }
}

/// Conventions of an evaluation, and data that some metrics need besides truth and scores.
#[derive(Debug, Clone, Default)]
pub struct EvaluationOptions<'a> {
    /// Treatment of NaN in the truth. With [`MissingTruth::Skip`], predictions of the best labels must list up to
    /// [`LabelSets::most_missing`] more labels than a metric's k.
    pub missing: MissingTruth,
    /// The predicted label sets, which replace those from scores and thresholds.
    pub label_sets: Option<&'a LabelSets<'a>>,
    /// Score from which a label is predicted.
    pub thresholds: Thresholds,
    /// 1/p per label, for `psp@K` and `psndcg@K` ([`Propensity::inverse`](crate::Propensity::inverse)).
    pub inverse_propensities: Option<&'a [f64]>,
    /// The mean of each output over the training set, the baseline of `arrmse`; `None` for the mean over the evaluated
    /// samples.
    pub train_means: Option<&'a [f64]>,
    /// The levels of `pinball`, of the quantiles of each target in turn; the median if empty.
    pub quantile_levels: &'a [f64],
    /// The prediction intervals of `interval-coverage` and `interval-width` (samples x 2d): the lower and the upper bound
    /// of each output in turn.
    pub intervals: Option<ArrayView2<'a, f32>>,
    /// Treatment of samples without labels in `lrap` and `one-error`.
    pub empty_samples: EmptySamples,
    /// The value of 0/0 in `jaccard`, the F1s, `macro-p@K` and `macro-r@K`.
    pub zero_division: ZeroDivision,
}

/// A prediction and its truth. The metrics of one evaluation share their work: labels are checked, the best labels
/// selected, label sets compared and errors summed only once, when a metric first needs them.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{Evaluation, EvaluationOptions, Metric};
/// let truth = array![[1.0_f32, 0.0, 1.0], [0.0, 1.0, 0.0]];
/// let scores = array![[0.9_f32, 0.2, 0.6], [0.4, 0.3, 0.1]];
/// let evaluation = Evaluation::new((&truth).into(), scores.view(), EvaluationOptions::default());
/// let values = evaluation.evaluate(&[Metric::Lrap, Metric::PrecisionAt(1), Metric::Hamming])?;
/// assert_eq!(values, [0.75, 0.5, 1.0 / 6.0]);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug)]
pub struct Evaluation<'a> {
    truth: MatrixView<'a>,
    scores: Predictions<'a>,
    options: EvaluationOptions<'a>,
    labels: OnceLock<LabelSets<'a>>,
    /// The best labels for the largest k requested so far.
    top: Mutex<Option<Arc<TopK>>>,
    sets: OnceLock<SetComparison>,
    sums: OnceLock<RegressionSums>,
    probabilities: OnceLock<ProbabilityErrors>,
}

impl<'a> Evaluation<'a> {
    /// Creates an evaluation of scores. The truth holds 0/1 labels for all metrics except those of regression.
    pub fn new(
        truth: MatrixView<'a>,
        scores: impl Into<Predictions<'a>>,
        options: EvaluationOptions<'a>,
    ) -> Self {
        Self {
            truth,
            scores: scores.into(),
            options,
            labels: OnceLock::new(),
            top: Mutex::default(),
            sets: OnceLock::new(),
            sums: OnceLock::new(),
            probabilities: OnceLock::new(),
        }
    }

    /// Returns the value of each metric, in order; NaN if the metric is undefined.
    ///
    /// # Errors
    /// A truth that does not fit the metric (labels other than 0 and 1), sizes that differ, no samples or no outputs,
    /// values that are not finite, dense scores or propensities that are needed but not given, k = 0 or larger than the
    /// predictions hold.
    pub fn evaluate<S: Score>(&self, metrics: &[S]) -> Result<Vec<f64>, MetricError> {
        // The best labels are selected once, for the largest k.
        if let (Some(k), Predictions::Dense(_) | Predictions::Sparse(_)) = (largest_k(metrics), self.scores) {
            self.top_k(k)?;
        }
        metrics.iter().map(|metric| metric.evaluate(self)).collect()
    }

    /// Returns the conventions and the further data: quantile levels, training means, and more.
    pub fn options(&self) -> &EvaluationOptions<'a> {
        &self.options
    }

    /// Returns the true values as they were given: labels or numbers, NaN where one is missing.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_metrics::{Evaluation, EvaluationOptions, MatrixView, MetricError, PredictionForm, Score};
    ///
    /// /// The largest absolute error.
    /// #[derive(Debug)]
    /// struct LargestError;
    ///
    /// impl Score for LargestError {
    ///     fn name(&self) -> String {
    ///         "largest-error".to_owned()
    ///     }
    ///     fn higher_is_better(&self) -> bool {
    ///         false
    ///     }
    ///     fn needs(&self) -> PredictionForm {
    ///         PredictionForm::Regression
    ///     }
    ///     fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
    ///         let MatrixView::Dense(truth) = evaluation.truth() else {
    ///             return Ok(f64::NAN); // not defined for sparse outputs
    ///         };
    ///         let errors = truth.iter().zip(evaluation.dense_scores()?).map(|(y, p)| f64::from((y - p).abs()));
    ///         Ok(errors.fold(0.0, f64::max)) // which passes over NaN
    ///     }
    /// }
    ///
    /// let (truth, predicted) = (array![[1.0_f32, 2.0], [f32::NAN, 0.5]], array![[1.5_f32, 2.0], [7.0, 0.25]]);
    /// let evaluation = Evaluation::new((&truth).into(), predicted.view(), EvaluationOptions::default());
    /// assert_eq!(evaluation.evaluate(&[LargestError])?, [0.5]);
    /// # Ok::<(), MetricError>(())
    /// ```
    pub fn truth(&self) -> MatrixView<'a> {
        self.truth
    }

    /// Returns the predictions as they were given.
    pub fn predictions(&self) -> Predictions<'a> {
        self.scores
    }

    /// Returns the true labels.
    ///
    /// # Errors
    /// Labels other than 0 and 1, a matrix without samples or labels or compressed by columns.
    pub fn labels(&self) -> Result<&LabelSets<'a>, MetricError> {
        once(&self.labels, || LabelSets::new(self.truth, self.options.missing))
    }

    /// Returns the scores of all labels or outputs.
    ///
    /// # Errors
    /// Predictions that contain only the best labels.
    pub fn dense_scores(&self) -> Result<ArrayView2<'a, f32>, MetricError> {
        match self.scores {
            Predictions::Dense(scores) => Ok(scores),
            Predictions::Sparse(_) | Predictions::TopK(_) => Err(MetricError::needs(
                "a score for every label; the predictions hold only the best of each sample",
            )),
        }
    }

    /// Returns lists of at least the best k labels of each sample, best first: more if labels are missing, if another
    /// metric of the evaluation needs more, or if the predictions are longer lists. A metric of the best k counts the
    /// first k that are [observed](LabelSets::missing).
    ///
    /// # Errors
    /// As for [`labels`](Self::labels); k = 0, scores that are not finite, and [`MetricError::TopKTooShort`] if the
    /// predictions are lists of fewer labels.
    pub fn top_k(&self, k: usize) -> Result<Arc<TopK>, MetricError> {
        Domain::Count.check("k", k)?;
        let k = match self.scores {
            Predictions::TopK(top) => {
                top.check_holds(k)?;
                top.k()
            }
            Predictions::Dense(_) | Predictions::Sparse(_) => k.saturating_add(self.labels()?.most_missing()),
        };
        let holds_k = |top: &&Arc<TopK>| top.k() >= k;
        if let Some(top) = self.kept_top().as_ref().filter(holds_k) {
            return Ok(Arc::clone(top));
        }
        // Without the lock: while a thread waits for its parallel work, it may run a task that evaluates, too.
        let top = Arc::new(match self.scores {
            Predictions::TopK(top) => top.clone(),
            Predictions::Dense(scores) => TopK::from_scores(scores, k)?,
            Predictions::Sparse(scores) => TopK::from_csr(scores, k)?,
        });
        let mut kept = self.kept_top();
        if kept.as_ref().filter(holds_k).is_none() {
            *kept = Some(Arc::clone(&top));
        }
        Ok(top)
    }

    fn kept_top(&self) -> MutexGuard<'_, Option<Arc<TopK>>> {
        self.top.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the comparison of the true label sets with the predicted ones.
    ///
    /// # Errors
    /// As for [`labels`](Self::labels); label sets of another size, thresholds that are NaN or not one per label.
    pub fn sets(&self) -> Result<&SetComparison, MetricError> {
        once(&self.sets, || {
            let EvaluationOptions {
                label_sets,
                thresholds,
                ..
            } = &self.options;
            let predicted = match (label_sets, self.scores) {
                (Some(sets), _) => return SetComparison::new(self.labels()?, sets),
                (None, Predictions::Dense(scores)) => LabelSets::from_scores(scores, thresholds)?,
                (None, Predictions::Sparse(scores)) => LabelSets::from_csr(scores, thresholds)?,
                (None, Predictions::TopK(top)) => LabelSets::from_top_k(top, thresholds)?,
            };
            SetComparison::new(self.labels()?, &predicted)
        })
    }

    /// Returns the sums of errors from which all regression metrics follow.
    ///
    /// # Errors
    /// As for [`RegressionSums::of`]; predictions that contain only the best labels.
    pub fn sums(&self) -> Result<&RegressionSums, MetricError> {
        once(&self.sums, || {
            RegressionSums::of(self.truth, self.dense_scores()?, self.options.missing)
        })
    }

    /// Returns the mean deviance of each output.
    ///
    /// # Errors
    /// As for [`Deviance::of`]; predictions that contain only the best labels.
    pub fn deviances(&self, deviance: Deviance) -> Result<Vec<f64>, MetricError> {
        deviance.of(self.truth.reborrow(), self.dense_scores()?, self.options.missing)
    }

    /// Returns the coverage and the width of the prediction intervals.
    ///
    /// # Errors
    /// As for [`IntervalSums::new`]; no intervals.
    pub fn intervals(&self) -> Result<IntervalSums, MetricError> {
        let bounds = self.options.intervals;
        let bounds = bounds
            .ok_or_else(|| MetricError::needs("prediction intervals, which the model does not have"))?;
        IntervalSums::new(self.truth, bounds, self.options.missing)
    }

    /// Returns the errors of the scores as probabilities.
    ///
    /// # Errors
    /// As for [`labels`](Self::labels) and [`ProbabilityErrors::new`]; predictions that contain only the best labels.
    pub fn probabilities(&self) -> Result<&ProbabilityErrors, MetricError> {
        once(&self.probabilities, || {
            ProbabilityErrors::new(self.labels()?, self.dense_scores()?)
        })
    }

    /// Returns 1/p of each label. A metric that asks for them says so ([`Score::needs_propensities`]).
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_metrics::{Evaluation, EvaluationOptions, MetricError, PredictionForm, Score};
    ///
    /// /// The share of the true labels that are the best of their sample, each counted 1/p times.
    /// #[derive(Debug)]
    /// struct WeightedRecall;
    ///
    /// impl Score for WeightedRecall {
    ///     fn name(&self) -> String {
    ///         "weighted-recall".to_owned()
    ///     }
    ///     fn higher_is_better(&self) -> bool {
    ///         true
    ///     }
    ///     fn needs(&self) -> PredictionForm {
    ///         PredictionForm::TopK(1)
    ///     }
    ///     fn needs_propensities(&self) -> bool {
    ///         true
    ///     }
    ///     fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
    ///         let (truth, top) = (evaluation.labels()?, evaluation.top_k(1)?);
    ///         let inverse = evaluation.inverse_propensities()?;
    ///         let (mut found, mut all) = (0.0, 0.0);
    ///         for sample in 0..truth.n_samples() {
    ///             for label in truth.labels(sample) {
    ///                 all += inverse[*label as usize];
    ///                 found += inverse[*label as usize] * f64::from(u8::from(top.labels(sample)[0] == *label));
    ///             }
    ///         }
    ///         Ok(found / all)
    ///     }
    /// }
    ///
    /// let (truth, scores) = (array![[1.0_f32, 1.0], [1.0, 0.0]], array![[0.2_f32, 0.9], [0.8, 0.1]]);
    /// let options = EvaluationOptions { inverse_propensities: Some(&[1.0, 4.0]), ..EvaluationOptions::default() };
    /// let evaluation = Evaluation::new((&truth).into(), scores.view(), options);
    /// assert_eq!(evaluation.evaluate(&[WeightedRecall])?, [5.0 / 6.0]);
    /// # Ok::<(), MetricError>(())
    /// ```
    ///
    /// # Errors
    /// [`MetricError::Missing`] if the options have none.
    pub fn inverse_propensities(&self) -> Result<&'a [f64], MetricError> {
        let inverse = self.options.inverse_propensities;
        inverse.ok_or_else(|| MetricError::needs("the inverse propensities of the labels"))
    }
}

/// Returns the value of a cell, computing it the first time; outside of the cell, as computations run in parallel.
fn once<T>(cell: &OnceLock<T>, compute: impl FnOnce() -> Result<T, MetricError>) -> Result<&T, MetricError> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = compute()?;
    Ok(cell.get_or_init(|| value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, MissingTruth, largest_k};
    use ndarray::array;
    use rpo_core::CsrMatrix;

    #[test]
    fn what_is_missing_is_named() {
        let truth = array![[1.0_f32, 0.0]];
        let scores = array![[1.0_f32, 0.0]];
        let evaluation = Evaluation::new((&truth).into(), scores.view(), EvaluationOptions::default());
        let expected = MetricError::Missing {
            metric: "psp@1".to_owned(),
            needs: "the inverse propensities of the labels",
        };
        assert_eq!(Metric::PspAt(1).evaluate(&evaluation), Err(expected));
        let top = TopK::from_scores(scores.view(), 1).unwrap();
        let evaluation = Evaluation::new((&truth).into(), &top, EvaluationOptions::default());
        assert_eq!(Metric::PrecisionAt(1).evaluate(&evaluation), Ok(1.0));
        assert_eq!(Metric::Hamming.evaluate(&evaluation), Ok(0.0));
        let found = Metric::Mse.evaluate(&evaluation).unwrap_err().to_string();
        assert!(found.starts_with("mse needs a score for every label"), "{found}");
        let zero = Metric::PrecisionAt(0).evaluate(&evaluation).unwrap_err();
        assert_eq!(zero.to_string(), "`k` must be at least 1, got 0");
    }

    #[test]
    fn k_may_be_any_number() {
        let truth = array![[1.0_f32, f32::NAN], [0.0, 1.0]];
        let scores = array![[1.0_f32, 0.0], [0.0, 1.0]];
        let options = EvaluationOptions {
            missing: MissingTruth::Skip,
            ..EvaluationOptions::default()
        };
        let evaluation = Evaluation::new((&truth).into(), scores.view(), options);
        let found = Metric::PrecisionAt(usize::MAX).evaluate(&evaluation).unwrap();
        assert!(found > 0.0 && found < 1e-15);
        assert_eq!(Metric::NdcgAt(usize::MAX).evaluate(&evaluation), Ok(1.0));
    }

    #[test]
    fn the_best_labels_serve_smaller_and_larger_k() {
        let truth = array![[1.0_f32, 0.0, 1.0]];
        let scores = array![[0.9_f32, 0.8, 0.7]];
        let evaluation = Evaluation::new((&truth).into(), scores.view(), EvaluationOptions::default());
        let found = [2, 1, 3].map(|k| Metric::PrecisionAt(k).evaluate(&evaluation).unwrap());
        assert_eq!(found, [0.5, 1.0, 2.0 / 3.0]);
    }

    #[test]
    fn lists_hold_at_least_k_labels() {
        let truth = array![[1.0_f32, 0.0, 1.0]];
        let scores = array![[0.9_f32, 0.8, 0.7]];
        let all = Evaluation::new((&truth).into(), scores.view(), EvaluationOptions::default());
        assert_eq!(all.top_k(1).unwrap().labels(0), [0]);
        assert_eq!(all.top_k(2).unwrap().labels(0), [0, 1]);
        assert_eq!(all.top_k(1).unwrap().labels(0)[..1], [0]);
        let best = TopK::from_scores(scores.view(), 2).unwrap();
        let best = Evaluation::new((&truth).into(), &best, EvaluationOptions::default());
        assert_eq!(best.top_k(1).unwrap().labels(0), [0, 1]);
        let short = MetricError::TopKTooShort { needed: 3, held: 2 };
        assert_eq!(best.top_k(3).unwrap_err(), short);
        assert!(best.top_k(0).is_err() && all.top_k(0).is_err());
    }

    #[test]
    fn sparse_scores_are_scored_like_dense_ones() {
        let truth = array![
            [1.0_f32, 0.0, f32::NAN, 1.0],
            [0.0, 1.0, 0.0, f32::NAN],
            [0.0, 0.0, 1.0, 0.0]
        ];
        let dense = array![
            [0.9_f32, 0.0, 0.7, 0.0],
            [0.0, 0.6, 0.0, 0.8],
            [0.0, 0.0, 0.5, 0.0]
        ];
        let sparse = CsrMatrix::csr_from_dense(dense.view(), 0.0);
        let options = || EvaluationOptions {
            missing: MissingTruth::Skip,
            ..EvaluationOptions::default()
        };
        let metrics = [
            "p@1",
            "p@3",
            "ndcg@2",
            "micro-f1",
            "one-error",
            "p@18446744073709551615",
        ];
        let metrics = metrics.map(|name| name.parse::<Metric>().unwrap());
        let of_dense = Evaluation::new((&truth).into(), dense.view(), options()).evaluate(&metrics);
        let of_sparse = Evaluation::new((&truth).into(), sparse.view(), options());
        assert_eq!(of_sparse.evaluate(&metrics), of_dense);
        assert_eq!(largest_k(&metrics[..3]), Some(3));
        assert!(
            of_sparse.evaluate(&[Metric::Lrap]).is_err(),
            "a score for every label is needed"
        );
    }
}
