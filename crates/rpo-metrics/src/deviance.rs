//! Mean deviances of counts and amounts.

use crate::real::{check_csr, check_finite, check_values};
use crate::{MetricError, MissingTruth, Real};
use ndarray::ArrayView2;
use rayon::prelude::*;
use rpo_core::{MatrixView, Mismatch, ParameterError, csr_row, math};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The power p of the Tweedie deviance, for amounts whose variance is proportional to the p-th power of their mean:
/// between 1, the Poisson distribution of counts, and 2, the gamma distribution, whose amounts are never 0. Default
/// 1.5, as for the `tweedie` loss of boosting.
///
/// ```
/// use rpo_metrics::TweediePower;
/// assert_eq!(TweediePower::new(1.7)?.get(), 1.7);
/// assert!(TweediePower::new(2.0).is_err());
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TweediePower(f64);

/// No power is NaN.
impl Eq for TweediePower {}

impl PartialOrd for TweediePower {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TweediePower {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl TweediePower {
    /// The default, 1.5.
    pub(crate) const MIDDLE: Self = Self(1.5);

    /// Creates a power.
    ///
    /// # Errors
    /// A number that is not between 1 and 2.
    pub fn new(power: f64) -> Result<Self, MetricError> {
        ParameterError::unless(power > 1.0 && power < 2.0, "power", power, "between 1 and 2")?;
        Ok(Self(power))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Default for TweediePower {
    fn default() -> Self {
        Self::MIDDLE
    }
}

impl fmt::Display for TweediePower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TweediePower {
    type Err = MetricError;

    fn from_str(text: &str) -> Result<Self, MetricError> {
        match text.parse() {
            Ok(power) => Self::new(power),
            Err(_) => Err(ParameterError::out_of_range("power", text, "between 1 and 2").into()),
        }
    }
}

/// A deviance of true values y ≥ 0 from predicted means μ: 0 if they are equal, and smallest on average if μ is the
/// mean of y. It is infinite for μ ≤ 0, as it grows without bound while μ approaches 0, unless y = μ = 0.
///
/// Unlike squared errors it counts an error relative to what the mean lets expect: among large counts the same difference
/// weighs less. Values are those of scikit-learn's `mean_poisson_deviance` and `mean_tweedie_deviance`,
/// which refuse predictions that are not above 0.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{Deviance, MissingTruth};
/// let (y, predicted) = (array![[0.0_f32], [2.0]], array![[0.5_f32], [2.0]]);
/// let found = Deviance::Poisson.per_output(y.view(), predicted.view(), MissingTruth::Refuse)?;
/// assert_eq!(found, [0.5]);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deviance {
    /// For counts, the mean of 2 (y log(y / μ) − y + μ), where 0 log 0 = 0.
    Poisson,
    /// For amounts that are often 0, the mean of 2 (y²⁻ᵖ / ((1 − p)(2 − p)) − y μ¹⁻ᵖ / (1 − p) + μ²⁻ᵖ / (2 − p)).
    Tweedie(TweediePower),
}

impl Deviance {
    /// Returns the mean deviance of each output, over its evaluated samples in order; NaN for an output without any.
    ///
    /// # Errors
    /// [`MetricError::Deviance`] for a true value below 0; no samples or no outputs, shapes that differ, predictions that
    /// are not finite, true values that are infinite or, unless they are skipped, NaN.
    pub fn per_output<T: Real, P: Real>(
        self,
        truth: ArrayView2<'_, T>,
        predicted: ArrayView2<'_, P>,
        missing: MissingTruth,
    ) -> Result<Vec<f64>, MetricError> {
        let skips = missing == MissingTruth::Skip;
        check_values("true values", truth, |v: T| {
            v.is_finite() || (skips && v.into().is_nan())
        })?;
        self.means(truth.dim(), predicted, |row, output| truth[[row, output]].into())
    }

    /// As [`per_output`](Self::per_output), of dense or CSR true values, where an entry that is not stored is 0.
    ///
    /// # Errors
    /// As for [`per_output`](Self::per_output); a sparse matrix compressed by columns.
    pub fn of<P: Real>(
        self,
        truth: MatrixView<'_>,
        predicted: ArrayView2<'_, P>,
        missing: MissingTruth,
    ) -> Result<Vec<f64>, MetricError> {
        let truth = match truth {
            MatrixView::Dense(truth) => return self.per_output(truth, predicted, missing),
            MatrixView::Sparse(truth) => truth,
        };
        let skips = missing == MissingTruth::Skip;
        check_csr("true values", &truth, |v| v.is_finite() || (skips && v.is_nan()))?;
        self.means(truth.shape(), predicted, |row, output| {
            let (columns, values) = csr_row(&truth, row);
            let at = columns.binary_search(&(output as u32));
            at.map_or(0.0, |at| f64::from(values[at]))
        })
    }

