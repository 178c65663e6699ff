//! Parameters of forests.

use super::choices::{CriterionKind, LeafChoice, Splitting};
use crate::bins::Bins;
use crate::error::EnsembleError;
use crate::projection::{OutputProjection, ProjectionChoice, ProjectionScope};
use crate::sampling::bag::Bag;
use crate::sampling::max_features::MaxFeatures;
use crate::scaling::OutputScaling;
use rpo_core::{Domain, ForestLearner, ParameterError};
use rpo_projections::{Components, Projection};
use rpo_tree::GrowParams;
use rpo_tree::splitter::ThresholdSearch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters of random forests, Extra-Trees and single trees.
///
/// Start from the default (a random forest) or another [`ForestPreset`](super::ForestPreset), and change fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForestParams {
    /// Number of trees.
    ///
    /// At least 1. More trees reduce the variance of predictions, less and less; the cost is proportional to their
    /// number.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Index of the first tree. Forests grown with the same seed and successive indices can be merged.
    ///
    /// A tree depends only on the data, the seed and its index: a forest grown in parts and merged equals the forest
    /// grown at once.
    pub first_tree: usize,
    /// Choice of thresholds: the best of each drawn feature, or one at random.
    pub splitter: Splitting,
    /// Number of features drawn at a node: all, sqrt, log2, a number, or a fraction such as 0.1.
    ///
    /// Features that are constant in the node count as drawn; if all drawn features are constant, the search goes on
    /// until it finds one that is not. Random forests and Extra-Trees have ⌊√p⌋ by default, as Breiman's software for
    /// classes; the presets of a single tree and of rf-cost have all. Where a method is selected by name, forests with
    /// ⌊√p⌋ have 0.33:3 for numeric outputs, a third but at least 3, with which they lose less R² over public data sets
    /// (docs/defaults.md).
    pub max_features: MaxFeatures,
    /// Largest number of bins per feature, 2 to 255 (auto: 255), whose boundaries are the candidate thresholds; exact, the
    /// default, for any threshold.
    ///
    /// Trees on bins grow faster on many samples. A value of as many samples as a bin has its own bin, and so has every
    /// category. Bins cannot be combined with random thresholds, entropy or missing outputs, and sparse outputs without
    /// a projection are made dense. They have no effect if an output has a value so extreme, about 2³⁴/n times the
    /// spread of the others, that sums in fixed point would lose the digits of the others.
    pub bins: Bins,
    /// Weight by which the mean of a category is shrunk towards the overall mean before categories are ordered; in
    /// multiples of the mean weight of samples.
    ///
    /// Splits of a categorical feature are between subsets of its categories, found by ordering the categories by the
    /// means of the targets in a node. The larger the weight, the more samples a category needs to come first or last.
    /// At least 0; 10 by default, as in LightGBM.
    #[schemars(range(min = 0.0))]
    pub category_smoothing: f64,
    /// Smallest number of samples of a category in a node for it to be ordered; rarer categories are routed like
    /// missing values.
    ///
    /// The mean of a few samples says little about a category, and among many categories some always look good by
    /// chance. Default 3.
    #[schemars(range(min = 1))]
    pub min_category_count: usize,
    /// Largest depth of a leaf; the root has depth 0. Without it, trees are fully grown.
    pub max_depth: Option<u32>,
    /// Largest number of leaves of a tree; with it, trees grow best-first.
    ///
    /// The next node to be split is the one with the largest |S| ΔI.
    #[schemars(range(min = 1))]
    pub max_leaves: Option<usize>,
    /// Smallest number of distinct samples that a node must have to be split.
    ///
    /// Values below 2 mean 2.
    pub min_samples_split: usize,
    /// Smallest number of distinct samples of a leaf.
    #[schemars(range(min = 1))]
    pub min_samples_leaf: usize,
    /// Smallest decrease of impurity of a split, weighted by the node's fraction of the samples.
    ///
    /// (|S| / |root|) · ΔI / m: the node's fraction of the weight times the decrease of the impurity averaged over the
    /// m targets grown on (scikit-learn's definition). The variance is in the unit of `scale_outputs` squared, entropy
    /// in bits. Finite, not negative. At 0, splits without any gain are made too.
    #[schemars(range(min = 0.0))]
    pub min_impurity_decrease: f64,
    /// Grows every tree on a bootstrap: n of the n samples, drawn with replacement. True for random forests unless
    /// `row_share` is given, false for Extra-Trees.
    ///
    /// Out-of-bag predictions need trees that do not see all samples.
    pub bootstrap: Option<bool>,
    /// Fraction of the samples that each tree grows on, drawn without replacement.
    ///
    /// In (0, 1]: round(fraction · n) samples, and below 1 at most n - 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub row_share: Option<f64>,
    /// Fraction of the features that each tree uses.
    ///
    /// In (0, 1]: round(fraction · p) features, among which nodes draw `max_features`.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub feature_share: f64,
    /// Criterion that scores splits. On labels gini grows the same trees as variance.
    pub criterion: CriterionKind,
    /// Storage of leaves. auto refers to training samples in fully grown trees for numbers and for labels of which a
    /// sample has more than two on average, if no output is missing; otherwise it stores means.
    ///
    /// In detail: trees are fully grown if nothing but small leaves (`min_samples_leaf` ≤ 8, `min_samples_split` ≤ 16)
    /// ends their growth. Means are stored in the layout of the outputs.
    pub leaves: LeafChoice,
    /// Projection of the outputs on which trees grow; predictions are in the original outputs. One of none, gaussian,
    /// rademacher, rademacher:S, achlioptas, sparse, hadamard, subsample, subsample-replace, hashing, pca, label-embedding
    /// and identity.
    pub projection: ProjectionChoice,
    /// Number of components of the projection: a number, ln for the logarithm of the number of outputs, or d for the
    /// number of outputs. ln by default, d for identity.
    ///
    /// About ln d loses little on most multi-label sets (Joly, Geurts, Wehenkel, ECML-PKDD 2014, Table 1).
    pub components: Option<Components>,
    /// Scope of a projection: one per tree (tree), or one for all trees (shared). shared by default for
    /// label-embedding, tree for others.
    pub projection_scope: Option<ProjectionScope>,
    /// Unit of the outputs while splits are searched: none for their own units, deviation for their standard
    /// deviations, or auto for standard deviations unless all outputs are labels.
    ///
    /// With the outputs' own units, as in the presets, the output with the largest numbers decides all splits. Leaves
    /// always hold means in the outputs' own units.
    pub scale_outputs: OutputScaling,
    /// Seed of all randomness.
    ///
    /// The random streams of all trees derive from it.
    pub seed: u64,
}

