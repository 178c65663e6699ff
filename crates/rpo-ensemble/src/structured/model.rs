//! The fitted structured forest.

use super::params::check_label_weight;
use crate::error::EnsembleError;
use crate::forest::{Forest, ForestTree, RelabelOptions};
use crate::sampling::bag::Bag;
use rpo_core::{MatrixView, Merge, Mismatch, ParameterError, Predictor, Seed, TooFew, TreeEnsemble};
use rpo_tree::Node;
use rpo_tree::oblique::LinearRule;

/// A fitted structured forest; see the [module](crate::structured). Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredForest {
    pub(super) forest: Forest<LinearRule>,
    /// The labels that each tree clustered, increasing.
    clustered: Vec<Vec<u32>>,
    label_weight: f64,
}

impl StructuredForest {
    /// Combines trees, the labels that each tree clustered, and the weight of its predictions of these labels.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if there is not one list of labels per tree, [`EnsembleError::TooFew`] if a label does
    /// not exist, [`EnsembleError::Parameter`] for labels that do not increase, and a weight outside 1 to 1e9.
    pub(crate) fn from_forest(
        forest: Forest<LinearRule>,
        clustered: Vec<Vec<u32>>,
        label_weight: f64,
    ) -> Result<Self, EnsembleError> {
        check_label_weight(label_weight)?;
        Mismatch::check("label sets of trees", forest.trees().len(), clustered.len())?;
        for labels in &clustered {
            if let Some(pair) = labels.windows(2).find(|w| w[0] >= w[1]) {
                let given = format!("{} before {}", pair[0], pair[1]);
                return Err(ParameterError::out_of_range("clustered", given, "increasing").into());
            }
            TooFew::check_indices("outputs for the labels of a tree", labels, forest.n_outputs())?;
        }
        Ok(Self {
            forest,
            clustered,
            label_weight,
        })
    }

    /// Returns the trees as a forest that weights its predictions of all labels equally.
    pub(super) fn forest(&self) -> &Forest<LinearRule> {
        &self.forest
    }

    /// The labels that each tree clustered, increasing.
    pub fn clustered_labels(&self) -> &[Vec<u32>] {
        &self.clustered
    }

    /// Returns the weight of a tree's predictions of the labels that it clustered, relative to its predictions of
    /// others.
    pub(super) fn label_weight(&self) -> f64 {
        self.label_weight
    }

    /// Returns the number of samples that each tree grew on.
    pub(crate) fn rows_per_tree(&self) -> usize {
        match self.forest.bag() {
            Bag::Subsample(samples) => samples,
            Bag::All | Bag::Bootstrap => self.n_train(),
        }
    }

    /// Returns true if any tree has a hyperplane, so that no feature value may be missing.
    pub(crate) fn is_oblique(&self) -> bool {
        let oblique = |node: &Node<LinearRule>| {
            matches!(
                node,
                Node::Split {
                    rule: LinearRule::Oblique(_),
                    ..
                }
            )
        };
        let nodes = self
            .forest
            .trees()
            .iter()
            .flat_map(|t| t.tree.structure().nodes());
        nodes.into_iter().any(oblique)
    }
}

impl StructuredForest {
    /// Returns the forest with the same splits and leaves made from other outputs, which need not be labels; see
    /// [`Forest::relabel`]. Trees then weigh equally, with a label weight of 1, as none has clustered the new outputs. With
    /// the [same](RelabelOptions::same_outputs) outputs they keep their weights.
    ///
    /// # Errors
    /// As for [`Forest::relabel`]; [`EnsembleError::Mismatch`] for another number of the same outputs.
    pub fn relabel(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'_>,
    ) -> Result<Self, EnsembleError> {
        self.check_input(x)?;
        let (clustered, label_weight) = match options.same_outputs {
            true => {
                Mismatch::check("outputs", self.n_outputs(), y.n_cols())?;
                (self.clustered.clone(), self.label_weight)
            }
            false => (vec![Vec::new(); self.clustered.len()], 1.0),
        };
        Self::from_forest(self.forest.relabel(x, y, options)?, clustered, label_weight)
    }
}

impl TreeEnsemble for StructuredForest {
    type Tree = ForestTree<LinearRule>;

    fn trees(&self) -> &[ForestTree<LinearRule>] {
        self.forest.trees()
    }
}

/// The errors are [`EnsembleError::Mismatch`], and [`EnsembleError::Merge`] for other fractions or another label
/// weight.
impl Merge for StructuredForest {
    fn seeds(&self) -> Vec<Seed> {
        self.forest.seeds()
    }

    fn merge(mut self, other: Self) -> Result<Self, EnsembleError> {
        if self.label_weight != other.label_weight {
            return Err(EnsembleError::Merge("their trees weight labels differently"));
        }
        self.forest = self.forest.merge(other.forest)?;
        self.clustered.extend(other.clustered);
        Ok(self)
    }
}
