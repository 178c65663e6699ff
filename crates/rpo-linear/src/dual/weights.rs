//! Sparse weights, with small ones left out.

use std::ops::Range;

use half::f16;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DualParams, LANES, Positives, Solution};
use crate::LinearError;

/// The precision of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 16 bits: three decimal digits, up to 65,504 for samples of length 1.
    #[default]
    Half,
    /// 32 bits.
    Single,
}

impl Precision {
    /// Rounds value · factor, a weight for features of other units: a power of two, the larger part of the factor, is
    /// left out of the rounding, so that the range of numbers does not depend on the units.
    fn round(self, value: f32, factor: f32) -> f32 {
        match self {
            Self::Half => {
                let power = power_of_two(factor);
                f16::from_f32(value * (factor / power)).to_f32() * power
            }
            Self::Single => value * factor,
        }
    }
}

/// Returns the largest power of two up to a normal number above 0.
fn power_of_two(value: f32) -> f32 {
    f32::from_bits(value.to_bits() & f32::INFINITY.to_bits())
}

/// The rule for which weights are kept, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// Magnitude below which weights are left out, relative to √(C ω̄) with the mean weight ω̄ of samples, since weights
    /// are larger the less they are penalised. Weights of at least [`PART`] of the largest one of a label are kept
    /// whatever the limit.
    pub(crate) limit: f32,
    pub(crate) precision: Precision,
    /// What the features were multiplied with, and weights are after the fit, so that they suit the original features.
    pub(crate) factor: f32,
}

/// Magnitude, relative to the largest weight of the label, from which a weight is kept. With few features that each say
/// a little about a rare label, all of its weights are below the limit, and it would have one score for all samples.
const PART: f32 = 0.25;

/// The weights of some classifiers, feature by feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SparseWeights {
    /// Features with weights, increasing.
    pub(crate) features: Vec<u32>,
    /// Start of the weights of each feature, and the end of the last.
    pub(crate) starts: Vec<u32>,
    /// The classifier of each weight, increasing within a feature.
    pub(crate) lanes: Vec<u16>,
    pub(crate) values: Vec<f32>,
    /// Number added to the score of each classifier.
    pub(crate) offsets: Vec<f32>,
}

impl SparseWeights {
    /// Keeps the weights of the classifiers of some labels that reach the limit or are large among those of their label,
    /// and their offsets.
    ///
    /// # Errors
    /// [`LinearError::Overflow`] for weights that are not finite in this precision.
    pub(super) fn prune(
        solution: &Solution,
        positives: &[Positives<'_>],
        params: &DualParams,
    ) -> Result<Self, LinearError> {
        let Kept {
            limit,
            precision,
            factor,
        } = params.kept;
        let mut largest = [0.0_f32; LANES];
        for row in &solution.weights {
            for (largest, weight) in largest.iter_mut().zip(row) {
                *largest = largest.max(weight.abs());
            }
        }
        let limit_of = |(positives, largest): (&Positives<'_>, f32)| {
            let of_cost = limit * (positives.cost.negative * params.mean_weight).sqrt();
            of_cost.min(PART * largest)
        };
        let limits: Vec<f32> = positives.iter().zip(largest).map(limit_of).collect();
        let offsets = solution.offsets.iter().take(positives.len());
        let offsets: Vec<f32> = offsets.map(|&offset| precision.round(offset, 1.0)).collect();
        let mut kept = Self {
            starts: vec![0],
            offsets,
            ..Self::default()
        };
        for (feature, row) in solution.weights.iter().enumerate() {
            for (lane, (&weight, &limit)) in row.iter().zip(&limits).enumerate() {
                // Written so that NaN is kept here, and refused below.
                let is_small = weight == 0.0 || weight.abs() < limit;
                if !is_small {
                    kept.lanes.push(lane as u16);
                    kept.values.push(precision.round(weight, factor));
                }
            }
            if kept.values.len() > kept.starts[kept.starts.len() - 1] as usize {
                kept.features.push(feature as u32);
                kept.starts.push(kept.values.len() as u32);
            }
        }
        if kept.values.iter().chain(&kept.offsets).all(|v| v.is_finite()) {
            return Ok(kept);
        }
        Err(LinearError::Overflow { what: "W" })
    }

    /// Concatenates the classifiers of groups of [`LANES`]; `features` maps the feature numbers of the groups to
    /// indices.
    pub(crate) fn join(groups: &[Self], features: &[u32]) -> Self {
        let mut joined = Self {
            starts: vec![0],
            offsets: groups.iter().flat_map(|group| &group.offsets).copied().collect(),
            ..Self::default()
        };
        let mut next = vec![0; groups.len()];
        for (number, &feature) in features.iter().enumerate() {
            for (index, (group, next)) in groups.iter().zip(&mut next).enumerate() {
                if group.features.get(*next) == Some(&(number as u32)) {
                    let range = group.starts[*next] as usize..group.starts[*next + 1] as usize;
                    let first = (index * LANES) as u16;
                    joined
                        .lanes
                        .extend(group.lanes[range.clone()].iter().map(|lane| first + lane));
                    joined.values.extend_from_slice(&group.values[range]);
                    *next += 1;
                }
            }
            if joined.values.len() > joined.starts[joined.starts.len() - 1] as usize {
                joined.features.push(feature);
                joined.starts.push(joined.values.len() as u32);
            }
        }
        joined
    }

    /// Computes the scores of all classifiers for a sample with increasing features.
    pub(crate) fn scores(&self, features: &[u32], values: &[f32], out: &mut Vec<f32>) {
        out.clone_from(&self.offsets);
        let mut at = 0;
        for (&j, &v) in features.iter().zip(values) {
            at += gallop(&self.features[at..], j);
            if self.features.get(at) == Some(&j) {
                let range = self.starts[at] as usize..self.starts[at + 1] as usize;
                for (&lane, &w) in self.lanes[range.clone()].iter().zip(&self.values[range]) {
                    out[lane as usize] += v * w;
                }
            }
        }
    }

    /// Returns the problem of the weights of classifiers for `n_features` features, if there is one.
    pub(crate) fn check(&self, n_features: usize) -> Option<&'static str> {
        let increases = self.features.windows(2).all(|pair| pair[0] < pair[1]);
        if !increases || self.features.last().is_some_and(|&j| j as usize >= n_features) {
            return Some("refers to features that are out of order or do not exist");
        }
        let rows = self
            .starts
            .windows(2)
            .map(|range| range[0] as usize..range[1] as usize);
        let lanes = |range: Range<usize>| self.lanes[range].windows(2).all(|pair| pair[0] < pair[1]);
        if !rows.into_iter().all(lanes) || self.lanes.iter().any(|&l| l as usize >= self.offsets.len()) {
            return Some("refers to classifiers that are out of order or do not exist");
        }
        let finite = self.values.iter().chain(&self.offsets).all(|v| v.is_finite());
        (!finite).then_some("is not finite")
    }
}

/// Returns the number of elements below a value, searching in steps that double, as the number is often small.
fn gallop(sorted: &[u32], value: u32) -> usize {
    let (mut low, mut step) = (0, 1);
    while low + step <= sorted.len() && sorted[low + step - 1] < value {
        low += step;
        step *= 2;
    }
    let high = sorted.len().min(low + step);
    low + sorted[low..high].partition_point(|&v| v < value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn galloping_finds_the_place(mut sorted in proptest::collection::vec(0_u32..50, 0..60), value in 0_u32..60) {
            sorted.sort_unstable();
            prop_assert_eq!(gallop(&sorted, value), sorted.partition_point(|&v| v < value));
        }
    }
}
