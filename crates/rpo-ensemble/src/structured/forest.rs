//! The fitted structured forest.

use super::params::check_label_weight;
use crate::error::EnsembleError;
use crate::error::{check_lengths, mismatch};
use rpo_core::{ParameterError, Seed, check_count};
use rpo_tree::oblique::LinearRule;
use rpo_tree::{LeafModel, Node, Tree};

/// A tree of a structured forest.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredTree {
    /// The tree; its leaves answer all labels.
    pub tree: Tree<LinearRule>,
    /// Where its randomness came from; tells which rows were out of its bag.
    pub seed: Seed,
    /// The labels it clustered, increasing.
    pub labels: Vec<u32>,
}

/// A fitted structured forest; see the [module](crate::structured). Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredForest {
    trees: Vec<StructuredTree>,
    label_weight: f64,
    rows_per_tree: usize,
    n_train: usize,
    n_features: usize,
    n_outputs: usize,
}

impl StructuredForest {
    /// Puts a forest together from its parts, as a model file holds them: trees, the weight of the labels a tree
    /// clustered, rows per tree, training rows, features.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if a tree does not fit the numbers, [`EnsembleError::Parameter`] if there is none, for a
    /// weight that is below 1 or not finite, or labels that do not increase.
    pub(crate) fn from_parts(
        trees: Vec<StructuredTree>,
        label_weight: f64,
        rows_per_tree: usize,
        n_train: usize,
        n_features: usize,
    ) -> Result<Self, EnsembleError> {
        check_count("the number of trees", trees.len())?;
        let n_outputs = trees[0].tree.leaves().n_outputs();
        check_label_weight(label_weight)?;
        if !(1..=n_train).contains(&rows_per_tree) {
            return mismatch("training rows for the rows of a tree", rows_per_tree, n_train);
        }
        for StructuredTree { tree, labels, .. } in &trees {
            if tree.leaves().n_outputs() != n_outputs {
                return mismatch("outputs of a tree", n_outputs, tree.leaves().n_outputs());
            }
            if let Some(pair) = labels.windows(2).find(|w| w[0] >= w[1]) {
                let given = format!("{} before {}", pair[0], pair[1]);
                return Err(ParameterError::out_of_range("the labels of a tree", given, "increasing").into());
            }
            if let Some(&label) = labels.last().filter(|label| **label as usize >= n_outputs) {
                return mismatch("outputs for the labels of a tree", label as usize + 1, n_outputs);
            }
            let needed = tree.structure().n_features();
            if needed > n_features {
                return mismatch("features for the rules of a tree", needed, n_features);
            }
        }
        Ok(Self {
            trees,
            label_weight,
            rows_per_tree,
            n_train,
            n_features,
            n_outputs,
        })
    }

    /// The trees.
    pub fn trees(&self) -> &[StructuredTree] {
        &self.trees
    }

    /// How much more a tree's answer counts for the labels it clustered.
    pub fn label_weight(&self) -> f64 {
        self.label_weight
    }

    /// Rows that each tree grew on.
    pub fn rows_per_tree(&self) -> usize {
        self.rows_per_tree
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of labels d.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// Number of training rows n.
    pub fn n_train(&self) -> usize {
        self.n_train
    }

    /// Whether any tree has a hyperplane, so that no feature value may be missing.
    pub fn is_oblique(&self) -> bool {
        let oblique = |node: &Node<LinearRule>| {
            matches!(
                node,
                Node::Split {
                    rule: LinearRule::Oblique(_),
                    ..
                }
            )
        };
        self.trees
            .iter()
            .any(|t| t.tree.structure().nodes().iter().any(oblique))
    }

    /// One forest of the trees of both, in order. Forests grown apart with the same seed and successive
    /// [`first_tree`](super::StructuredForestParams::first_tree) give exactly the forest one fit would have grown.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] or [`EnsembleError::Merge`] if they were not fitted to data of the same shape with
    /// the same shares and label weight.
    pub fn merge(mut self, other: Self) -> Result<Self, EnsembleError> {
        check_lengths([
            ("features of the other forest", self.n_features, other.n_features),
            ("outputs of the other forest", self.n_outputs, other.n_outputs),
            ("training rows of the other forest", self.n_train, other.n_train),
            (
                "rows per tree of the other forest",
                self.rows_per_tree,
                other.rows_per_tree,
            ),
        ])?;
        if self.label_weight != other.label_weight {
            return Err(EnsembleError::Merge("their trees weigh labels differently"));
        }
        self.trees.extend(other.trees);
        Ok(self)
    }
}
