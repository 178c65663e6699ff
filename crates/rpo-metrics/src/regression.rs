//! Metrics of multi-output regression: r², relative RMSE, MSE, MAE, RMSE, and the pinball loss and coverage of quantiles.

use crate::labels::check_label_values;
use crate::real::{check_csr, check_finite, check_values};
use crate::{Mean, MetricError, MissingTruth, Real};
use ndarray::{ArrayView2, s};
use rayon::prelude::*;
use rpo_core::{CsrView, MatrixView, Mismatch, csr_row};
use std::ops::Range;

/// Number of outputs that are read together, so that the rows of a block stay in the cache.
const BLOCK: usize = 256;

/// The constant prediction that an output's error is compared with in the relative RMSE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Baseline<'a> {
    /// The mean of the evaluated true values.
    TestMean,
    /// One constant per output: the mean of the training values.
    Given(&'a [f64]),
}

/// A metric of one output, from the true values y, the predictions ŷ, and the mean ȳ of the evaluated true values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutputMetric<'a> {
    /// r² = 1 - Σ(y - ŷ)² / Σ(y - ȳ)², larger is better. For a constant output, 1 if it is predicted exactly,
    /// otherwise 0; for a single value, which has no variance, NaN. The mean over outputs is macro-r² (Joly, Wehenkel, Geurts 2019, eq. 26).
    R2,
    /// r² without the convention: for a constant output, NaN if it is predicted exactly, otherwise -∞.
    RawR2,
    /// The relative RMSE, sqrt(Σ(y - ŷ)² / Σ(y - m)²), smaller is better; m is the baseline. NaN if the baseline makes
    /// no error. The mean over outputs is aRRMSE.
    RelativeRmse(Baseline<'a>),
    /// The mean squared error, in the units of the output squared.
    Mse,
    /// The root mean squared error, in the units of the output.
    Rmse,
    /// The mean absolute error, in the units of the output.
    Mae,
    /// The mean pinball loss max(τ e, (τ - 1) e), e = y - ŷ, in the units of the output: the loss that the quantile of
    /// level τ minimizes. The level of output j is `levels[j % levels.len()]`, or the median if there are no levels:
    /// half the mean absolute error. Source: Koenker, Bassett, *Regression Quantiles*, Econometrica 46, 1978.
    Pinball(&'a [f64]),
    /// The fraction of true values that are at most the prediction, y ≤ ŷ: near τ if the prediction is a good quantile
    /// of level τ.
    QuantileCoverage,
}

/// The sums of one output from which all metrics follow.
#[derive(Debug, Clone, Copy, Default)]
struct OutputSums {
    n: usize,
    /// ȳ, the mean of the true values.
    mean: f64,
    /// Σ (y - ȳ)².
    total: f64,
    /// Σ (y - ŷ)².
    residual: f64,
    /// Σ |y - ŷ|.
    absolute: f64,
    /// Σ (y - ŷ).
    signed: f64,
    /// Number of samples with y ≤ ŷ.
    covered: usize,
}

/// Truth and prediction (n_samples x n_outputs), reduced once to seven sums per output, from which all metrics follow.
///
/// All means of an output are over the *evaluated* samples. Averages over outputs are plain means. Sums are computed in
/// `f64`, in sample order, and the total sum of squares is exactly 0 for a constant output. To compute a metric of some
/// of the outputs, slice the matrices.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{MissingTruth, OutputMetric, RegressionSums};
/// let (y, predicted) = (array![[1.0], [2.0], [3.0]], array![[1.0], [2.0], [4.0]]);
/// let sums = RegressionSums::new(y.view(), predicted.view(), MissingTruth::Refuse)?;
/// assert_eq!(sums.mean(OutputMetric::R2)?.value, 0.5);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RegressionSums {
    outputs: Vec<OutputSums>,
}

