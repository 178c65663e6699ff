//! Parameters of forests: a builder, and the checked value that fits.

use crate::error::EnsembleError;
use crate::inputs::check_indices;
use crate::projection::OutputProjection;
use crate::sampling::bag::RowSampling;
use crate::sampling::max_features::MaxFeatures;
use rpo_core::{ParameterError, Seed, check_count, check_fraction, check_not_negative};
use rpo_projections::Projection;
use rpo_tree::splitter::ThresholdSearch;
use rpo_tree::{GrowParams, LeafKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What splits are scored by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionKind {
    /// The variance, summed over outputs ([`Variance`](rpo_tree::criterion::Variance)).
    #[default]
    Variance,
    /// Gini impurity 1 − p² − (1 − p)² of labels: twice their variance, so the same trees; only
    /// [`min_impurity_decrease`](ForestParams::min_impurity_decrease) is in another unit.
    Gini,
    /// Entropy of labels in bits, summed over them ([`LabelEntropy`](rpo_tree::criterion::LabelEntropy)). Without
    /// missing labels, but for single targets.
    Entropy,
}

impl fmt::Display for CriterionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variance => "variance",
            Self::Gini => "gini",
            Self::Entropy => "entropy",
        })
    }
}

/// Parameters of a forest. Start from [`random_forest`](Self::random_forest),
/// [`extra_trees`](Self::extra_trees) or [`cart`](Self::cart), set what differs, then
/// [`check`](Self::check) and fit.
#[derive(Debug, Clone)]
pub struct ForestParams {
    pub(crate) n_trees: usize,
    pub(crate) first_tree: usize,
    pub(crate) rows: RowSampling,
    pub(crate) feature_share: f64,
    pub(crate) criterion: CriterionKind,
    pub(crate) max_features: MaxFeatures,
    pub(crate) grow: GrowParams,
    pub(crate) min_samples_leaf: usize,
    pub(crate) min_impurity_decrease: f64,
    pub(crate) thresholds: ThresholdSearch,
    pub(crate) projection: Option<OutputProjection>,
    pub(crate) leaves: Option<LeafKind>,
    pub(crate) seed: Seed,
}

impl ForestParams {
    /// Breiman's random forest (2001): bootstrap of n rows with replacement, best thresholds, k = ⌊√p⌋ features
    /// per node, fully developed trees; 100 trees, no projection, seed 0. The protocol of Joly, Geurts, Wehenkel,
    /// ECML-PKDD 2014, section 4.
    pub fn random_forest() -> Self {
        Self {
            n_trees: 100,
            first_tree: 0,
            rows: RowSampling::Bootstrap,
            feature_share: 1.0,
            criterion: CriterionKind::Variance,
            max_features: MaxFeatures::Sqrt,
            grow: GrowParams::default(),
            min_samples_leaf: 1,
            min_impurity_decrease: 0.0,
            thresholds: ThresholdSearch::Best,
            projection: None,
            leaves: None,
            seed: Seed::new(0),
        }
    }

    /// Extra-Trees (Geurts, Ernst, Wehenkel 2006): no bootstrap, one random threshold per feature drawn,
    /// otherwise as the random forest.
    pub fn extra_trees() -> Self {
        Self {
            rows: RowSampling::All,
            thresholds: ThresholdSearch::Random,
            ..Self::random_forest()
        }
    }

    /// The baseline rf-cost of Daniels and Metaxas (*Addressing Imbalance in Multi-Label Classification Using Structured
    /// Hellinger Forests*, AAAI 2017, section 4), for [single targets](ValidForestParams::fit_single_targets): 50 trees by
    /// entropy on 75 % of rows and features, all of these looked at in a node, leaves of at least 3 rows. What makes it
    /// sensitive to cost is the decision: [`thresholds`](crate::thresholds) on out-of-bag scores.
    pub fn rf_cost() -> Self {
        Self {
            n_trees: 50,
            rows: RowSampling::Share(0.75),
            feature_share: 0.75,
            criterion: CriterionKind::Entropy,
            max_features: MaxFeatures::All,
            min_samples_leaf: 3,
            ..Self::random_forest()
        }
    }

