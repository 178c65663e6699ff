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
mod deviance;
mod error;
mod evaluation;
mod intervals;
mod labels;
mod mean;
mod metric;
mod ranking;
mod real;
mod regression;
mod sets;

/// The crate of the types in the signatures of this crate: matrices, parameters, and what errors hold.
pub use rpo_core as core;
/// Matrix types of truth and labels.
pub use rpo_core::{CsrMatrix, CsrView, MatrixView};

pub use at_k::{
    FrequencyGroups, Gain, GroupAtK, PropensityScored, TopK, by_frequency_at_k, gain_at_k, one_error,
    propensity_scored_at_k, sets_at_k,
};
pub use calibration::ProbabilityErrors;
pub use deviance::{Deviance, TweediePower};
pub use error::MetricError;
pub use evaluation::{Evaluation, EvaluationOptions, Predictions};
pub use intervals::IntervalSums;
pub use labels::{LabelSets, Thresholds};
pub use mean::{EmptySamples, Mean, MissingTruth};
pub use metric::{Metric, PredictionForm, Score, largest_k};
pub use ranking::{Curve, Ranking, area_per_label, micro_area, ranking};
pub use real::Real;
pub use regression::{Baseline, OutputMetric, RegressionSums};
pub use rpo_core::{Propensity, is_probability};
pub use sets::{Average, Confusion, SetComparison, SetMetric, ZeroDivision};
