//! How large the trees of a model are.

use crate::Predictor;
use rpo_tree::{Rule, Structure};

/// The size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeSize {
    /// Number of nodes, splits and leaves.
    pub nodes: usize,
    /// Number of leaves.
    pub leaves: usize,
    /// Largest depth of a leaf; 0 of a tree that is one leaf.
    pub depth: usize,
}

impl TreeSize {
    fn of<R: Rule>(structure: &Structure<R>) -> Self {
        Self {
            nodes: structure.nodes().len(),
            leaves: structure.n_leaves(),
            depth: structure.depth(),
        }
    }
}

impl Predictor {
    /// The sizes of its trees, in their order; `None` if it is not made of trees.
    pub fn tree_sizes(&self) -> Option<Vec<TreeSize>> {
        let of_forest = |forest: &rpo_ensemble::Forest| {
            let trees = forest.trees().iter();
            trees.map(|t| TreeSize::of(t.tree.structure())).collect()
        };
        Some(match self {
            Self::Forest(forest) => of_forest(forest),
            Self::SingleTargetForest(forests) => of_forest(forests.forest()),
            Self::Boosted(boosted) => {
                let trees = boosted.trees().iter();
                trees.map(|t| TreeSize::of(&t.structure)).collect()
            }
            Self::Craftml(forest) => {
                let trees = forest.trees().iter();
                trees.map(|t| TreeSize::of(t.tree().structure())).collect()
            }
            Self::StructuredForest(forest) => {
                let trees = forest.trees().iter();
                trees.map(|t| TreeSize::of(t.tree.structure())).collect()
            }
            Self::LabelEmbedding(_) | Self::Linear(_) => return None,
        })
    }
}