    /// One fully developed CART tree (Breiman, Friedman, Olshen, Stone 1984, without pruning): no bootstrap, best
    /// thresholds, all features.
    pub fn cart() -> Self {
        Self {
            n_trees: 1,
            rows: RowSampling::All,
            max_features: MaxFeatures::All,
            ..Self::random_forest()
        }
    }

    /// Number of trees, at least 1. Default 100: accuracy only grows with it, at a cost in proportion.
    #[must_use]
    pub fn n_trees(self, n_trees: usize) -> Self {
        Self { n_trees, ..self }
    }

    /// Index of the first tree. Default 0. A tree depends on the seed and its index alone, so a forest can be grown in
    /// parts, anywhere, and merged.
    #[must_use]
    pub fn first_tree(self, first_tree: usize) -> Self {
        Self { first_tree, ..self }
    }

    /// The indices of the trees.
    pub fn indices(&self) -> Range<usize> {
        self.first_tree..self.first_tree.saturating_add(self.n_trees)
    }

    /// Which rows each tree grows on. Default a bootstrap for random forests, all for the others. Out-of-bag predictions
    /// need that trees do not see all.
    #[must_use]
    pub fn rows(self, rows: RowSampling) -> Self {
        Self { rows, ..self }
    }

    /// Share of the features that a tree uses, in (0, 1]: round(share · p) of them, of which its nodes draw
    /// [`max_features`](Self::max_features). Default 1.
    #[must_use]
    pub fn feature_share(self, feature_share: f64) -> Self {
        Self {
            feature_share,
            ..self
        }
    }

    /// What splits are scored by. Default the variance, for labels as well as numbers.
    #[must_use]
    pub fn criterion(self, criterion: CriterionKind) -> Self {
        Self { criterion, ..self }
    }

    /// Features drawn per node, constant ones included; if all of them are constant in the node, it goes on until
    /// it meets one that is not. Default ⌊√p⌋ for ensembles, all for one tree.
    #[must_use]
    pub fn max_features(self, max_features: MaxFeatures) -> Self {
        Self { max_features, ..self }
    }

    /// Largest depth of a leaf; the root has depth 0. Default none.
    #[must_use]
    pub fn max_depth(mut self, max_depth: Option<u32>) -> Self {
        self.grow.max_depth = max_depth;
        self
    }

    /// Largest number of leaves of a tree, at least 1; if set, trees grow best-first, the split of the largest
    /// |S| ΔI next. Default none.
    #[must_use]
    pub fn max_leaves(mut self, max_leaves: Option<usize>) -> Self {
        self.grow.max_leaves = max_leaves;
        self
    }

    /// Fewest distinct rows of a node that is split; below 2 means 2. Default 2.
    #[must_use]
    pub fn min_samples_split(mut self, min_samples_split: usize) -> Self {
        self.grow.min_samples_split = min_samples_split;
        self
    }

    /// Fewest distinct rows of a leaf, at least 1. Default 1.
    #[must_use]
    pub fn min_samples_leaf(self, min_samples_leaf: usize) -> Self {
        Self {
            min_samples_leaf,
            ..self
        }
    }

    /// Smallest decrease of impurity of a split, (|S| / |root|) · ΔI / m: the node's share of the weight times the
    /// decrease of the impurity averaged over the m targets grown on (scikit-learn's definition), of the variance in
    /// their unit squared, of entropy in bits. Finite, not negative. Default 0: splits that gain nothing are made too.
    #[must_use]
    pub fn min_impurity_decrease(self, min_impurity_decrease: f64) -> Self {
        Self {
            min_impurity_decrease,
            ..self
        }
    }

    /// How thresholds are chosen: the best, or one at random per feature.
    #[must_use]
    pub fn thresholds(self, thresholds: ThresholdSearch) -> Self {
        Self { thresholds, ..self }
    }

    /// The projection of the outputs to grow on; `None`, the default, grows on the outputs themselves.
    #[must_use]
    pub fn projection(self, projection: Option<OutputProjection>) -> Self {
        Self { projection, ..self }
    }

    /// The same with another family around that of the projection, to watch it at work; nothing without one.
    #[must_use]
    pub fn map_projection(mut self, wrap: impl FnOnce(Arc<dyn Projection>) -> Arc<dyn Projection>) -> Self {
        if let Some(projection) = &mut self.projection {
            projection.family = wrap(Arc::clone(&projection.family));
        }
        self
    }

