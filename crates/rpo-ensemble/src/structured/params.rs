//! Parameters of structured forests: a builder, and the checked value that fits.

use crate::error::EnsembleError;
use crate::inputs::check_indices;
use rpo_core::{ParameterError, Seed, check_count, check_fraction};
use rpo_tree::oblique::{FeatureScaling, HellingerParams, ObliqueLogisticParams};
use rpo_tree::structured::{LabelClusteringParams, LabelWeighting};
use std::ops::Range;

/// What parts the two clusters of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NodeSplit {
    /// One feature, by information gain: SF.
    InformationGain,
    /// A hyperplane by logistic regression: SF-LR.
    Logistic(ObliqueLogisticParams),
    /// A sparse hyperplane of large Hellinger distance: SF-H.
    Hellinger(HellingerParams),
}

impl NodeSplit {
    /// The units in which hyperplanes are learned by default: [`FeatureScaling::Standard`], the paper's, for logistic
    /// regression, whose penalty is in these units, and [`FeatureScaling::BySparsity`] for Hellinger splits, which
    /// departs from the paper for term weights. `None` for one feature at a time, which has no units.
    pub fn default_scaling(&self) -> Option<FeatureScaling> {
        match self {
            Self::InformationGain => None,
            Self::Logistic(_) => Some(FeatureScaling::Standard),
            Self::Hellinger(_) => Some(FeatureScaling::BySparsity),
        }
    }
}

/// Parameters of a structured forest. Start from [`soshf`](Self::soshf), set what differs, then
/// [`check`](Self::check) and fit. The six variants are the three [`NodeSplit`]s with and without
/// [`weighting`](Self::weighting).
#[derive(Debug, Clone)]
pub struct StructuredForestParams {
    pub(super) n_trees: usize,
    pub(super) first_tree: usize,
    pub(super) split: NodeSplit,
    pub(super) fall_back: bool,
    pub(super) structuring: LabelClusteringParams,
    pub(super) row_share: f64,
    pub(super) feature_share: f64,
    pub(super) label_share: f64,
    pub(super) label_weight: f64,
    pub(super) min_samples_leaf: usize,
    pub(super) max_depth: Option<u32>,
    pub(super) scaling: Option<FeatureScaling>,
    pub(super) seed: Seed,
}

impl StructuredForestParams {
    /// Sparse oblique structured Hellinger forests, the paper's SF-H-CS: cost-sensitive clusters, Hellinger splits, 50
    /// trees on 75 % of rows, features and labels, leaves of at least 3 rows; seed 0.
    pub fn soshf() -> Self {
        Self {
            n_trees: 50,
            first_tree: 0,
            split: NodeSplit::Hellinger(HellingerParams::default()),
            fall_back: false,
            structuring: LabelClusteringParams::default(),
            row_share: 0.75,
            feature_share: 0.75,
            label_share: 0.75,
            label_weight: 5.0,
            min_samples_leaf: 3,
            max_depth: None,
            scaling: None,
            seed: Seed::new(0),
        }
    }

    /// Number of trees, at least 1. Default 50, the paper's.
    #[must_use]
    pub fn n_trees(self, n_trees: usize) -> Self {
        Self { n_trees, ..self }
    }

    /// Index of the first tree. Default 0. A tree depends on the seed and its index alone, so a forest can be grown
    /// in parts and merged.
    #[must_use]
    pub fn first_tree(self, first_tree: usize) -> Self {
        Self { first_tree, ..self }
    }

    /// The indices of the trees.
    pub fn indices(&self) -> Range<usize> {
        self.first_tree..self.first_tree.saturating_add(self.n_trees)
    }

    /// What parts the clusters of a node. Default the Hellinger hyperplane.
    #[must_use]
    pub fn split(self, split: NodeSplit) -> Self {
        Self { split, ..self }
    }

    /// Whether a node that no hyperplane splits is split by one feature instead of becoming a leaf. Default false, as
    /// in the paper. No effect is possible on information gain, so that asking for it there is an error.
    #[must_use]
    pub fn fall_back(self, fall_back: bool) -> Self {
        Self { fall_back, ..self }
    }

    /// Weights of the labels in clustering, by which rare labels count more; `None` counts all alike. Default
    /// inverse frequencies with β = 0.5.
    #[must_use]
    pub fn weighting(mut self, weighting: Option<LabelWeighting>) -> Self {
        self.structuring.weighting = weighting;
        self
    }

    /// Starts and passes of k-means at a node, each at least 1. Default 5 and 100.
    #[must_use]
    pub fn clustering(mut self, n_starts: usize, max_passes: usize) -> Self {
        (self.structuring.cluster_starts, self.structuring.cluster_passes) = (n_starts, max_passes);
        self
    }

    /// Share of the rows that a tree grows on, drawn without replacement, in (0, 1]. Default 0.75. At 1 no row is out
    /// of bag, and there is nothing to find thresholds on.
    #[must_use]
    pub fn row_share(self, row_share: f64) -> Self {
        Self { row_share, ..self }
    }

    /// Share of the features that a tree uses, in (0, 1]. Default 0.75.
    #[must_use]
    pub fn feature_share(self, feature_share: f64) -> Self {
        Self {
            feature_share,
            ..self
        }
    }

    /// Share of the labels that a tree clusters, in (0, 1]. Default 0.75. Leaves answer all labels.
    #[must_use]
    pub fn label_share(self, label_share: f64) -> Self {
        Self { label_share, ..self }
    }