impl Default for ForestParams {
    /// [`ForestPreset::RandomForest`](super::ForestPreset::RandomForest).
    fn default() -> Self {
        Self {
            trees: 100,
            first_tree: 0,
            splitter: Splitting::Best,
            max_features: MaxFeatures::Sqrt,
            bins: Bins::Exact,
            category_smoothing: 10.0,
            min_category_count: 3,
            max_depth: None,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf: 1,
            min_impurity_decrease: 0.0,
            bootstrap: None,
            row_share: None,
            feature_share: 1.0,
            criterion: CriterionKind::Variance,
            leaves: LeafChoice::Auto,
            projection: ProjectionChoice::None,
            components: None,
            projection_scope: None,
            scale_outputs: OutputScaling::None,
            seed: 0,
        }
    }
}

impl ForestParams {
    /// Returns the parameters with a projection of the outputs to a number of components.
    ///
    /// ```
    /// use rpo_ensemble::{CheckParams, ForestParams, ProjectionKind};
    /// let params = ForestParams::default().project(ProjectionKind::Gaussian, 20);
    /// assert!(params.check().is_ok());
    /// ```
    #[must_use]
    pub fn project(self, projection: impl Into<ProjectionChoice>, components: usize) -> Self {
        Self {
            projection: projection.into(),
            components: Some(Components::Exact(components)),
            ..self
        }
    }

    /// Returns true if trees do not grow on all samples, so that forests have out-of-bag predictions.
    pub fn has_oob(&self) -> bool {
        match self.row_share {
            Some(fraction) => fraction < 1.0,
            None => self.bootstrap != Some(false),
        }
    }

    /// Checks the parameters together with a custom projection.
    pub(super) fn check_with(&self, projection: Option<&Arc<dyn Projection>>) -> Result<(), EnsembleError> {
        self.indices()?;
        self.max_features.check()?;
        self.check_bins()?;
        Domain::NotNegative.check("category_smoothing", self.category_smoothing)?;
        Domain::Count.check("min_category_count", self.min_category_count)?;
        Domain::NotNegative.check("min_impurity_decrease", self.min_impurity_decrease)?;
        if let Some(fraction) = self.row_share {
            Domain::Fraction.check("row_share", fraction)?;
            if self.bootstrap == Some(true) {
                let reason = "cannot be combined with `row_share`, which draws samples without replacement";
                return Err(ParameterError::conflict("bootstrap", true, reason).into());
            }
        }
        Domain::Fraction.check("feature_share", self.feature_share)?;
        Domain::Count.check("max_leaves", self.max_leaves)?;
        Domain::Count.check("min_samples_leaf", self.min_samples_leaf)?;
        if let Some(projection) = self.output_projection(projection)? {
            if self.criterion != CriterionKind::Variance {
                let reason = "cannot be combined with a projection, which turns labels into numbers";
                return Err(ParameterError::conflict("criterion", self.criterion, reason).into());
            }
            // Refuses 0 components, whatever the number of outputs.
            projection.components.resolve(1)?;
        }
        Ok(())
    }

    fn check_bins(&self) -> Result<(), ParameterError> {
        self.bins.check()?;
        let reason = match self.bins {
            Bins::Exact => return Ok(()),
            _ if self.splitter == Splitting::Random => {
                "cannot be combined with random thresholds, which lie anywhere between values"
            }
            _ if self.criterion == CriterionKind::Entropy => {
                "cannot be combined with entropy; variance and gini have bins"
            }
            Bins::Auto | Bins::AtMost(_) => return Ok(()),
        };
        Err(ParameterError::conflict("bins", self.bins, reason))
    }

    /// Returns the projection that trees grow on; a custom family replaces the named one.
    pub(super) fn output_projection(
        &self,
        custom: Option<&Arc<dyn Projection>>,
    ) -> Result<Option<OutputProjection>, ParameterError> {
        let components_by_default = Components::LnOutputs;
        self.projection.resolve(
            custom,
            self.components,
            self.projection_scope,
            components_by_default,
        )
    }

    /// Returns the kind of bag that each tree grows on.
    pub(super) fn bag(&self, n_samples: usize) -> Bag {
        match self.row_share {
            Some(fraction) => Bag::of_fraction(fraction, n_samples),
            None if self.bootstrap == Some(false) => Bag::All,
            None => Bag::Bootstrap,
        }
    }

    pub(super) fn grow_params(&self) -> GrowParams {
        GrowParams {
            max_depth: self.max_depth,
            min_samples_split: self.min_samples_split,
            max_leaves: self.max_leaves,
        }
    }

    pub(super) fn thresholds(&self) -> ThresholdSearch {
        match self.splitter {
            Splitting::Best => ThresholdSearch::Best,
            Splitting::Random => ThresholdSearch::Random,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/forest_params.rs"]
mod tests;
