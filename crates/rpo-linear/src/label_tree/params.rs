//! Parameters of label trees.

use rpo_core::{Domain, ParameterError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OneVsRestParams;

/// Maximum number of children of a node, and of labels of a leaf.
const MAX_CLASSIFIERS: usize = 65_536;

/// Parameters of label trees: Parabel (Prabhu, Kag, Harsola, Agrawal, Varma, WWW 2018) with many children per node.
///
/// Each tree clusters the labels by balanced k-means, from the root down, until few are left. A label is represented by
/// the mean of the features of its samples, scaled to unit length, on a random projection. Each tree draws its own
/// projection, so that trees differ and precision beyond the first label rises. Every node has a linear classifier for
/// each child, and a leaf has one for each label, fitted like those of [`OneVsRestParams`] to the samples with a label
/// below the node (those of the root to all samples). The probability of a label is the product of those on its path,
/// found by beam search; its score is the mean over the trees. Labels that the search does not reach, and labels that
/// no training sample has, have score 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LabelTreeParams {
    /// Number of trees.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Index of the first tree, to grow a forest in parts.
    pub first_tree: usize,
    /// Maximum number of children of a node.
    ///
    /// From 2 to 65,536. Default 16: classifiers fill the solver's lanes, and trees are shallow.
    #[schemars(range(min = 2, max = 65_536))]
    pub clusters: usize,
    /// Maximum number of labels of a leaf.
    ///
    /// From 1 to 65,536. Default 64: with 16, deeper trees lose rare labels at each depth, 7 points of psp@5 on 5,000
    /// labels; on sets of 100 to 1,000 labels precision at 5 is 0.2 points lower to 0.6 points higher.
    #[schemars(range(min = 1, max = 65_536))]
    pub leaf_labels: usize,
    /// Number of components of the projection on which labels are clustered.
    ///
    /// From 1 to 16,777,216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub feature_width: usize,
    /// Number of nodes that a prediction follows at each depth.
    #[schemars(range(min = 1))]
    pub beam: usize,
    /// Parameters of the classifiers of nodes.
    #[serde(flatten)]
    pub classifiers: OneVsRestParams,
}

impl Default for LabelTreeParams {
    fn default() -> Self {
        Self {
            trees: 3,
            first_tree: 0,
            clusters: 16,
            leaf_labels: 64,
            feature_width: 64,
            beam: 10,
            classifiers: OneVsRestParams::default(),
        }
    }
}

impl LabelTreeParams {
    /// Checks the parameters except the indices of trees and those of the classifiers.
    pub(super) fn check_ranges(&self) -> Result<(), ParameterError> {
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
        Domain::Count.check("beam", self.beam)
    }
}
