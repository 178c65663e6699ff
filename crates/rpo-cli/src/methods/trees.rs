//! Options that methods of trees share: how many trees, how one grows, and what it sees of the data.

use clap::Args;
use rpo::ensemble::MaxFeatures;

/// How many trees.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Ensemble")]
pub(crate) struct EnsembleOptions {
    /// Number of trees; of forests 100 by default, of structured-forest and binary-relevance-forest 50.
    #[arg(long, value_name = "N")]
    pub(super) trees: Option<usize>,

    /// Index of the first tree: forests grown apart with the same seed and successive indices are merged by
    /// `rpo merge` into exactly the forest that one run would have grown.
    #[arg(long, value_name = "I")]
    pub(super) first_tree: Option<usize>,
}

/// How a tree grows. What is not given is the method's default.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Trees")]
pub(crate) struct TreeOptions {
    /// Features drawn at a node: sqrt (of forests the default), log2, all, a number, or a share such as 0.1.
    #[arg(long, value_name = "K")]
    pub(super) max_features: Option<MaxFeatures>,

    /// Largest depth of a leaf.
    #[arg(long, value_name = "DEPTH")]
    pub(super) max_depth: Option<u32>,

    /// Largest number of leaves of a tree; trees then grow best split first.
    #[arg(long, value_name = "N")]
    pub(super) max_leaves: Option<usize>,

    /// Fewest samples of a node that is split; 2 by default.
    #[arg(long, value_name = "N")]
    pub(super) min_samples_split: Option<usize>,

    /// Fewest samples of a leaf; 1 by default.
    #[arg(long, value_name = "N")]
    pub(super) min_samples_leaf: Option<usize>,

    /// Smallest decrease of the mean variance of the targets, weighted by the node's share of the samples, that
    /// a split must bring; 0 by default.
    #[arg(long, value_name = "GAIN")]
    pub(super) min_impurity_decrease: Option<f64>,
}

/// What a tree sees of the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shares")]
pub(crate) struct ShareOptions {
    /// Share of the samples that a tree grows on, drawn without replacement, in (0, 1]; 0.75 of structured-forest and
    /// binary-relevance-forest by default, in place of the bootstrap of others.
    #[arg(long, value_name = "SHARE")]
    pub(super) row_share: Option<f64>,

    /// Share of the features that a tree uses, in (0, 1]; 0.75 of structured-forest and binary-relevance-forest by
    /// default, 1 of others.
    #[arg(long, value_name = "SHARE")]
    pub(super) feature_share: Option<f64>,
}
