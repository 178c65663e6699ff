//! Calibration of prediction intervals.

use super::Intervals;
use crate::decision::check_out_of_bag;
use crate::{Model, ModelError};
use ndarray::ArrayView2;
use rpo_core::{Domain, MatrixView, Predictor};
use rpo_data::Dataset;
use rpo_ensemble::EnsembleError;
use std::collections::BTreeMap;

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
                let (predictions, _) = found.ok_or(EnsembleError::NoBootstrap)?;
                predictions
            }
            _ => self.predict(x.view())?,
        };
        let remedy = match source {
            IntervalSource::OutOfBag(..) => "a lower level needs fewer",
            _ => "a larger `calibration_share` withholds more, a lower level needs fewer",
        };
        self.calibrated(level, predictions.view(), y.view(), data.groups(), remedy)
            .map(Some)
    }

    /// Finds the offsets from predictions and true values, of which those that are NaN are left out. Groups count alike,
    /// whatever the number of their samples.
    fn calibrated(
        &self,
        level: f64,
        predictions: ArrayView2<'_, f32>,
        truth: MatrixView<'_>,
        groups: Option<&[u32]>,
        remedy: &'static str,
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
            let known = known.enumerate().filter(|(_, r)| r.iter().all(|r| !r.is_nan()));
            let (places, residuals): (Vec<usize>, Vec<[f64; 2]>) = known.unzip();
            let shares = Shares::of(&places, groups);
            let weighted = |of: fn(&[f64; 2]) -> f64| residuals.iter().map(of).zip(shares.of_samples.clone());
            let offsets = match outputs.len() {
                1 => two_sided(weighted(|r| r[0]).collect(), shares.of_group, level),
                _ => symmetric(weighted(|r| (-r[0]).max(r[1])).collect(), level),
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
                observed: shares.n_groups,
                unit: if groups.is_some() { "groups" } else { "samples" },
                remedy,
            })
        });
        Ok(Intervals {
            level,
            offsets: offsets.collect::<Result<_, _>>()?,
        })
    }
}

/// The weights of residuals: each of K groups has 1 / (K + 1), in equal parts for its samples, and the rest is that of a
/// new group, whose residuals may be as large as any (Dunn, Wasserman and Ramdas, *Distribution-free prediction sets for
/// two-layer hierarchical models*, JASA 2023). Without groups, every sample is one.
struct Shares {
    n_groups: usize,
    of_group: f64,
    of_samples: Vec<f64>,
}

impl Shares {
    /// The weights of the samples at some places, given the group of every sample.
    fn of(places: &[usize], groups: Option<&[u32]>) -> Self {
        let Some(groups) = groups else {
            let of_group = 1.0 / (places.len() + 1) as f64;
            return Self {
                n_groups: places.len(),
                of_group,
                of_samples: vec![of_group; places.len()],
            };
        };
        let mut sizes = BTreeMap::<u32, usize>::new();
        places
            .iter()
            .for_each(|&i| *sizes.entry(groups[i]).or_default() += 1);
        let of_group = 1.0 / (sizes.len() + 1) as f64;
        Self {
            n_groups: sizes.len(),
            of_group,
            of_samples: places
                .iter()
                .map(|&i| of_group / sizes[&groups[i]] as f64)
                .collect(),
        }
    }
}

/// Sums of weights are compared after adding this, as they are seldom exact.
const ROUNDING: f64 = 1e-9;

/// The largest and the smallest of the residuals y - ŷ, given with their weights, below and above which there is a weight
/// of at most α/2, α = 1 - level, that of a new group included. Without groups these are the ⌊(n + 1) α/2⌋-th smallest and
/// largest of n residuals. The error is the number of groups that is needed.
fn two_sided(mut residuals: Vec<(f64, f64)>, of_group: f64, level: f64) -> Result<[f64; 2], usize> {
    let tail = (1.0 - level) / 2.0;
    if residuals.is_empty() || of_group > tail + ROUNDING {
        return Err((1.0 / tail - 1.0 - ROUNDING).ceil() as usize);
    }
    residuals.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok([
        last_within(residuals.iter(), of_group, tail),
        last_within(residuals.iter().rev(), of_group, tail),
    ])
}

/// The last of the residuals before which there is a weight of at most `tail`, `of_group` of it before the first.
fn last_within<'r>(residuals: impl Iterator<Item = &'r (f64, f64)>, of_group: f64, tail: f64) -> f64 {
    let (mut before, mut found) = (of_group, f64::NAN);
    for &(residual, weight) in residuals {
        if before > tail + ROUNDING {
            break;
        }
        (before, found) = (before + weight, residual);
    }
    found
}

/// The offsets -e and e, e the smallest of the distances by which true values lie outside of quantiles, negative within,
/// up to which distances have a weight of at least the level: the ⌈(n + 1) level⌉-th smallest without groups. The error is
/// the number of groups that is needed.
fn symmetric(mut outside: Vec<(f64, f64)>, level: f64) -> Result<[f64; 2], usize> {
    outside.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut within = 0.0;
    for (e, weight) in outside {
        within += weight;
        if within >= level - ROUNDING {
            return Ok([-e, e]);
        }
    }
    Err((level / (1.0 - level) - ROUNDING).ceil() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_leave_as_many_on_each_side() {
        let values = |n: usize| {
            let weight = 1.0 / (n + 1) as f64;
            ((1..=n).map(|i| (i as f64, weight)).collect::<Vec<_>>(), weight)
        };
        let two_sided = |n: usize| two_sided(values(n).0, values(n).1, 0.9);
        assert_eq!(two_sided(19), Ok([1.0, 19.0]));
        assert_eq!(two_sided(39), Ok([2.0, 38.0]));
        assert_eq!(two_sided(18), Err(19));
        let symmetric = |n: usize| symmetric(values(n).0, 0.9);
        assert_eq!(symmetric(9), Ok([-9.0, 9.0]));
        assert_eq!(symmetric(19), Ok([-18.0, 18.0]));
        assert_eq!(symmetric(8), Err(9));
    }

    #[test]
    fn groups_count_alike() {
        // 19 groups, of which the first has 41 samples; of these, 40 are larger than all others.
        let groups: Vec<u32> = (0..59).map(|i| u32::saturating_sub(i, 40)).collect();
        let places: Vec<usize> = (0..59).collect();
        let shares = Shares::of(&places, Some(&groups));
        assert_eq!((shares.n_groups, shares.of_group), (19, 1.0 / 20.0));
        assert!((shares.of_samples.iter().sum::<f64>() - 0.95).abs() < 1e-9);
        let residual = |i: usize| if i < 40 { 100.0 + i as f64 } else { i as f64 };
        let weighted = || places.iter().map(|&i| residual(i)).zip(shares.of_samples.clone());
        let found = two_sided(weighted().collect(), shares.of_group, 0.9).unwrap();
        // Nothing may lie below or above but a new group.
        assert_eq!(found, [40.0, 139.0]);
        let [_, e] = symmetric(weighted().collect(), 0.9).unwrap();
        // 18 groups with 18/20, and the share of one sample.
        assert_eq!(e, 58.0);
        assert!(two_sided(weighted().take(58).collect(), 1.0 / 19.0, 0.9) == Err(19));
    }
}