impl RegressionSums {
    /// Reduces dense true values and predictions.
    ///
    /// # Errors
    /// No samples or no columns, shapes that differ, predictions that are not finite, true values that are infinite or,
    /// unless they are skipped, NaN.
    pub fn new<T: Real, P: Real>(
        truth: ArrayView2<'_, T>,
        predicted: ArrayView2<'_, P>,
        missing: MissingTruth,
    ) -> Result<Self, MetricError> {
        match missing {
            MissingTruth::Refuse => check_finite("true values", truth)?,
            MissingTruth::Skip => {
                check_values("true values", truth, |v: T| v.is_finite() || v.into().is_nan())?;
            }
        }
        Self::reduce(truth.dim(), predicted, |row, columns, out| {
            let values = truth.slice(s![row, columns]);
            out.iter_mut().zip(values).for_each(|(o, &v)| *o = v.into());
        })
    }

    /// Reduces dense or CSR true values, where an entry that is not stored is 0, and dense predictions.
    ///
    /// # Errors
    /// As for [`RegressionSums::new`]; a sparse matrix compressed by columns.
    pub fn of<P: Real>(
        truth: MatrixView<'_>,
        predicted: ArrayView2<'_, P>,
        missing: MissingTruth,
    ) -> Result<Self, MetricError> {
        match truth {
            MatrixView::Dense(truth) => Self::new(truth, predicted, missing),
            MatrixView::Sparse(truth) => Self::of_csr(truth, predicted, missing),
        }
    }

    fn of_csr<P: Real>(
        truth: CsrView<'_>,
        predicted: ArrayView2<'_, P>,
        missing: MissingTruth,
    ) -> Result<Self, MetricError> {
        let skip = missing == MissingTruth::Skip;
        check_csr("true values", &truth, |v| v.is_finite() || (skip && v.is_nan()))?;
        Self::reduce(truth.shape(), predicted, |row, block, out| {
            out.fill(0.0);
            let (columns, values) = csr_row(&truth, row);
            let from = columns.partition_point(|&j| (j as usize) < block.start);
            let stored = columns[from..].iter().zip(&values[from..]);
            for (&j, &v) in stored.take_while(|(j, _)| (**j as usize) < block.end) {
                out[j as usize - block.start] = v.into();
            }
        })
    }

    /// Reduces true values that `read(row, columns, out)` copies; NaN values are left out.
    fn reduce<P: Real>(
        (n_rows, n_outputs): (usize, usize),
        predicted: ArrayView2<'_, P>,
        read: impl Fn(usize, Range<usize>, &mut [f64]) + Sync,
    ) -> Result<Self, MetricError> {
        Mismatch::check("samples", n_rows, predicted.nrows())?;
        Mismatch::check("outputs", n_outputs, predicted.ncols())?;
        check_finite("predictions", predicted)?;
        let mut outputs = vec![OutputSums::default(); n_outputs];
        outputs
            .par_chunks_mut(BLOCK)
            .enumerate()
            .for_each(|(block, sums)| {
                let columns = block * BLOCK..block * BLOCK + sums.len();
                let mut truth = vec![0.0; sums.len()];
                // Sums are relative to the first value, so that the mean of a constant output is exactly its value.
                let mut first = vec![f64::NAN; sums.len()];
                for row in 0..n_rows {
                    read(row, columns.clone(), &mut truth);
                    let guesses = predicted.slice(s![row, columns.clone()]);
                    for (j, (&y, &guess)) in truth.iter().zip(guesses).enumerate() {
                        if y.is_nan() {
                            continue;
                        }
                        if first[j].is_nan() {
                            first[j] = y;
                        }
                        let error = y - guess.into();
                        let sum = &mut sums[j];
                        sum.n += 1;
                        sum.mean += y - first[j];
                        sum.residual += error * error;
                        sum.absolute += error.abs();
                        sum.signed += error;
                        sum.covered += usize::from(error <= 0.0);
                    }
                }
                for (sum, first) in sums.iter_mut().zip(first) {
                    sum.mean = first + sum.mean / sum.n as f64;
                }
                for row in 0..n_rows {
                    read(row, columns.clone(), &mut truth);
                    for (sum, &y) in sums.iter_mut().zip(&truth).filter(|(_, y)| !y.is_nan()) {
                        sum.total += (y - sum.mean) * (y - sum.mean);
                    }
                }
            });
        Ok(Self { outputs })
    }