    /// How much more a tree's answer counts for the labels it clustered than for others: finite, at least 1. Default 5.
    #[must_use]
    pub fn label_weight(self, label_weight: f64) -> Self {
        Self { label_weight, ..self }
    }

    /// Fewest rows of a leaf, at least 1. Default 3.
    #[must_use]
    pub fn min_samples_leaf(self, min_samples_leaf: usize) -> Self {
        Self {
            min_samples_leaf,
            ..self
        }
    }

    /// Largest depth of a leaf; the root has depth 0. Default none.
    #[must_use]
    pub fn max_depth(self, max_depth: Option<u32>) -> Self {
        Self { max_depth, ..self }
    }

    /// The units in which hyperplanes are learned; models read raw features in any case. One feature at a time does not
    /// care, so that giving one there is an error.
    ///
    /// Default, `None`: that of the split ([`NodeSplit::default_scaling`]).
    #[must_use]
    pub fn scaling(self, scaling: Option<FeatureScaling>) -> Self {
        Self { scaling, ..self }
    }

    /// The units in which hyperplanes are learned; `None` where there are none.
    pub(super) fn units(&self) -> Option<FeatureScaling> {
        let default = self.split.default_scaling()?;
        Some(self.scaling.unwrap_or(default))
    }

    /// The master seed, from which the streams of all trees derive. Default 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Seed::new(seed),
            ..self
        }
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// [`EnsembleError::Parameter`] or [`EnsembleError::Tree`] with the first parameter out of range.
    pub fn check(self) -> Result<ValidStructuredForestParams, EnsembleError> {
        self.structuring.check()?;
        match &self.split {
            NodeSplit::InformationGain => {}
            NodeSplit::Logistic(params) => params.check()?,
            NodeSplit::Hellinger(params) => params.check()?,
        }
        check_count("n_trees", self.n_trees)?;
        check_indices(self.first_tree, self.n_trees)?;
        let oblique = self.split != NodeSplit::InformationGain;
        let expected = "false where splits are along one feature anyway";
        ParameterError::unless(oblique || !self.fall_back, "fall_back", "true", expected)?;
        if let Some(scaling) = self.scaling {
            let expected = "left alone where splits are along one feature";
            ParameterError::unless(oblique, "scaling", format!("{scaling:?}"), expected)?;
        }
        check_fraction("row_share", self.row_share)?;
        check_fraction("feature_share", self.feature_share)?;
        check_fraction("label_share", self.label_share)?;
        check_label_weight(self.label_weight)?;
        check_count("min_samples_leaf", self.min_samples_leaf)?;
        Ok(ValidStructuredForestParams(self))
    }
}

/// Refuses what does not make a tree count more for the labels it clustered than for others.
pub(super) fn check_label_weight(weight: f64) -> Result<(), ParameterError> {
    let fits = (1.0..f64::INFINITY).contains(&weight);
    ParameterError::unless(fits, "label_weight", weight, "at least 1 and finite")
}

/// Checked parameters, ready to fit.
#[derive(Debug, Clone)]
pub struct ValidStructuredForestParams(pub(super) StructuredForestParams);

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_tree::TreeError;

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: StructuredForestParams| match params.check() {
            Err(
                EnsembleError::Parameter(ParameterError::OutOfRange { name, .. })
                | EnsembleError::Tree(TreeError::Parameter(ParameterError::OutOfRange { name, .. })),
            ) => name,
            other => panic!("{other:?}"),
        };
        let base = StructuredForestParams::soshf;
        assert!(base().check().is_ok());
        assert!(
            base()
                .row_share(1.0)
                .label_weight(1.0)
                .min_samples_leaf(1)
                .check()
                .is_ok()
        );
        assert_eq!(name(base().n_trees(0)), "n_trees");
        assert_eq!(name(base().first_tree(usize::MAX)), "first_tree");
        for bad in [0.0, -0.1, 1.0 + f64::EPSILON, f64::NAN] {
            assert_eq!(name(base().row_share(bad)), "row_share");
            assert_eq!(name(base().feature_share(bad)), "feature_share");
            assert_eq!(name(base().label_share(bad)), "label_share");
        }
        for bad in [0.99, f64::NAN, f64::INFINITY] {
            assert_eq!(name(base().label_weight(bad)), "label_weight");
        }
        assert_eq!(name(base().min_samples_leaf(0)), "min_samples_leaf");
        assert_eq!(name(base().clustering(0, 1)), "cluster_starts");
        assert_eq!(name(base().clustering(1, 0)), "cluster_passes");
        let beta = LabelWeighting {
            beta: f64::NAN,
            ..LabelWeighting::default()
        };
        assert_eq!(name(base().weighting(Some(beta))), "beta");
        assert_eq!(
            name(base().split(NodeSplit::Logistic(ObliqueLogisticParams { l2: 0.0 }))),
            "l2"
        );
        let hellinger = HellingerParams {
            descent_steps: 0,
            ..HellingerParams::default()
        };
        assert_eq!(
            name(base().split(NodeSplit::Hellinger(hellinger))),
            "descent_steps"
        );
        let gain = || base().split(NodeSplit::InformationGain);
        assert_eq!(name(gain().fall_back(true)), "fall_back");
        assert_eq!(name(gain().scaling(Some(FeatureScaling::Raw))), "scaling");
    }
}
