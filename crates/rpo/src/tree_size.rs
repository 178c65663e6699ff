//! Sizes of a model's trees.

use rpo_tree::{Rule, Structure};
use serde_json::{Value, json};

/// The size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeSize {
    /// Number of nodes, including leaves.
    pub nodes: usize,
    /// Number of leaves.
    pub leaves: usize,
    /// Largest depth of a leaf; 0 for a single leaf.
    pub depth: usize,
}

impl TreeSize {
    /// The smallest, mean and largest of the values, such as the numbers of nodes of all trees, for reports: a JSON object
    /// with `min`, `mean` and `max`.
    pub fn spread(values: impl Iterator<Item = usize> + Clone) -> Value {
        let n = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<usize>() as f64 / n;
        json!({"min": values.clone().min(), "mean": mean, "max": values.max()})
    }

    pub(crate) fn of<R: Rule>(structure: &Structure<R>) -> Self {
        Self {
            nodes: structure.nodes().len(),
            leaves: structure.n_leaves(),
            depth: structure.depth(),
        }
    }
}
