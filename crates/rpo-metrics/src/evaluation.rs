//! One prediction beside its truth, and any number of metrics of it.

use crate::{
    Average, Baseline, EmptyRows, LabelSets, Metric, MetricError, MissingTruth, Needs, RegressionSums,
    SetComparison, Thresholds, TopK, UndefinedLabels, ZeroDivision,
};
use crate::{area, at_k, ranking};
use ndarray::ArrayView2;
use rpo_core::MatrixView;
use std::borrow::Cow;
use std::cell::OnceCell;

/// The scores a model predicts.
#[derive(Debug, Clone, Copy)]
pub enum Scores<'a> {
    /// A score for every label (n_samples x n_labels); the predicted values in regression.
    Dense(ArrayView2<'a, f32>),
    /// The best k labels of each row.
    TopK(&'a TopK),
}

/// A prediction, its truth, and what some metrics need besides.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{Evaluation, Metric, Scores};
/// let truth = array![[1.0_f32, 0.0, 1.0], [0.0, 1.0, 0.0]];
/// let scores = array![[0.9_f32, 0.2, 0.6], [0.4, 0.3, 0.1]];
/// let evaluation = Evaluation::new((&truth).into(), Scores::Dense(scores.view()));
/// let values = evaluation.evaluate(&[Metric::Lrap, Metric::PrecisionAt(1), Metric::Hamming])?;
/// assert_eq!(values, [0.75, 0.5, 1.0 / 6.0]);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Evaluation<'a> {
    truth: MatrixView<'a>,
    scores: Scores<'a>,
    label_sets: Option<&'a LabelSets<'a>>,
    thresholds: Thresholds,
    inverse_propensities: Option<&'a [f64]>,
    train_means: Option<&'a [f64]>,
    empty_rows: EmptyRows,
    zero_division: ZeroDivision,
    missing: MissingTruth,
}

impl<'a> Evaluation<'a> {
    /// Scores beside the truth: 0/1 labels for every metric but those of regression.
    pub fn new(truth: MatrixView<'a>, scores: Scores<'a>) -> Self {
        Self {
            truth,
            scores,
            label_sets: None,
            thresholds: Thresholds::default(),
            inverse_propensities: None,
            train_means: None,
            empty_rows: EmptyRows::default(),
            zero_division: ZeroDivision::default(),
            missing: MissingTruth::default(),
        }
    }

    /// Entries of the truth that are NaN; refused unless set. Predictions of the best labels must then list up to
    /// [`LabelSets::most_missing`] labels more than a metric's k.
    #[must_use]
    pub fn missing(mut self, missing: MissingTruth) -> Self {
        self.missing = missing;
        self
    }

    /// The predicted label sets, instead of those whose scores reach the thresholds.
    #[must_use]
    pub fn label_sets(mut self, sets: &'a LabelSets<'a>) -> Self {
        self.label_sets = Some(sets);
        self
    }

    /// From which score on a label is predicted; 0.5 unless set.
    #[must_use]
    pub fn thresholds(mut self, thresholds: Thresholds) -> Self {
        self.thresholds = thresholds;
        self
    }

    /// 1/p per label, for `psp@K` and `psndcg@K` ([`Propensity::inverse`](crate::Propensity::inverse)).
    #[must_use]
    pub fn inverse_propensities(mut self, inverse: &'a [f64]) -> Self {
        self.inverse_propensities = Some(inverse);
        self
    }

    /// The mean of each output over the training set, as baseline of `arrmse`; otherwise it is the mean over
    /// the evaluated rows.
    #[must_use]
    pub fn train_means(mut self, means: &'a [f64]) -> Self {
        self.train_means = Some(means);
        self
    }

    /// Rows without labels in `lrap` and `one-error`; skipped unless set.
    #[must_use]
    pub fn empty_rows(mut self, empty_rows: EmptyRows) -> Self {
        self.empty_rows = empty_rows;
        self
    }

    /// 0/0 in `jaccard` and the F1s; 0 unless set.
    #[must_use]
    pub fn zero_division(mut self, zero_division: ZeroDivision) -> Self {
        self.zero_division = zero_division;
        self
    }

