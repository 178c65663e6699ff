//! Parameters of label trees.

use std::ops::Range;

use rpo_core::{ParameterError, check_count, check_not_negative, check_positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dual::{Bias, DualParams, MarginLoss, Precision};
use crate::{LinearError, RowNorm};

/// Most children of a node, and most labels of a leaf.
const MAX_CLASSIFIERS: usize = 65_536;

/// Parameters of label trees: Parabel (Prabhu, Kag, Harsola, Agrawal, Varma, WWW 2018) with nodes of many children.
///
/// Each tree clusters the labels by balanced k-means, from the root down, until few are left. A label is represented by the
/// mean of the features of its samples, of unit length, on a random projection that each tree draws for itself: trees then
/// differ, and precision beyond the first label rises. Every node has a linear classifier for each child, a leaf one for each
/// label, fitted as those of [`OneVsRestParams`](crate::OneVsRestParams) to the samples with a label below the node. The
/// probability of a label is the product of those on its path, found by beam search, and its score the mean over the trees;
/// labels that no search reaches have score 0, as have those that no training sample has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LabelTreeParams {
    /// Number of trees.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Index of the first tree, for growing a forest in parts.
    pub first_tree: usize,
    /// Largest number of children of a node.
    ///
    /// From 2 to 65,536. Default 16: a group of classifiers fills the solver's lanes, and trees are shallow.
    #[schemars(range(min = 2, max = 65_536))]
    pub clusters: usize,
    /// Largest number of labels of a leaf.
    ///
    /// From 1 to 65,536.
    #[schemars(range(min = 1, max = 65_536))]
    pub leaf_labels: usize,
    /// Number of components of the projection on which labels are clustered.
    #[schemars(range(min = 1))]
    pub feature_width: usize,
    /// Number of nodes that a prediction follows at each depth.
    #[schemars(range(min = 1))]
    pub beam: usize,
    /// Loss of a margin m: squared-hinge, max(0, 1 - m)²; logistic, log(1 + exp(-m)), slower.
    pub loss: MarginLoss,
    /// Weight C of the loss against the penalty; smaller for few samples (0.25 to 0.5), larger for many.
    ///
    /// Above 0.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub cost: f64,
    /// Scaling of the features of each sample, in training and prediction: l2, to length 1; none.
    pub normalize: RowNorm,
    /// Value of the feature that stands for the intercept; 0 for none.
    #[schemars(range(min = 0.0))]
    pub bias: f64,
    /// Largest violation of the optimality conditions at which the fit of a node ends, in units of the margin.
    ///
    /// Above 0.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub tolerance: f64,
    /// Largest number of passes over the samples of a node, at least 1.
    #[schemars(range(min = 1))]
    pub max_passes: usize,
    /// Magnitude below which weights are left out.
    ///
    /// Not negative.
    #[schemars(range(min = 0.0))]
    pub prune: f64,
    /// Precision of weights: half, 16 bits; single, 32 bits.
    pub precision: Precision,
    /// Seed of the projections, the clusters and the order of samples.
    pub seed: u64,
}

impl Default for LabelTreeParams {
    fn default() -> Self {
        Self {
            trees: 3,
            first_tree: 0,
            clusters: 16,
            leaf_labels: 16,
            feature_width: 64,
            beam: 10,
            loss: MarginLoss::SquaredHinge,
            cost: 1.0,
            normalize: RowNorm::L2,
            bias: 1.0,
            tolerance: 0.1,
            max_passes: 50,
            prune: 0.1,
            precision: Precision::Half,
            seed: 0,
        }
    }
}

impl LabelTreeParams {
    /// The indices of the trees.
    pub fn indices(&self) -> Range<usize> {
        self.first_tree..self.first_tree.saturating_add(self.trees)
    }

    /// Returns the parameters of some of the trees, for growing a forest in parts.
    #[must_use]
    pub fn of_trees(&self, trees: Range<usize>) -> Self {
        Self {
            first_tree: trees.start,
            trees: trees.len(),
            ..self.clone()
        }
    }

    /// Checks the parameters, as [`fit`](Self::fit) does.
    ///
    /// # Errors
    /// [`LinearError::Parameter`].
    pub fn check(&self) -> Result<(), LinearError> {
        check_count("trees", self.trees)?;
        let fits = self.first_tree.checked_add(self.trees).is_some();
        let expected = "so small that every tree has an index";
        ParameterError::unless(fits, "first_tree", self.first_tree, expected)?;
        let clusters = (2..=MAX_CLASSIFIERS).contains(&self.clusters);
        ParameterError::unless(clusters, "clusters", self.clusters, "from 2 to 65536")?;
        let labels = (1..=MAX_CLASSIFIERS).contains(&self.leaf_labels);
        ParameterError::unless(labels, "leaf_labels", self.leaf_labels, "from 1 to 65536")?;
        let width = (1..=1 << 24).contains(&self.feature_width);
        ParameterError::unless(
            width,
            "feature_width",
            self.feature_width,
            "1 to 16777216 components",
        )?;
        check_count("beam", self.beam)?;
        check_positive("cost", self.cost)?;
        check_not_negative("bias", self.bias)?;
        check_positive("tolerance", self.tolerance)?;
        check_count("max_passes", self.max_passes)?;
        Ok(check_not_negative("prune", self.prune)?)
    }

    pub(super) fn dual(&self) -> DualParams {
        DualParams {
            loss: self.loss,
            cost: self.cost as f32,
            tolerance: self.tolerance as f32,
            max_passes: self.max_passes,
            bias: Bias {
                value: self.bias as f32,
                is_free: false,
            },
        }
    }
}
