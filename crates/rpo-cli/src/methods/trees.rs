//! How a tree grows.

use clap::Args;
use rpo::ensemble::MaxFeatures;

/// How a tree grows. What is not given is the method's default.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Trees")]
pub struct TreeOptions {
    /// Features drawn at a node: sqrt (of forests the default), log2, all, a number, or a share such as 0.1.
    #[arg(long, value_name = "K")]
    pub max_features: Option<MaxFeatures>,

    /// Largest depth of a leaf.
    #[arg(long, value_name = "DEPTH")]
    pub max_depth: Option<u32>,

    /// Largest number of leaves of a tree; trees then grow best split first.
    #[arg(long, value_name = "N")]
    pub max_leaves: Option<usize>,

    /// Fewest samples of a node that is split; 2 by default.
    #[arg(long, value_name = "N")]
    pub min_samples_split: Option<usize>,

    /// Fewest samples of a leaf; 1 by default.
    #[arg(long, value_name = "N")]
    pub min_samples_leaf: Option<usize>,

    /// Smallest decrease of the mean variance of the targets, weighted by the node's share of the samples, that
    /// a split must bring; 0 by default.
    #[arg(long, value_name = "GAIN")]
    pub min_impurity_decrease: Option<f64>,
}