    /// The value of each metric, in order; NaN where its conventions leave it undefined.
    ///
    /// Labels are checked, the best labels selected, label sets compared and errors summed once for all metrics.
    ///
    /// # Errors
    /// A truth that does not fit the metric (labels other than 0 and 1), shapes that differ, no row or no column,
    /// values that are not finite, dense scores or propensities needed and not given, k = 0 or beyond what the
    /// predictions keep.
    pub fn evaluate(&self, metrics: &[Metric]) -> Result<Vec<f64>, MetricError> {
        let largest_k = metrics.iter().filter_map(|m| match m.needs() {
            Needs::TopK(k) => Some(k),
            _ => None,
        });
        let shared = Shared {
            evaluation: self,
            k: largest_k.max().unwrap_or(1),
            truth: OnceCell::new(),
            top: OnceCell::new(),
            sets: OnceCell::new(),
            sums: OnceCell::new(),
        };
        metrics.iter().map(|&metric| shared.value(metric)).collect()
    }
}

/// What several metrics of one evaluation share, computed when the first of them asks.
struct Shared<'e, 'a> {
    evaluation: &'e Evaluation<'a>,
    /// The largest k of any metric.
    k: usize,
    truth: OnceCell<LabelSets<'a>>,
    top: OnceCell<Cow<'a, TopK>>,
    sets: OnceCell<SetComparison>,
    sums: OnceCell<RegressionSums>,
}

impl<'a> Shared<'_, 'a> {
    fn value(&self, metric: Metric) -> Result<f64, MetricError> {
        let Evaluation {
            empty_rows,
            zero_division: zero,
            ..
        } = *self.evaluation;
        Ok(match metric {
            Metric::Lrap => ranking::lrap(self.truth()?, self.dense(metric)?, empty_rows)?.value,
            Metric::Coverage => ranking::coverage_error(self.truth()?, self.dense(metric)?)?,
            Metric::RankingLoss => ranking::ranking_loss(self.truth()?, self.dense(metric)?)?,
            Metric::OneError => at_k::one_error(self.truth()?, self.top()?, empty_rows)?.value,
            Metric::PrecisionAt(k) => at_k::precision_at_k(self.truth()?, self.top()?, k)?,
            Metric::NdcgAt(k) => at_k::ndcg_at_k(self.truth()?, self.top()?, k)?,
            Metric::PspAt(k) => at_k::psp_at_k(self.truth()?, self.top()?, self.inverse(metric)?, k)?.value,
            Metric::PsndcgAt(k) => {
                at_k::psndcg_at_k(self.truth()?, self.top()?, self.inverse(metric)?, k)?.value
            }
            Metric::MacroAuc => area::macro_roc_auc(self.truth()?, self.dense(metric)?)?.value,
            Metric::MicroAuc => area::micro_roc_auc(self.truth()?, self.dense(metric)?)?,
            Metric::AveragePrecision => {
                area::macro_average_precision(self.truth()?, self.dense(metric)?, UndefinedLabels::Skip)?
                    .value
            }
            Metric::Hamming => self.sets()?.hamming_loss(),
            Metric::SubsetAccuracy => self.sets()?.subset_accuracy(),
            Metric::Jaccard => self.sets()?.jaccard(Average::Samples, zero),
            Metric::MicroF1 => self.sets()?.f1(Average::Micro, zero),
            Metric::MacroF1 => self.sets()?.f1(Average::Macro, zero),
            Metric::ExampleF1 => self.sets()?.f1(Average::Samples, zero),
            Metric::R2 => self.sums(metric)?.macro_r2(),
            Metric::HalfR2 => self.sums(metric)?.half_macro_r2(),
            Metric::Arrmse => {
                let means = self.evaluation.train_means;
                self.sums(metric)?
                    .arrmse(means.map_or(Baseline::TestMean, Baseline::Given))?
                    .value
            }
            Metric::Mse => self.sums(metric)?.mse(),
            Metric::Mae => self.sums(metric)?.mae(),
        })
    }

    fn truth(&self) -> Result<&LabelSets<'a>, MetricError> {
        once(&self.truth, || {
            LabelSets::of(self.evaluation.truth, self.evaluation.missing)
        })
    }

    fn top(&self) -> Result<&TopK, MetricError> {
        let select = || match self.evaluation.scores {
            Scores::Dense(scores) => {
                let k = self.k.saturating_add(self.truth()?.most_missing());
                TopK::from_scores(scores, k).map(Cow::Owned)
            }
            Scores::TopK(top) => Ok(Cow::Borrowed(top)),
        };
        once(&self.top, select).map(AsRef::as_ref)
    }

    fn sets(&self) -> Result<&SetComparison, MetricError> {
        once(&self.sets, || {
            let Evaluation {
                label_sets,
                scores,
                thresholds,
                ..
            } = self.evaluation;
            let predicted = match (label_sets, scores) {
                (Some(sets), _) => return SetComparison::new(self.truth()?, sets),
                (None, Scores::Dense(scores)) => LabelSets::from_scores(*scores, thresholds)?,
                (None, Scores::TopK(top)) => LabelSets::from_top_k(top, thresholds)?,
            };
            SetComparison::new(self.truth()?, &predicted)
        })
    }

    fn sums(&self, metric: Metric) -> Result<&RegressionSums, MetricError> {
        once(&self.sums, || {
            let predicted = self.dense(metric)?;
            match self.evaluation.truth {
                MatrixView::Dense(truth) => RegressionSums::new(truth, predicted, self.evaluation.missing),
                MatrixView::Sparse(truth) => {
                    RegressionSums::from_csr(truth, predicted, self.evaluation.missing)
                }
            }
        })
    }

    fn dense(&self, metric: Metric) -> Result<ArrayView2<'a, f32>, MetricError> {
        match self.evaluation.scores {
            Scores::Dense(scores) => Ok(scores),
            Scores::TopK(_) => Err(MetricError::Missing {
                metric,
                needs: "a score for every label, the predictions keep only the best of each row",
            }),
        }
    }

    fn inverse(&self, metric: Metric) -> Result<&'a [f64], MetricError> {
        self.evaluation.inverse_propensities.ok_or(MetricError::Missing {
            metric,
            needs: "the inverse propensities of the labels",
        })
    }
}

