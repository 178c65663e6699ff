//! Prediction intervals of numbers, whose coverage is calibrated on samples that the model was not fitted to.
//!
//! Sources: split conformal prediction (Lei, G'Sell, Rinaldo, Tibshirani, Wasserman, JASA 2018, section 2.2), also with
//! out-of-bag predictions of forests (Johansson, Boström, Löfström, Linusson, Machine Learning 2014), and conformalized
//! quantile regression (Romano, Patterson, Candès, NeurIPS 2019).
//!
//! If calibration samples and new samples are exchangeable, an interval of level 1 - α covers the true value with a
//! probability of at least 1 - α, whatever the method, the distribution and the number of samples: on average over
//! samples, not for each region of features. This is exact for the model whose errors are counted. Training counts those of
//! a model that did not have the withheld samples, and keeps one that is fitted to all: coverage is then close to the
//! level as far as the two predict alike, and may be far from it where many samples have the same value, which a small
//! shift of an interval leaves out. Out-of-bag predictions are made by a part of the trees, so that intervals of forests are
//! somewhat wider than necessary.

mod calibrate;

pub use calibrate::IntervalSource;

use crate::{Model, ModelError};
use ndarray::{Array2, ArrayView2, Axis, Zip, s};
use rpo_core::{Domain, Mismatch, ParameterError, Predictor};
use std::collections::BTreeSet;
use std::ops::Range;

/// How far the prediction intervals of each number reach from what a model predicts.
///
/// For a prediction ŷ of target j the interval is [ŷ + `offsets[j][0]`, ŷ + `offsets[j][1]`]. For quantiles, it reaches
/// from that of the first level plus the first offset to that of the last level plus the second. Numbers that cannot be
/// negative, as their loss is for counts or positive numbers, have no negative bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    pub(crate) level: f64,
    pub(crate) offsets: Vec<[f64; 2]>,
}

impl Intervals {
    /// Restores intervals.
    ///
    /// # Errors
    /// A level outside (0, 1), offsets that are not finite.
    pub(crate) fn new(level: f64, offsets: Vec<[f64; 2]>) -> Result<Self, ModelError> {
        Domain::Level.check("interval_level", level)?;
        if let Some(offset) = offsets.as_flattened().iter().find(|offset| !offset.is_finite()) {
            return Err(ParameterError::out_of_range("intervals.offset", offset, "finite").into());
        }
        Ok(Self { level, offsets })
    }

    /// The probability with which an interval covers the true value.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The offsets of each target that is a number, in order, in its units.
    pub fn offsets(&self) -> &[[f64; 2]] {
        &self.offsets
    }
}

impl Model {
    /// Sets the prediction intervals: calibrates them on samples that the model was not fitted to, or removes them.
    ///
    /// ```
    /// use rpo::data::generate::{Friedman, FriedmanKind};
    /// use rpo::prelude::*;
    /// use rpo::IntervalSource;
    /// let problem = Friedman::from(FriedmanKind::Independent);
    /// let data = Friedman { n_samples: 600, ..problem }.generate(Seed::new(1))?;
    /// let (train, test) = data.split(0.3, Seed::new(2))?;
    /// let model = Model::fit(&ForestParams::default(), &train)?;
    /// let model = model.with_intervals(IntervalSource::OutOfBag(0.9, &train))?;
    /// let coverage = model.evaluate(&test, &[Metric::IntervalCoverage])?[0];
    /// assert!((0.8..=1.0).contains(&coverage), "{coverage}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::NoNumbers`] if all outputs are labels, a level outside (0, 1), [`ModelError::TooFewForIntervals`],
    /// an output named like a bound, data without the columns of the model, or other samples than those of the training set;
    /// [`ModelError::Ensemble`] if the model has no out-of-bag predictions.
    pub fn with_intervals(self, from: IntervalSource<'_>) -> Result<Self, ModelError> {
        let intervals = self.intervals_from(from)?;
        if let Some(intervals) = &intervals {
            let bounds = self.bound_names();
            let outputs = self.schema().target_names();
            if let Some(name) = bounds.into_iter().find(|name| outputs.position(name).is_some()) {
                return Err(ModelError::BoundIsOutput { name });
            }
            let n = self.numbers().len();
            Mismatch::check("offsets of intervals", n, intervals.offsets.len())?;
        }
        Ok(self.set_intervals(intervals))
    }

