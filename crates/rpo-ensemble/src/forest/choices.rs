//! The named choices of forests: criteria, thresholds and the storage of leaves.

use rpo_tree::LeafKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Criterion that scores splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum CriterionKind {
    /// The variance, summed over outputs ([`Variance`](rpo_tree::criterion::Variance)).
    #[default]
    Variance,
    /// Gini impurity 1 − p² − (1 − p)² of labels. It is twice their variance, so the trees are the same; only
    /// [`min_impurity_decrease`](super::ForestParams::min_impurity_decrease) is in another unit.
    Gini,
    /// Entropy of labels in bits, summed over labels
    /// ([`Impurity::LabelEntropy`](rpo_tree::criterion::Impurity::LabelEntropy)). Labels must not be missing, except in
    /// single-target forests.
    Entropy,
}

rpo_core::impl_names!(CriterionKind, "a criterion");

/// Choice of thresholds at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Splitting {
    /// The best threshold of each drawn feature.
    #[default]
    Best,
    /// One random threshold per drawn feature (Extra-Trees); the midpoint for a feature whose only values are 0 and one
    /// other.
    Random,
}

/// Storage of leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum LeafChoice {
    /// Chosen automatically from parameters and outputs.
    #[default]
    Auto,
    /// [`LeafKind::Dense`].
    Dense,
    /// [`LeafKind::Sparse`].
    Sparse,
    /// [`LeafKind::Samples`].
    Samples,
}

impl LeafChoice {
    /// Returns the storage, or `None` for the automatic choice.
    pub(crate) fn kind(self) -> Option<LeafKind> {
        match self {
            Self::Auto => None,
            Self::Dense => Some(LeafKind::Dense),
            Self::Sparse => Some(LeafKind::Sparse),
            Self::Samples => Some(LeafKind::Samples),
        }
    }
}

impl From<Option<LeafKind>> for LeafChoice {
    fn from(kind: Option<LeafKind>) -> Self {
        match kind {
            None => Self::Auto,
            Some(LeafKind::Dense) => Self::Dense,
            Some(LeafKind::Sparse) => Self::Sparse,
            Some(LeafKind::Samples) => Self::Samples,
        }
    }
}