    /// Returns the mean of the evaluated true values of each output.
    fn truth_means(&self) -> Vec<f64> {
        self.outputs.iter().map(|o| o.mean).collect()
    }

    /// Returns the metric of each output; NaN for an output without evaluated values.
    ///
    /// # Errors
    /// A baseline that is not one finite value per output; quantile levels outside (0, 1), or whose number does not
    /// divide that of the outputs.
    pub fn per_output(&self, metric: OutputMetric<'_>) -> Result<Vec<f64>, MetricError> {
        let each = |value: fn(&OutputSums) -> f64| self.outputs.iter().map(value).collect();
        Ok(match metric {
            OutputMetric::R2 => each(|o| match (o.total == 0.0, o.residual == 0.0) {
                // A single value has no variance to explain.
                _ if o.n < 2 => f64::NAN,
                (true, true) => 1.0,
                (true, false) => 0.0,
                (false, _) => 1.0 - o.residual / o.total,
            }),
            OutputMetric::RawR2 => each(|o| 1.0 - o.residual / o.total),
            OutputMetric::RelativeRmse(Baseline::TestMean) => self.relative_rmse(&self.truth_means()),
            OutputMetric::RelativeRmse(Baseline::Given(means)) => {
                Mismatch::check("baseline means", self.outputs.len(), means.len())?;
                check_label_values("baseline means", means, "finite", f64::is_finite)?;
                self.relative_rmse(means)
            }
            OutputMetric::Mse => each(|o| o.residual / o.n as f64),
            OutputMetric::Rmse => each(|o| (o.residual / o.n as f64).sqrt()),
            OutputMetric::Mae => each(|o| o.absolute / o.n as f64),
            OutputMetric::Pinball(levels) => self.pinball(levels)?,
            OutputMetric::QuantileCoverage => each(|o| o.covered as f64 / o.n as f64),
        })
    }

    /// Returns the mean of a metric over the outputs for which it is defined.
    ///
    /// # Errors
    /// As for [`per_output`](Self::per_output).
    pub fn mean(&self, metric: OutputMetric<'_>) -> Result<Mean, MetricError> {
        Ok(Mean::from_iter(self.per_output(metric)?))
    }

    /// Returns the mean of r² over outputs, each weighted by its Σ(y - ȳ)²; the plain mean if all outputs are constant.
    pub fn variance_weighted_r2(&self) -> f64 {
        let varying = || self.outputs.iter().filter(|o| o.total > 0.0);
        let total: f64 = varying().map(|o| o.total).sum();
        if total == 0.0 {
            return self.mean(OutputMetric::R2).map_or(f64::NAN, |mean| mean.value);
        }
        1.0 - varying().map(|o| o.residual).sum::<f64>() / total
    }

    /// Returns the root of the mean squared error over all evaluated values, whatever the output.
    pub fn pooled_rmse(&self) -> f64 {
        let residual: f64 = self.outputs.iter().map(|o| o.residual).sum();
        let n: usize = self.outputs.iter().map(|o| o.n).sum();
        (residual / n as f64).sqrt()
    }

    /// Returns the mean of r² over the first half of the outputs ([`Metric::HalfR2`](crate::Metric::HalfR2)).
    pub fn half_r2(&self) -> f64 {
        let half = |r2: Vec<f64>| Mean::from_iter(r2[..r2.len() / 2].iter().copied()).value;
        self.per_output(OutputMetric::R2).map_or(f64::NAN, half)
    }

    fn relative_rmse(&self, means: &[f64]) -> Vec<f64> {
        let value = |(o, m): (&OutputSums, &f64)| {
            // Σ(y - m)² = Σ(y - ȳ)² + n (ȳ - m)².
            let shift = o.mean - m;
            let denominator = o.total + o.n as f64 * shift * shift;
            if denominator > 0.0 {
                (o.residual / denominator).sqrt()
            } else {
                f64::NAN
            }
        };
        self.outputs.iter().zip(means).map(value).collect()
    }