    /// Names of the bounds of [`bounds`](Self::bounds): `price@lower`, `price@upper` for each target that is a number.
    pub fn bound_names(&self) -> Vec<String> {
        let names = self.schema().target_names();
        let numbers = self.numbers().into_iter();
        let of_target = numbers.flat_map(|(target, _)| {
            let name = names.get(target).unwrap_or_default();
            ["lower", "upper"].map(|side| format!("{name}@{side}"))
        });
        of_target.collect()
    }

    /// Turns predictions (rows x d) into the bounds of prediction intervals (rows x 2 per target that is a number): the
    /// lower and the upper one of each target in turn. If an offset makes bounds change places, both are their mean.
    ///
    /// # Errors
    /// [`ModelError::NoIntervals`], and predictions for another number of outputs.
    pub fn bounds(&self, predictions: ArrayView2<'_, f32>) -> Result<Array2<f32>, ModelError> {
        let intervals = self.intervals().ok_or(ModelError::NoIntervals)?;
        Mismatch::check(
            "columns of the predictions",
            self.n_outputs(),
            predictions.ncols(),
        )?;
        let not_negative: BTreeSet<usize> = self.predictor().not_negative().into_iter().collect();
        let numbers = self.numbers();
        let mut bounds = Array2::zeros((predictions.nrows(), 2 * numbers.len()));
        for (k, ((_, outputs), offsets)) in numbers.iter().zip(&intervals.offsets).enumerate() {
            let least = match not_negative.contains(&outputs.start) {
                true => 0.0,
                false => f64::from(f32::MIN),
            };
            let first = predictions.column(outputs.start);
            let last = predictions.column(outputs.end - 1);
            let (mut lower, mut upper) = bounds.slice_mut(s![.., 2 * k..2 * k + 2]).split_at(Axis(1), 1);
            Zip::from(lower.column_mut(0))
                .and(upper.column_mut(0))
                .and(first)
                .and(last)
                .for_each(|lower, upper, &first, &last| {
                    let (low, high) = (f64::from(first) + offsets[0], f64::from(last) + offsets[1]);
                    let middle = 0.5 * (low + high);
                    // Largest finite values, as bounds are finite.
                    let limited = |bound: f64| bound.clamp(least, f64::from(f32::MAX)) as f32;
                    (*lower, *upper) = (limited(low.min(middle)), limited(high.max(middle)));
                });
        }
        Ok(bounds)
    }

    /// The bounds (rows x 2 per output that is a number), for metrics: quantiles of a target have the same ones. `None`
    /// without intervals.
    pub(crate) fn bounds_of_outputs(
        &self,
        predictions: ArrayView2<'_, f32>,
    ) -> Result<Option<Array2<f32>>, ModelError> {
        if self.intervals().is_none() {
            return Ok(None);
        }
        let bounds = self.bounds(predictions)?;
        let numbers = self.numbers();
        let of_target = |(k, (_, outputs)): (usize, &(usize, Range<usize>))| {
            outputs.clone().flat_map(move |_| [2 * k, 2 * k + 1])
        };
        let columns: Vec<usize> = numbers.iter().enumerate().flat_map(of_target).collect();
        Ok(Some(bounds.select(Axis(1), &columns)))
    }

    /// The targets that are numbers, each with its outputs: one, or one for each quantile level.
    pub(crate) fn numbers(&self) -> Vec<(usize, Range<usize>)> {
        let per_target = self.quantile_levels().len().max(1);
        let mut is_label = vec![false; self.n_outputs()];
        self.labels().into_iter().for_each(|label| is_label[label] = true);
        let outputs = (0..self.n_outputs()).step_by(per_target);
        let targets = outputs.enumerate().filter(|(_, first)| !is_label[*first]);
        targets
            .map(|(target, first)| (target, first..first + per_target))
            .collect()
    }
}
