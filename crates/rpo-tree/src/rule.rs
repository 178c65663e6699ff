//! Rules: how a node routes a sample to one of its children.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A sample as rules read it: all its values, and which of them are stored if the matrix is sparse.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// One value per feature; zero where nothing is stored, NaN where missing.
    pub values: &'a [f32],
    /// The features that may differ from zero, increasing; `None` if the matrix is dense.
    pub stored: Option<&'a [u32]>,
}

impl<'a> Row<'a> {
    /// A row of a dense matrix.
    pub fn dense(values: &'a [f32]) -> Self {
        Self { values, stored: None }
    }
}

/// Routes any sample to one of `arity` children. Growing and prediction use the same function.
pub trait Rule: Debug + Clone + PartialEq + Send + Sync {
    /// Number of children, at least 1.
    fn arity(&self) -> usize;
    /// The child of a sample, below `arity`.
    fn child(&self, row: Row<'_>) -> usize;
    /// Number of features that a sample must have to be routed: one more than the largest that the rule reads.
    fn n_features(&self) -> usize;
    /// Returns the comparison of one feature with a threshold that the rule is. Forests predict faster if all their rules
    /// are one. Default: none.
    fn as_axis(&self) -> Option<&AxisRule> {
        None
    }
}

/// Sends `x[feature] <= threshold` to child 0 (left), larger values to child 1 (right), and missing values to the side
/// that the rule stores. Eight bytes.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AxisRule {
    threshold: f32,
    /// The feature, and in the top bit whether missing values go left.
    packed: u32,
}

impl AxisRule {
    const MISSING_LEFT: u32 = 1 << 31;

    /// A rule. A threshold of infinity sends all observed values left.
    ///
    /// # Panics
    /// If `feature` is 2^31 or more.
    pub fn new(feature: u32, threshold: f32, missing_left: bool) -> Self {
        assert!(feature < Self::MISSING_LEFT, "features are numbered below 2^31");
        Self {
            threshold,
            packed: feature | if missing_left { Self::MISSING_LEFT } else { 0 },
        }
    }

    /// The feature that is compared.
    pub fn feature(&self) -> u32 {
        self.packed & !Self::MISSING_LEFT
    }

    /// The largest value that goes left.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Returns true if missing values go left.
    pub fn missing_left(&self) -> bool {
        self.packed & Self::MISSING_LEFT != 0
    }

    /// The child of a sample with this value of the feature.
    #[inline]
    pub(crate) fn child_of(&self, value: f32) -> usize {
        // Without short-circuit: which way a row goes cannot be predicted, so no branch may depend on it.
        let left = (value <= self.threshold) | (value.is_nan() & self.missing_left());
        usize::from(!left)
    }
}

impl Debug for AxisRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let missing = if self.missing_left() { "left" } else { "right" };
        write!(
            f,
            "x[{}] <= {} (missing {missing})",
            self.feature(),
            self.threshold
        )
    }
}

impl Rule for AxisRule {
    fn arity(&self) -> usize {
        2
    }

    #[inline]
    fn child(&self, row: Row<'_>) -> usize {
        self.child_of(row.values[self.feature() as usize])
    }

    fn n_features(&self) -> usize {
        self.feature() as usize + 1
    }

    fn as_axis(&self) -> Option<&AxisRule> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_goes_left_and_missing_where_told() {
        let check = |rule: AxisRule, value, child| {
            assert_eq!(rule.child(Row::dense(&[9.0, value])), child, "{rule:?}");
        };
        for missing_left in [false, true] {
            let rule = AxisRule::new(1, 0.5, missing_left);
            check(rule, 0.5, 0);
            check(rule, 0.5000001, 1);
            check(rule, f32::NAN, usize::from(!missing_left));
        }
        check(AxisRule::new(1, f32::INFINITY, false), f32::MAX, 0);
        check(AxisRule::new(1, f32::INFINITY, false), f32::NAN, 1);
        assert_eq!(size_of::<AxisRule>(), 8);
    }
}