/// The value of a cell, computed if it is the first time.
fn once<T>(cell: &OnceCell<T>, compute: impl FnOnce() -> Result<T, MetricError>) -> Result<&T, MetricError> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = compute()?;
    Ok(cell.get_or_init(|| value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn what_is_missing_is_named() {
        let truth = array![[1.0_f32, 0.0]];
        let scores = array![[1.0_f32, 0.0]];
        let evaluation = Evaluation::new((&truth).into(), Scores::Dense(scores.view()));
        let expected = MetricError::Missing {
            metric: Metric::PspAt(1),
            needs: "the inverse propensities of the labels",
        };
        assert_eq!(Metric::PspAt(1).evaluate(&evaluation), Err(expected));
        let top = TopK::from_scores(scores.view(), 1).unwrap();
        let evaluation = Evaluation::new((&truth).into(), Scores::TopK(&top));
        assert_eq!(Metric::PrecisionAt(1).evaluate(&evaluation), Ok(1.0));
        assert_eq!(Metric::Hamming.evaluate(&evaluation), Ok(0.0));
        let found = Metric::Mse.evaluate(&evaluation).unwrap_err().to_string();
        assert!(found.starts_with("mse needs a score for every label"), "{found}");
        assert_eq!(
            Metric::PrecisionAt(0).evaluate(&evaluation),
            Err(MetricError::ZeroK)
        );
    }

    #[test]
    fn k_may_be_any_number() {
        let truth = array![[1.0_f32, f32::NAN], [0.0, 1.0]];
        let scores = array![[1.0_f32, 0.0], [0.0, 1.0]];
        let evaluation = Evaluation::new((&truth).into(), Scores::Dense(scores.view()));
        let evaluation = evaluation.missing(MissingTruth::Skip);
        let found = Metric::PrecisionAt(usize::MAX).evaluate(&evaluation).unwrap();
        assert!(found > 0.0 && found < 1e-15);
        assert_eq!(Metric::NdcgAt(usize::MAX).evaluate(&evaluation), Ok(1.0));
    }
}
