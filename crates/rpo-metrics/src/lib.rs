#![doc = include_str!("../README.md")]

mod area;
mod at_k;
mod error;
mod evaluation;
mod known;
mod labels;
mod levels;
mod mean;
mod metric;
mod propensity;
mod ranking;
mod regression;
mod score;
mod sets;
mod top_k;

/// What truth and labels come in.
pub use rpo_core::{CsrMatrix, CsrView, MatrixView};

pub use area::{
    average_precision_per_label, macro_average_precision, macro_roc_auc, micro_average_precision,
    micro_roc_auc, roc_auc_per_label, weighted_roc_auc,
};
pub use at_k::{PropensityScored, ndcg_at_k, one_error, precision_at_k, psndcg_at_k, psp_at_k};
pub use error::MetricError;
pub use evaluation::{Evaluation, Scores};
pub use labels::{LabelSets, Thresholds};
pub use mean::{EmptyRows, Mean, MissingTruth, UndefinedLabels};
pub use metric::{Metric, Needs};
pub use propensity::Propensity;
pub use ranking::{coverage_error, lrap, ranking_loss};
pub use regression::{Baseline, RegressionSums};
pub use score::Score;
pub use sets::{Average, Confusion, SetComparison, ZeroDivision};
pub use top_k::TopK;
