//! Calibration of prediction intervals.

use super::Intervals;
use crate::decision::check_out_of_bag;
use crate::{Model, ModelError};
use ndarray::ArrayView2;
use rpo_core::{Domain, MatrixView, Predictor};
use rpo_data::Dataset;
use rpo_ensemble::EnsembleError;

/// The source of a model's prediction intervals ([`Model::with_intervals`]), with their level 1 - α, in (0, 1).
#[derive(Debug, Clone, PartialEq)]
pub enum IntervalSource<'a> {
    /// No intervals, or those of another model.
    Given(Option<Intervals>),
    /// From the out-of-bag predictions for the training set, which is passed again, with the samples in the same order;
    /// columns are found by name. Data with groups are refused.
    OutOfBag(f64, &'a Dataset),
    /// From the predictions for samples that the model was not fitted to; columns are found by name.
    Withheld(f64, &'a Dataset),
}

impl Model {
    pub(super) fn intervals_from(&self, source: IntervalSource<'_>) -> Result<Option<Intervals>, ModelError> {
        let (level, data) = match source {
            IntervalSource::Given(given) => return Ok(given),
            IntervalSource::OutOfBag(level, data) | IntervalSource::Withheld(level, data) => (level, data),
        };
        Domain::Level.check("intervals", level)?;
        if self.numbers().is_empty() {
            return Err(ModelError::NoNumbers);
        }
        let data = match source {
            IntervalSource::OutOfBag(..) => self.training_samples(data),
            _ => data.for_training(),
        };
        let x = self.schema().align_features(&data)?;
        let y = self.schema().align_outputs(&data)?;
        let predictions = match source {
            IntervalSource::OutOfBag(..) => {
                check_out_of_bag(&data)?;
                let found = self.oob_predictions(x.view())?;
                let (mut predictions, counts) = found.ok_or(EnsembleError::NoBootstrap)?;
                // Samples in every bag have no prediction.
                for (mut row, _) in predictions
                    .rows_mut()
                    .into_iter()
                    .zip(&counts)
                    .filter(|(_, n)| **n == 0)
                {
                    row.fill(f32::NAN);
                }
                predictions
            }
            _ => self.predict(x.view())?,
        };
        self.calibrated(level, predictions.view(), y.view()).map(Some)
    }

    /// Finds the offsets from predictions and true values, of which those that are NaN are left out.
    fn calibrated(
        &self,
        level: f64,
        predictions: ArrayView2<'_, f32>,
        truth: MatrixView<'_>,
    ) -> Result<Intervals, ModelError> {
        let truth = truth.to_dense(usize::MAX).expect("as large as the predictions");
        let offsets = self.numbers().into_iter().map(|(target, outputs)| {
            let (first, last) = (
                predictions.column(outputs.start),
                predictions.column(outputs.end - 1),
            );
            let predicted = first.iter().zip(last);
            let known = truth.column(outputs.start).into_iter().zip(predicted);
            // Differences of `f32` could be infinite.
            let residual = |y: f32, predicted: f32| f64::from(y) - f64::from(predicted);
            let known = known.map(|(&y, (&first, &last))| [residual(y, first), residual(y, last)]);
            let residuals: Vec<[f64; 2]> = known.filter(|r| r.iter().all(|r| !r.is_nan())).collect();
            let offsets = match outputs.len() {
                1 => two_sided(residuals.iter().map(|r| r[0]).collect(), level),
                _ => symmetric(residuals.iter().map(|r| (-r[0]).max(r[1])).collect(), level),
            };
            offsets.map_err(|needed| ModelError::TooFewForIntervals {
                target: self
                    .schema()
                    .target_names()
                    .get(target)
                    .unwrap_or_default()
                    .into_owned(),
                level,
                needed,
                observed: residuals.len(),
            })
        });
        Ok(Intervals {
            level,
            offsets: offsets.collect::<Result<_, _>>()?,
        })
    }
}

/// Ranks are rounded after adding this, as (n + 1)(1 - level) is seldom exact.
const ROUNDING: f64 = 1e-9;

/// The ⌊(n + 1) α/2⌋-th smallest and largest of n residuals y - ŷ, α = 1 - level. The error is the number that is needed.
fn two_sided(mut residuals: Vec<f64>, level: f64) -> Result<[f64; 2], usize> {
    let tail = (1.0 - level) / 2.0;
    let rank = ((residuals.len() + 1) as f64 * tail + ROUNDING) as usize;
    if rank == 0 {
        return Err((1.0 / tail - 1.0 - ROUNDING).ceil() as usize);
    }
    residuals.sort_by(f64::total_cmp);
    Ok([residuals[rank - 1], residuals[residuals.len() - rank]])
}

/// The offsets -e and e, e the ⌈(n + 1) level⌉-th smallest of n distances by which true values lie outside of quantiles,
/// negative within. The error is the number that is needed.
fn symmetric(mut outside: Vec<f64>, level: f64) -> Result<[f64; 2], usize> {
    let rank = ((outside.len() + 1) as f64 * level - ROUNDING).ceil() as usize;
    if rank > outside.len() {
        return Err((level / (1.0 - level) - ROUNDING).ceil() as usize);
    }
    outside.sort_by(f64::total_cmp);
    let e = outside[rank.max(1) - 1];
    Ok([-e, e])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_leave_as_many_on_each_side() {
        let values = |n: usize| (1..=n).map(|i| i as f64).collect::<Vec<_>>();
        assert_eq!(two_sided(values(19), 0.9), Ok([1.0, 19.0]));
        assert_eq!(two_sided(values(39), 0.9), Ok([2.0, 38.0]));
        assert_eq!(two_sided(values(18), 0.9), Err(19));
        assert_eq!(symmetric(values(9), 0.9), Ok([-9.0, 9.0]));
        assert_eq!(symmetric(values(19), 0.9), Ok([-18.0, 18.0]));
        assert_eq!(symmetric(values(8), 0.9), Err(9));
    }
}
