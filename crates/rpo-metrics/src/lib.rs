#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod at_k;
mod calibration;
mod error;
mod evaluation;
mod labels;
mod mean;
mod metric;
mod ranking;
mod real;
mod regression;
mod sets;

/// Matrices of truth and labels.
pub use rpo_core::{CsrMatrix, CsrView, MatrixView};

pub use at_k::{
    FrequencyGroups, GroupAtK, PropensityScored, TopK, by_frequency_at_k, ndcg_at_k, one_error,
    precision_at_k, psndcg_at_k, psp_at_k, sets_at_k,
};
pub use calibration::{ProbabilityErrors, is_probability};
pub use error::MetricError;
pub use evaluation::{Evaluation, EvaluationOptions, Scores};
pub use labels::{LabelSets, Thresholds};
pub use mean::{EmptySamples, Mean, MissingTruth, UndefinedLabels};
pub use metric::{Metric, Needs, Score};
pub use ranking::{
    average_precision_per_label, coverage_error, lrap, macro_average_precision, macro_roc_auc,
    micro_average_precision, micro_roc_auc, ranking_loss, roc_auc_per_label, weighted_roc_auc,
};
pub use real::Real;
pub use regression::{Baseline, RegressionSums};
pub use rpo_core::Propensity;
pub use sets::{Average, Confusion, SetComparison, ZeroDivision};