    fn pinball(&self, levels: &[f64]) -> Result<Vec<f64>, MetricError> {
        let levels = if levels.is_empty() { &[0.5] } else { levels };
        check_label_values("quantile levels", levels, "between 0 and 1", |v| {
            v > 0.0 && v < 1.0
        })?;
        let whole = self.outputs.len().next_multiple_of(levels.len());
        Mismatch::check("outputs of as many levels each", whole, self.outputs.len())?;
        // max(τ e, (τ - 1) e) = |e| / 2 + (τ - 1/2) e.
        let value = |(o, level): (&OutputSums, &f64)| {
            let sum = 0.5 * o.absolute + (level - 0.5) * o.signed;
            sum.max(0.0) / o.n as f64
        };
        Ok(self
            .outputs
            .iter()
            .zip(levels.iter().cycle())
            .map(value)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use rpo_core::CsrMatrix;

    proptest! {
        #[test]
        fn pinball_is_the_mean_of_the_losses_of_cells(
            values in proptest::collection::vec((-9.0_f64..9.0, -9.0_f64..9.0), 24), low in 0.01_f64..0.5,
        ) {
            let truth = Array2::from_shape_fn((6, 4), |(i, j)| values[4 * i + j].0);
            let predicted = Array2::from_shape_fn((6, 4), |(i, j)| values[4 * i + j].1);
            let sums = RegressionSums::new(truth.view(), predicted.view(), MissingTruth::Refuse).unwrap();
            for levels in [&[low][..], &[low, 0.9], &[]] {
                let found = sums.per_output(OutputMetric::Pinball(levels)).unwrap();
                for (j, found) in found.into_iter().enumerate() {
                    let level = levels.get(j % levels.len().max(1)).copied().unwrap_or(0.5);
                    let loss = |i| {
                        let e: f64 = truth[[i, j]] - predicted[[i, j]];
                        (level * e).max((level - 1.0) * e)
                    };
                    let expected = (0..6).map(loss).sum::<f64>() / 6.0;
                    prop_assert!((found - expected).abs() < 1e-9, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn levels_that_fit_no_outputs_are_refused() {
        let y = array![[1.0, 2.0, 3.0]];
        let sums = RegressionSums::new(y.view(), y.view(), MissingTruth::Refuse).unwrap();
        for levels in [&[0.1, 0.9][..], &[0.0], &[1.0], &[f64::NAN]] {
            assert!(
                sums.per_output(OutputMetric::Pinball(levels)).is_err(),
                "{levels:?}"
            );
        }
        let levels = OutputMetric::Pinball(&[0.1, 0.5, 0.9]);
        assert_eq!(sums.per_output(levels), Ok(vec![0.0; 3]));
    }

    #[test]
    fn missing_values_are_refused_or_left_out() {
        let truth = array![
            [1.0, f64::NAN, f64::NAN],
            [f64::NAN, 2.0, f64::NAN],
            [3.0, 4.0, f64::NAN]
        ];
        let predicted = array![[1.0_f32, 9.0, 0.0], [9.0, 2.0, 0.0], [2.0, 4.0, 0.0]];
        assert!(matches!(
            RegressionSums::new(truth.view(), predicted.view(), MissingTruth::Refuse),
            Err(MetricError::NonFinite {
                sample: 0,
                column: 1,
                ..
            })
        ));
        let sums = RegressionSums::new(truth.view(), predicted.view(), MissingTruth::Skip).unwrap();
        let r2 = sums.per_output(OutputMetric::R2).unwrap();
        assert_eq!(r2[..2], [0.5, 1.0]);
        assert!(r2[2].is_nan());
        let mean = |metric| sums.mean(metric).unwrap().value;
        assert_eq!((mean(OutputMetric::R2), mean(OutputMetric::Mse)), (0.75, 0.25));
        let infinite = array![[1.0, f64::INFINITY]];
        let found = RegressionSums::new(infinite.view(), array![[0.0, 0.0]].view(), MissingTruth::Skip);
        assert!(matches!(found, Err(MetricError::NonFinite { column: 1, .. })));
    }

    #[test]
    fn a_single_value_has_no_variance_to_explain() {
        let truth = array![[1.0, 2.0], [f64::NAN, 3.0]];
        let scores = array![[1.0, 2.0], [0.0, 3.0]];
        let sums = RegressionSums::new(truth.view(), scores.view(), MissingTruth::Skip).unwrap();
        let r2 = sums.per_output(OutputMetric::R2).unwrap();
        assert!(r2[0].is_nan() && r2[1] == 1.0, "{r2:?}");
    }

    #[test]
    fn a_constant_that_no_sum_represents_is_constant() {
        let truth = array![[0.1], [0.1], [0.1]];
        let sums = RegressionSums::new(
            truth.view(),
            array![[0.1], [0.1], [0.2]].view(),
            MissingTruth::Refuse,
        );
        let sums = sums.unwrap();
        assert_eq!(sums.per_output(OutputMetric::R2), Ok(vec![0.0]));
        assert_eq!(sums.per_output(OutputMetric::RawR2), Ok(vec![f64::NEG_INFINITY]));
        let relative = |baseline| sums.mean(OutputMetric::RelativeRmse(baseline)).unwrap();
        assert_eq!(relative(Baseline::TestMean).n_skipped, 1);
        assert!(relative(Baseline::Given(&[0.3])).value > 0.0);
    }

    #[test]
    fn sparse_truth_is_dense_truth() {
        let n_outputs = BLOCK + 2;
        let columns = vec![1, BLOCK as u32, 0];
        let sparse = CsrMatrix::new((3, n_outputs), vec![0, 2, 2, 3], columns, vec![2.0, -1.0, 0.5]);
        let mut dense = ndarray::Array2::<f32>::zeros((3, n_outputs));
        (dense[[0, 1]], dense[[0, BLOCK]], dense[[2, 0]]) = (2.0, -1.0, 0.5);
        let predicted = dense.mapv(|v| 0.25 + v / 2.0);
        let from_dense = RegressionSums::new(dense.view(), predicted.view(), MissingTruth::Refuse).unwrap();
        let from_sparse =
            RegressionSums::of_csr(sparse.view(), predicted.view(), MissingTruth::Refuse).unwrap();
        assert_eq!(
            from_sparse.per_output(OutputMetric::R2),
            from_dense.per_output(OutputMetric::R2)
        );
        assert_eq!(
            from_sparse.per_output(OutputMetric::Mae),
            from_dense.per_output(OutputMetric::Mae)
        );
        (dense[[1, 1]], dense[[2, BLOCK]]) = (f32::NAN, f32::NAN);
        let partial = rpo_core::MatrixView::from(&dense).to_csr();
        let of = |missing| RegressionSums::of_csr(partial.view(), predicted.view(), missing);
        assert!(matches!(
            of(MissingTruth::Refuse),
            Err(MetricError::NonFinite {
                sample: 1,
                column: 1,
                ..
            })
        ));
        let from_dense = RegressionSums::new(dense.view(), predicted.view(), MissingTruth::Skip).unwrap();
        let from_sparse = of(MissingTruth::Skip).unwrap();
        assert_eq!(
            from_sparse.per_output(OutputMetric::Mse),
            from_dense.per_output(OutputMetric::Mse)
        );
        assert_eq!(from_sparse.truth_means(), from_dense.truth_means());
    }

    #[test]
    fn baselines_are_checked() {
        let y = array![[1.0_f32, 2.0]];
        let sums = RegressionSums::new(y.view(), y.view(), MissingTruth::Refuse).unwrap();
        let expected = Mismatch {
            what: "baseline means",
            expected: 2,
            given: 1,
        };
        let given = |means| sums.per_output(OutputMetric::RelativeRmse(Baseline::Given(means)));
        assert_eq!(given(&[1.0]), Err(expected.into()));
        let found = given(&[1.0, f64::NAN]);
        assert!(matches!(found, Err(MetricError::LabelValue { label: 1, .. })));
    }

    #[test]
    fn coverage_counts_values_up_to_the_prediction() {
        let y = array![[1.0, f64::NAN], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]];
        let predicted = array![[2.0, 1.0], [2.0, 4.0], [2.0, 6.0], [2.0, 5.0]];
        let sums = RegressionSums::new(y.view(), predicted.view(), MissingTruth::Skip).unwrap();
        assert_eq!(
            sums.per_output(OutputMetric::QuantileCoverage),
            Ok(vec![0.5, 2.0 / 3.0])
        );
    }
}