    /// How leaves are stored. `None`, the default, refers to training rows where trees are fully developed
    /// (their leaves hold few rows) and rows have more than two labels on average, and otherwise, and where
    /// outputs are missing, keeps means in the layout of the outputs.
    #[must_use]
    pub fn leaves(self, leaves: Option<LeafKind>) -> Self {
        Self { leaves, ..self }
    }

    /// The master seed, from which the streams of all trees derive. Default 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Seed::new(seed),
            ..self
        }
    }

    /// Checks every parameter that can be checked without data.
    ///
    /// # Errors
    /// [`EnsembleError::Parameter`], [`EnsembleError::Tree`] or [`EnsembleError::Projection`] with the first
    /// parameter out of range.
    pub fn check(self) -> Result<ValidForestParams, EnsembleError> {
        check_count("n_trees", self.n_trees)?;
        check_indices(self.first_tree, self.n_trees)?;
        self.max_features.check()?;
        check_not_negative("min_impurity_decrease", self.min_impurity_decrease)?;
        if let RowSampling::Share(share) = self.rows {
            check_fraction("row_share", share)?;
        }
        check_fraction("feature_share", self.feature_share)?;
        if self.projection.is_some() && self.criterion != CriterionKind::Variance {
            let expected = "variance with a projection, which makes numbers of labels";
            return Err(ParameterError::out_of_range("criterion", self.criterion, expected).into());
        }
        self.grow.check()?;
        check_count("min_samples_leaf", self.min_samples_leaf)?;
        if let Some(projection) = &self.projection {
            // Refuses 0 components whatever the number of outputs.
            projection.components.resolve(1)?;
        }
        Ok(ValidForestParams(self))
    }
}

/// Checked [`ForestParams`], ready to [`fit`](Self::fit).
#[derive(Debug, Clone)]
pub struct ValidForestParams(pub(crate) ForestParams);

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_projections::{Components, ProjectionKind};

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: ForestParams| match params.check() {
            Err(
                EnsembleError::Parameter(ParameterError::OutOfRange { name, .. })
                | EnsembleError::Tree(rpo_tree::TreeError::Parameter(ParameterError::OutOfRange {
                    name, ..
                })),
            ) => name,
            Err(EnsembleError::Projection(_)) => "projection",
            other => panic!("{other:?}"),
        };
        let base = ForestParams::random_forest;
        assert_eq!(name(base().n_trees(0)), "n_trees");
        assert_eq!(name(base().n_trees(2).first_tree(usize::MAX - 1)), "first_tree");
        assert!(base().n_trees(2).first_tree(usize::MAX - 2).check().is_ok());
        assert_eq!(name(base().max_features(MaxFeatures::Count(0))), "max_features");
        assert_eq!(
            name(base().max_features(MaxFeatures::Share(f64::NAN))),
            "max_features"
        );
        assert_eq!(name(base().max_leaves(Some(0))), "max_leaves");
        assert_eq!(name(base().min_samples_leaf(0)), "min_samples_leaf");
        for bad in [-1e-300, f64::NAN, f64::INFINITY] {
            assert_eq!(name(base().min_impurity_decrease(bad)), "min_impurity_decrease");
        }
        for bad in [0.0, -0.1, 1.0 + f64::EPSILON, f64::NAN] {
            assert_eq!(name(base().rows(RowSampling::Share(bad))), "row_share");
            assert_eq!(name(base().feature_share(bad)), "feature_share");
        }
        let one = OutputProjection::new(ProjectionKind::Gaussian, Components::Exact(1));
        let labels_only = base().projection(Some(one)).criterion(CriterionKind::Gini);
        assert_eq!(name(labels_only), "criterion");
        assert!(
            ForestParams::rf_cost()
                .rows(RowSampling::Share(1.0))
                .check()
                .is_ok()
        );
        let none = OutputProjection::new(ProjectionKind::Gaussian, Components::Exact(0));
        assert_eq!(name(base().projection(Some(none))), "projection");
        assert!(
            base()
                .n_trees(1)
                .max_leaves(Some(1))
                .min_samples_split(0)
                .check()
                .is_ok()
        );
    }
}
