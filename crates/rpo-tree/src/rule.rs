//! Rules, which route a sample of a node to one of its children.

use crate::categories::{CategorySet, code_of};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A sample in the form that rules read: all its values, and the features that are stored if the matrix is sparse.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// One value per feature; zero where nothing is stored, NaN where missing.
    pub values: &'a [f32],
    /// The features that may differ from zero, increasing; `None` if the matrix is dense.
    pub stored: Option<&'a [u32]>,
}

/// Routes any sample to one of `arity` children. Growing and prediction use the same function.
pub trait Rule: Debug + Clone + PartialEq + Send + Sync {
    /// Number of children, at least 1.
    fn arity(&self) -> usize;
    /// Returns the child of a sample, below `arity`.
    fn child(&self, row: Row<'_>) -> usize;
    /// Number of features that a sample must have to be routed: one more than the largest that the rule reads.
    fn n_features(&self) -> usize;
    /// Returns the comparison of one feature with a threshold that the rule is; `None`, the default, for other rules.
    /// Forests predict faster if all their rules are comparisons.
    fn as_axis(&self) -> Option<&AxisRule> {
        None
    }
    /// Returns the feature that the rule reads, if it reads only one. Default: that of [`as_axis`](Self::as_axis).
    fn single_feature(&self) -> Option<u32> {
        self.as_axis().map(AxisRule::feature)
    }
}

/// Splits on one feature. For a numeric feature, `x[feature] <= threshold` goes to child 0 (left), larger values go to
/// child 1 (right), and missing values to the side that the rule stores. For a categorical feature, the
/// [listed](AxisTest::categories) categories go to the side opposite to missing values, and all others go with missing
/// values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct AxisRule {
    threshold: f32,
    /// The feature; the top bit is set if missing values go left.
    packed: u32,
    /// Boxed, as numeric rules have none.
    categories: Option<Box<CategorySet>>,
}

/// The comparison made by an [`AxisRule`], as plain values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisTest<'a> {
    /// The feature.
    pub feature: u32,
    /// The largest value that goes left; infinity in a categorical rule.
    pub threshold: f32,
    /// True if missing values go left.
    pub missing_left: bool,
    /// The codes of the categories that go to the side opposite to missing values; `None` in a numeric rule.
    pub categories: Option<&'a CategorySet>,
}

impl AxisRule {
    const MISSING_LEFT: u32 = 1 << 31;

    /// Creates a numeric rule. A threshold of infinity sends all observed values left.
    ///
    /// # Panics
    /// If `feature` is 2^31 or more.
    pub fn new(feature: u32, threshold: f32, missing_left: bool) -> Self {
        assert!(feature < Self::MISSING_LEFT, "features are numbered below 2^31");
        Self {
            threshold,
            packed: feature | if missing_left { Self::MISSING_LEFT } else { 0 },
            categories: None,
        }
    }

    /// Creates a categorical rule: the codes in `listed` go to the side opposite to missing values, and all others go
    /// with missing values.
    ///
    /// # Panics
    /// If `feature` is 2^31 or more.
    pub(crate) fn of_categories(feature: u32, listed: CategorySet, missing_left: bool) -> Self {
        Self {
            categories: Some(Box::new(listed)),
            ..Self::new(feature, f32::INFINITY, missing_left)
        }
    }

    /// Returns the comparison that the rule makes.
    pub fn test(&self) -> AxisTest<'_> {
        AxisTest {
            feature: self.feature(),
            threshold: self.threshold,
            missing_left: self.missing_left(),
            categories: self.categories(),
        }
    }

    /// Returns the feature that is compared.
    pub(crate) fn feature(&self) -> u32 {
        self.packed & !Self::MISSING_LEFT
    }

    /// Returns the largest value that goes left; infinity in a categorical rule.
    pub(crate) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Returns true if missing values go left.
    pub(crate) fn missing_left(&self) -> bool {
        self.packed & Self::MISSING_LEFT != 0
    }

    /// Returns the codes of the categories that go to the side opposite to missing values; `None` in a numeric rule.
    pub(crate) fn categories(&self) -> Option<&CategorySet> {
        self.categories.as_deref()
    }

    /// Returns the child of a sample with this value of the feature.
    #[inline]
    pub(crate) fn child_of(&self, value: f32) -> usize {
        match &self.categories {
            None => {
                // Without short-circuiting, to avoid branches: which way a row goes cannot be predicted.
                let left = (value <= self.threshold) | (value.is_nan() & self.missing_left());
                usize::from(!left)
            }
            Some(listed) => {
                let is_listed = code_of(value).is_some_and(|code| listed.contains(code));
                usize::from(is_listed == self.missing_left())
            }
        }
    }
}

impl Debug for AxisRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (feature, missing) = (self.feature(), if self.missing_left() { "left" } else { "right" });
        match self.categories() {
            None => write!(f, "x[{feature}] <= {} (missing {missing})", self.threshold),
            Some(listed) => {
                let codes: Vec<u32> = listed.codes().collect();
                write!(f, "x[{feature}] not in {codes:?} goes {missing}, as missing")
            }
        }
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
        self.categories.is_none().then_some(self)
    }

    fn single_feature(&self) -> Option<u32> {
        Some(self.feature())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f32]) -> Row<'_> {
        Row { values, stored: None }
    }

    #[test]
    fn equal_goes_left_and_missing_where_told() {
        let check = |rule: &AxisRule, value, child| {
            assert_eq!(rule.child(row(&[9.0, value])), child, "{rule:?}");
        };
        for missing_left in [false, true] {
            let rule = AxisRule::new(1, 0.5, missing_left);
            check(&rule, 0.5, 0);
            check(&rule, 0.5000001, 1);
            check(&rule, f32::NAN, usize::from(!missing_left));
            assert_eq!((rule.as_axis(), rule.single_feature()), (Some(&rule), Some(1)));
        }
        check(&AxisRule::new(1, f32::INFINITY, false), f32::MAX, 0);
        check(&AxisRule::new(1, f32::INFINITY, false), f32::NAN, 1);
    }

    #[test]
    fn categories_that_are_not_listed_go_where_missing_values_go() {
        for missing_left in [false, true] {
            let rule = AxisRule::of_categories(1, CategorySet::from_iter([0, 3, 90]), missing_left);
            let others = usize::from(!missing_left);
            for (value, listed) in [(0.0, true), (3.0, true), (90.0, true), (1.0, false), (1e9, false)] {
                let child = if listed { 1 - others } else { others };
                assert_eq!(rule.child(row(&[9.0, value])), child, "{rule:?} {value}");
            }
            for value in [f32::NAN, -1.0, 2.5] {
                assert_eq!(rule.child(row(&[9.0, value])), others, "{rule:?} {value}");
            }
            assert_eq!((rule.as_axis(), rule.single_feature()), (None, Some(1)));
        }
    }
}
