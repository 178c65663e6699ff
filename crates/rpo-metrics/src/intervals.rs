//! Metrics of prediction intervals.

use crate::real::check_finite;
use crate::{MetricError, MissingTruth, RegressionSums};
use ndarray::{ArrayView2, s};
use rpo_core::{MatrixView, Mismatch};

/// The coverage and the width of the prediction intervals of each output.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{IntervalSums, MissingTruth};
/// let truth = array![[1.0_f32], [5.0]];
/// let bounds = array![[0.0_f32, 2.0], [1.0, 4.0]];
/// let sums = IntervalSums::new((&truth).into(), bounds.view(), MissingTruth::Refuse)?;
/// assert_eq!((sums.coverage(), sums.width()), (vec![0.5], vec![2.5]));
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalSums {
    outputs: Vec<Sums>,
}

/// The sums of one output.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    n: usize,
    covered: usize,
    width: f64,
}

impl IntervalSums {
    /// Compares true values (samples x d) with intervals (samples x 2d), the lower and the upper bound of each output in
    /// turn. Bounds belong to the interval.
    ///
    /// # Errors
    /// No samples or no outputs, sizes that do not match, bounds that are not finite, a lower bound above the upper one
    /// ([`MetricError::Interval`]), true values that are infinite or, unless they are skipped, NaN; a sparse truth
    /// compressed by columns.
    pub fn new(
        truth: MatrixView<'_>,
        bounds: ArrayView2<'_, f32>,
        missing: MissingTruth,
    ) -> Result<Self, MetricError> {
        Mismatch::check("samples", truth.n_rows(), bounds.nrows())?;
        Mismatch::check("bounds of intervals", 2 * truth.n_cols(), bounds.ncols())?;
        check_finite("bounds of intervals", bounds)?;
        check_order(bounds)?;
        // Checks the truth.
        RegressionSums::of(truth, bounds.slice(s![.., ..;2]), missing)?;
        let mut outputs = vec![Sums::default(); truth.n_cols()];
        let mut values = vec![0.0_f32; truth.n_cols()];
        for (row, bounds) in bounds.rows().into_iter().enumerate() {
            truth.copy_row(row, &mut values);
            let intervals = bounds.exact_chunks(2);
            let observed = values.iter().zip(intervals).zip(&mut outputs);
            for ((&value, interval), sums) in observed.filter(|((value, _), _)| !value.is_nan()) {
                sums.n += 1;
                sums.covered += usize::from((interval[0]..=interval[1]).contains(&value));
                sums.width += f64::from(interval[1]) - f64::from(interval[0]);
            }
        }
        Ok(Self { outputs })
    }

    /// The fraction of true values within their interval, for each output; NaN without true values.
    pub fn coverage(&self) -> Vec<f64> {
        let of = |sums: &Sums| sums.covered as f64 / sums.n as f64;
        self.outputs.iter().map(of).collect()
    }

    /// The mean width of the intervals of observed true values, for each output, in its units; NaN without true values.
    pub fn width(&self) -> Vec<f64> {
        self.outputs
            .iter()
            .map(|sums| sums.width / sums.n as f64)
            .collect()
    }
}

/// Checks that no lower bound is above the upper one.
fn check_order(bounds: ArrayView2<'_, f32>) -> Result<(), MetricError> {
    for (sample, bounds) in bounds.rows().into_iter().enumerate() {
        for (output, interval) in bounds.exact_chunks(2).into_iter().enumerate() {
            let (lower, upper) = (interval[0], interval[1]);
            if lower > upper {
                return Err(MetricError::Interval {
                    sample,
                    output,
                    lower,
                    upper,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn missing_values_are_left_out_and_bounds_belong_to_intervals() {
        let truth = array![[1.0_f32, f32::NAN], [3.0, f32::NAN], [f32::NAN, f32::NAN]];
        let bounds = array![
            [1.0_f32, 2.0, 0.0, 1.0],
            [1.0, 2.5, 0.0, 1.0],
            [0.0, 9.0, 0.0, 1.0]
        ];
        let sums = IntervalSums::new((&truth).into(), bounds.view(), MissingTruth::Skip).unwrap();
        assert_eq!((sums.coverage()[0], sums.width()[0]), (0.5, 1.25));
        assert!(sums.coverage()[1].is_nan() && sums.width()[1].is_nan());
        let refused = IntervalSums::new((&truth).into(), bounds.view(), MissingTruth::Refuse);
        assert!(
            matches!(refused, Err(MetricError::NonFinite { .. })),
            "{refused:?}"
        );
        let refused = IntervalSums::new((&truth).into(), truth.view(), MissingTruth::Skip);
        assert!(matches!(refused, Err(MetricError::Mismatch(_))), "{refused:?}");
    }

    #[test]
    fn bounds_are_in_order() {
        let truth = array![[1.0_f32, 2.0], [3.0, f32::NAN]];
        let of = |bounds: [[f32; 4]; 2]| {
            let bounds = ndarray::Array2::from(bounds.to_vec());
            IntervalSums::new((&truth).into(), bounds.view(), MissingTruth::Skip).map(|sums| sums.width())
        };
        assert_eq!(
            of([[1.0, 1.0, 0.0, 1.0], [1.0, 2.0, 0.0, 0.0]]),
            Ok(vec![0.5, 1.0])
        );
        let expected = MetricError::Interval {
            sample: 1,
            output: 1,
            lower: 0.5,
            upper: -0.5,
        };
        assert_eq!(expected.clone().sample_mut(), Some(&mut 1));
        assert_eq!(of([[1.0, 1.0, 0.0, 1.0], [1.0, 2.0, 0.5, -0.5]]), Err(expected));
    }
}