    /// The means for true values that `read(sample, output)` returns; NaN values are left out.
    fn means<P: Real>(
        self,
        (n_samples, n_outputs): (usize, usize),
        predicted: ArrayView2<'_, P>,
        read: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Result<Vec<f64>, MetricError> {
        Mismatch::check("samples", n_samples, predicted.nrows())?;
        Mismatch::check("outputs", n_outputs, predicted.ncols())?;
        check_finite("predictions", predicted)?;
        let mean = |output: usize| {
            let (mut sum, mut n) = (0.0, 0_usize);
            for sample in 0..n_samples {
                let (y, mean): (f64, f64) = (read(sample, output), predicted[[sample, output]].into());
                if y.is_nan() {
                    continue;
                }
                if y < 0.0 {
                    return Err(MetricError::Deviance {
                        sample,
                        output,
                        truth: y,
                    });
                }
                sum += self.value(y, mean);
                n += 1;
            }
            Ok(sum / n as f64)
        };
        let means: Vec<Result<f64, MetricError>> = (0..n_outputs).into_par_iter().map(mean).collect();
        means.into_iter().collect()
    }

    /// The deviance of y ≥ 0 from μ: at least 0, also where the terms of the formula cancel but for rounding.
    fn value(self, y: f64, mean: f64) -> f64 {
        if y == mean {
            return 0.0;
        }
        if mean <= 0.0 {
            return f64::INFINITY;
        }
        let value = match self {
            Self::Poisson => {
                let of_logarithms = if y > 0.0 { y * math::ln(y / mean) } else { 0.0 };
                2.0 * (of_logarithms - y + mean)
            }
            Self::Tweedie(power) => {
                let (below, above) = (1.0 - power.get(), 2.0 - power.get());
                let of_mean = math::powf(mean, above) / above - y * math::powf(mean, below) / below;
                2.0 * (math::powf(y, above) / (below * above) + of_mean)
            }
        };
        value.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array, s};
    use rpo_core::CsrMatrix;

    fn tweedie(power: f64) -> Deviance {
        Deviance::Tweedie(TweediePower::new(power).unwrap())
    }

    #[test]
    fn no_deviance_is_negative() {
        for power in [1.01, 1.5, 1.99] {
            for y in 1..2000 {
                let y = f64::from(y);
                assert_eq!(tweedie(power).value(y, y), 0.0, "{power}, {y}");
                let near = tweedie(power).value(y, y * (1.0 + 1e-9));
                assert!((0.0..1e-9).contains(&near), "{power}, {y}: {near}");
            }
        }
        assert!(Deviance::Poisson.value(3.0, 3.0 + 1e-12) >= 0.0);
    }

    /// Values of `mean_poisson_deviance` and `mean_tweedie_deviance` of scikit-learn 1.9.
    #[test]
    fn values_are_those_of_scikit_learn() {
        let truth = array![[0.0, 3.0], [1.0, 0.0], [4.0, 120.5], [0.0, 7.25]];
        let predicted = array![[0.5, 2.0], [1.5, 0.25], [3.0, 90.0], [0.125, 8.0]];
        for (deviance, expected) in [
            (Deviance::Poisson, [0.4351315908494794, 2.5847173748909897]),
            (tweedie(1.5), [1.1433535084265165, 0.8121065389558841]),
            (tweedie(1.1), [0.49606357955517105, 1.7470307168820325]),
            (tweedie(1.9), [8.78918255445037, 4.44420336899554]),
        ] {
            let found = deviance
                .per_output(truth.view(), predicted.view(), MissingTruth::Refuse)
                .unwrap();
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-12 * expected,
                    "{deviance:?}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_sparse_truth_is_a_dense_one_and_missing_values_are_left_out() {
        let truth = array![
            [0.0_f32, f32::NAN, 2.0],
            [5.0, f32::NAN, 0.0],
            [f32::NAN, f32::NAN, 1.0]
        ];
        let predicted = Array2::from_shape_fn((3, 3), |(i, j)| (1 + i + j) as f32 / 2.0);
        let sparse: CsrMatrix = MatrixView::from(&truth).to_csr();
        for deviance in [Deviance::Poisson, tweedie(1.4)] {
            let of_dense = deviance
                .of((&truth).into(), predicted.view(), MissingTruth::Skip)
                .unwrap();
            let of_sparse = deviance
                .of((&sparse).into(), predicted.view(), MissingTruth::Skip)
                .unwrap();
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&of_sparse), bits(&of_dense));
            let observed = (truth.slice(s![..2, ..1]), predicted.slice(s![..2, ..1]));
            let alone = deviance
                .per_output(observed.0, observed.1, MissingTruth::Refuse)
                .unwrap();
            assert_eq!(of_dense[0], alone[0]);
            assert!(of_dense[1].is_nan() && of_dense[2] > 0.0, "{of_dense:?}");
            for truth in [MatrixView::from(&truth), (&sparse).into()] {
                let found = deviance.of(truth, predicted.view(), MissingTruth::Refuse);
                assert!(matches!(found, Err(MetricError::NonFinite { .. })), "{found:?}");
            }
        }
    }

    #[test]
    fn predictions_that_are_not_positive_are_infinitely_far_away() {
        for deviance in [Deviance::Poisson, tweedie(1.4)] {
            let of = |y: f64, mean: f64| {
                let (truth, predicted) = (array![[1.0, 1.0], [1.0, y]], array![[1.0, 1.0], [1.0, mean]]);
                deviance.per_output(truth.view(), predicted.view(), MissingTruth::Skip)
            };
            for (y, mean) in [(1.0, 0.0), (1.0, -0.5), (0.0, -0.5)] {
                assert_eq!(of(y, mean), Ok(vec![0.0, f64::INFINITY]));
            }
            assert_eq!(of(0.0, 0.0), Ok(vec![0.0, 0.0]));
            // What is left out needs no prediction.
            assert_eq!(of(f64::NAN, -0.5), Ok(vec![0.0, 0.0]));
            let refused = MetricError::Deviance {
                sample: 1,
                output: 1,
                truth: -1.0,
            };
            assert_eq!(of(-1.0, 1.0), Err(refused));
        }
    }

    #[test]
    fn powers_are_between_those_of_poisson_and_gamma() {
        for power in [1.0, 2.0, f64::NAN, 0.0] {
            assert!(TweediePower::new(power).is_err(), "{power}");
        }
        assert_eq!("1.25".parse::<TweediePower>().unwrap().to_string(), "1.25");
        assert!("p".parse::<TweediePower>().is_err());
        assert!(TweediePower::new(1.2).unwrap() < TweediePower::default());
    }
}
