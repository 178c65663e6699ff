//! Hyperplanes as rules.

use super::product::product_at;
use crate::error::TreeError;
use crate::rule::{AxisRule, Row, Rule};
use rpo_core::{Mismatch, ParameterError};

/// A sparse hyperplane: samples with `Σ w_j x_j + b ≥ 0` go to child 1 (right), others to child 0.
///
/// Only non-zero weights are stored, by increasing feature. The sum is computed in `f64`, in an order that depends on
/// them alone, so that a sample goes the same way in dense and sparse matrices, in growing and in prediction. A sample
/// with a missing value in a feature of the hyperplane goes left; fits reject missing values beforehand.
#[derive(Debug, Clone, PartialEq)]
pub struct ObliqueRule {
    features: Box<[u32]>,
    weights: Box<[f32]>,
    bias: f32,
}

impl ObliqueRule {
    /// Creates a rule from weights by feature.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if there is not one weight per feature, [`TreeError::Parameter`] if features are not
    /// increasing or a weight or the bias is not finite.
    pub(crate) fn new(
        features: impl Into<Box<[u32]>>,
        weights: impl Into<Box<[f32]>>,
        bias: f32,
    ) -> Result<Self, TreeError> {
        let (features, weights) = (features.into(), weights.into());
        Mismatch::check("weights of a hyperplane", features.len(), weights.len())?;
        if let Some(pair) = features.windows(2).find(|w| w[0] >= w[1]) {
            let given = format!("{} before {}", pair[0], pair[1]);
            return Err(ParameterError::out_of_range("features", given, "increasing").into());
        }
        if let Some(bad) = weights.iter().chain([&bias]).find(|w| !w.is_finite()) {
            return Err(ParameterError::out_of_range("weights", bad, "finite").into());
        }
        Ok(Self {
            features,
            weights,
            bias,
        })
    }

    /// Returns the features with a weight, increasing.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Returns the weights of these features.
    pub(crate) fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Returns the constant term.
    pub(crate) fn bias(&self) -> f32 {
        self.bias
    }

    /// Returns `Σ w_j x_j + b`.
    #[inline]
    pub(crate) fn margin(&self, values: &[f32]) -> f64 {
        let sum: f64 = product_at(&self.features, &self.weights, values, |w, x| {
            f64::from(w) * f64::from(x)
        });
        sum + f64::from(self.bias)
    }
}

/// A split on one feature or on a weighted sum of several: the rule of structured trees.
#[derive(Debug, Clone, PartialEq)]
pub enum LinearRule {
    /// One feature against a threshold.
    Axis(AxisRule),
    /// The side of a hyperplane.
    Oblique(ObliqueRule),
}

impl Rule for LinearRule {
    fn arity(&self) -> usize {
        2
    }

    #[inline]
    fn child(&self, row: Row<'_>) -> usize {
        match self {
            Self::Axis(rule) => rule.child(row),
            Self::Oblique(rule) => usize::from(rule.margin(row.values) >= 0.0),
        }
    }

    fn n_features(&self) -> usize {
        match self {
            Self::Axis(rule) => rule.n_features(),
            Self::Oblique(rule) => rule.features.last().map_or(0, |&last| last as usize + 1),
        }
    }

    fn as_axis(&self) -> Option<&AxisRule> {
        match self {
            Self::Axis(rule) => Some(rule),
            Self::Oblique(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hyperplane_itself_goes_right_and_missing_left() {
        let rule = LinearRule::Oblique(ObliqueRule::new([0, 2], [1.0, -2.0], 0.5).unwrap());
        let child = |row: [f32; 3]| {
            rule.child(Row {
                values: &row,
                stored: None,
            })
        };
        assert_eq!(child([1.5, 9.0, 1.0]), 1);
        assert_eq!(child([1.25, 9.0, 1.0]), 0);
        assert_eq!(child([f32::NAN, 0.0, 0.0]), 0);
        assert_eq!(child([1.5, f32::NAN, 1.0]), 1);
        assert_eq!(rule.n_features(), 3);
    }

    #[test]
    fn parts_that_make_no_hyperplane_are_refused() {
        let what = "weights of a hyperplane";
        let mismatch = Mismatch {
            what,
            expected: 1,
            given: 0,
        };
        assert_eq!(ObliqueRule::new([1], [], 0.0), Err(mismatch.into()));
        for (features, weights, bias) in [
            ([2, 2], [1.0, 1.0], 0.0),
            ([3, 2], [1.0, 1.0], 0.0),
            ([1, 2], [1.0, f32::NAN], 0.0),
            ([1, 2], [1.0, 1.0], f32::INFINITY),
        ] {
            let refused = ObliqueRule::new(features, weights, bias);
            assert!(matches!(refused, Err(TreeError::Parameter(_))), "{refused:?}");
        }
    }
}
