//! Errors of models and of the data given to them.

use crate::MissingName;
use crate::method::{Difference, MethodError};
use crate::model_file::ModelFileError;
use rpo_core::text::quoted;
use rpo_core::{MemoryLimit, Mismatch, ParameterError, TooFew};
use rpo_data::preprocess::PreprocessError;
use rpo_data::split::SplitError;
use rpo_data::{DatasetError, Task};
use rpo_ensemble::EnsembleError;
use rpo_linear::LinearError;
use rpo_metrics::MetricError;
use std::ops::Range;

/// Error of every fallible function of a [`Model`](crate::Model) except saving and loading.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A method that does not exist, parameters that it does not have, or data that it cannot use.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A parameter that is out of range or contradicts another.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Parts of a model with different sizes.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A metric, ranking or decision of labels for a model that predicts numbers.
    #[error("{metric} is for labels; the model predicts numbers")]
    MetricForLabels {
        /// The metric, ranking or decision, such as "ranking by propensity".
        metric: String,
    },
    /// A metric or ranking that depends on the label counts of training, for a model that predicts numbers beside labels.
    #[error("{metric} is for models of labels alone; this one also predicts numbers")]
    MetricForLabelsAlone {
        /// The metric or ranking.
        metric: String,
    },
    /// Fewer samples than a computation needs.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// A metric that depends on more than the best labels, although labels are ranked by propensity.
    #[error(
        "{metric} needs more than the best k labels; only metrics of the best k labels can be ranked by propensity"
    )]
    MetricNotOfBest {
        /// The metric.
        metric: String,
    },
    /// A result that exceeds the memory limit.
    #[error(transparent)]
    MemoryLimit(#[from] MemoryLimit),
    /// Samples that cannot be withheld or split into folds.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A subset of a data set that cannot be selected.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A model file that cannot be written.
    #[error(transparent)]
    File(Box<ModelFileError>),
    /// The samples that contributions are relative to.
    #[error("the background: {0}")]
    Background(Box<ModelError>),
    /// The error of a custom method.
    #[error("{0}")]
    Custom(String),
    /// A name that occurs twice.
    #[error("{what} name {name:?} is used twice")]
    DuplicateName {
        /// "feature" or "output".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A nominal feature that does not exist.
    #[error("feature {feature} is declared nominal, there are {n_features}")]
    NoSuchFeature {
        /// Its index.
        feature: usize,
        /// Number of features.
        n_features: usize,
    },
    /// A column of texts without features, or whose features are not those of its terms.
    #[error("the features of the text column {name:?} do not match its terms")]
    Text {
        /// The column.
        name: String,
    },
    /// A column of dates whose features are not the parts of dates.
    #[error("the features of the column of dates {name:?} do not match its parts")]
    Dates {
        /// The column.
        name: String,
    },
    /// An invalid number in the summary of the training set.
    #[error("the {what} of output {output} is {value}; expected {expected}")]
    Summary {
        /// "label count" or "training mean".
        what: &'static str,
        /// The output.
        output: usize,
        /// The number.
        value: f64,
        /// The allowed values.
        expected: &'static str,
    },
    /// A decision threshold that is not a number.
    #[error("the decision threshold of output {output} is not a number")]
    Threshold {
        /// The output.
        output: usize,
    },
    /// A target of training for which the loss is not defined.
    #[error("the target {name:?} is {value} in sample {row} (from 0) of the fit; the loss needs {expected}")]
    Target {
        /// The target.
        name: String,
        /// Sample among those of the fit, from 0.
        row: usize,
        /// The value.
        value: f32,
        /// The allowed values.
        expected: &'static str,
    },
    /// A value of a label beside numbers that is none.
    #[error("the label {name:?} is {value} in sample {row} (from 0); labels are 0 or 1")]
    NotALabel {
        /// The label.
        name: String,
        /// Sample, from 0.
        row: usize,
        /// The value.
        value: f32,
    },
    /// Out-of-bag predictions of samples with groups as if they were of new groups.
    #[error(
        "the samples have groups, and trees that did not see a sample saw others of its group: thresholds and intervals \
         for new groups cannot be found out of bag; withhold groups"
    )]
    GroupsOutOfBag,
    /// Prediction intervals of a model that predicts labels alone.
    #[error("prediction intervals are for numbers; all outputs are labels")]
    NoNumbers,
    /// Bounds of a model without prediction intervals.
    #[error("the model has no prediction intervals; train it with `intervals`, their level, such as 0.9")]
    NoIntervals,
    /// Too few samples to calibrate prediction intervals.
    #[error(
        "intervals of level {level} need at least {needed} {unit} that the model was not fitted to; {target:?} is observed in {observed}: {remedy}"
    )]
    TooFewForIntervals {
        /// The target.
        target: String,
        /// The level.
        level: f64,
        /// Number of samples, or of groups of samples, that are needed.
        needed: usize,
        /// Number of those for calibration where the target is observed.
        observed: usize,
        /// What is counted: `samples` or `groups`.
        unit: &'static str,
        /// What helps, given where the predictions come from.
        remedy: &'static str,
    },
    /// A method of several quantile levels in a search for the weights of members.
    #[error(
        "a member predicts several quantile levels, whose weights are not searched for while members are fitted: give all members \
         the same levels and combine them by their mean, or fit them one by one and combine the models"
    )]
    MemberOfLevels,
    /// An output that has the name of a bound of prediction intervals.
    #[error("the output {name:?} has the name of a bound of the intervals: rename it")]
    BoundIsOutput {
        /// The name.
        name: String,
    },
    /// A method whose predictions are not explained.
    #[error(
        "what features contribute is not computed for models of the kind {kind}; it is for random forests, Extra-Trees, forests of single targets, boosting, ridge, logistic regression and one-vs-rest, and for ensembles of them whose scores are predictions, such as those of numbers"
    )]
    Unexplained {
        /// The kind of model.
        kind: &'static str,
    },
    /// A beam for a model that has none.
    #[error("models of the kind {kind} have no beam; it is for label trees")]
    NoBeam {
        /// The kind of model.
        kind: &'static str,
    },
    /// More samples than those of the training, of which other outputs do not tell which it left out.
    #[error(
        "the model was trained on {n_train} samples, not on {given}: if training left out {} that had no outputs or weight \
         0, pass the other training samples alone",
        given.saturating_sub(*n_train)
    )]
    LeftOut {
        /// Number of training samples.
        n_train: usize,
        /// Number of samples that were given, which is larger.
        given: usize,
    },
    /// A model whose leaves cannot get values of other outputs.
    #[error("cannot relabel: {0}")]
    Relabel(&'static str),
    /// Data for another task.
    #[error("the data is for {given}, the model was trained for {expected}", given = name_of(*.given), expected = name_of(*.expected))]
    Task {
        /// The task of the model.
        expected: Task,
        /// The task of the data.
        given: Task,
    },
    /// A feature or output of the model that the data lacks.
    #[error("the data has no {what} {}, which the model needs{}", listed(.missing), and_more(*.more))]
    MissingColumn {
        /// "feature", "output", or "column" where some of those that are missing are texts or dates.
        what: &'static str,
        /// The first that are missing, at most five.
        missing: Vec<MissingName>,
        /// Number of further missing columns.
        more: usize,
    },
    /// A feature of the model that is a target of the data.
    #[error("the column {name:?} is a target here, but a feature of the model")]
    TargetIsFeature {
        /// Its name.
        name: String,
    },
    /// An output of the data that the model does not predict.
    #[error("the model does not predict output {name:?} of the data")]
    UnknownOutput {
        /// Its name.
        name: String,
    },
    /// Data with numbered columns whose number differs from that of the model.
    #[error("the data has {given} numbered {what}s, the model {expected}")]
    ColumnCount {
        /// "feature" or "output".
        what: &'static str,
        /// Columns of the model.
        expected: usize,
        /// Columns of the data.
        given: usize,
    },
    /// A feature that is nominal in the model and numeric in the data, or the reverse.
    #[error("feature {name:?} is {given} in the data, {expected} in the model")]
    Kind {
        /// Its name.
        name: String,
        /// "nominal" or "numeric".
        expected: &'static str,
        /// "nominal" or "numeric".
        given: &'static str,
    },
    /// A nominal value that was not declared in training.
    #[error(
        "row {row} has the value {} of feature {}, which the model does not know",
        quoted(value),
        quoted(name)
    )]
    UnknownValue {
        /// Row, from 0.
        row: usize,
        /// Name of the feature.
        name: String,
        /// The value.
        value: String,
    },
    /// A missing feature, although the method needs every value and no imputation was learned in training.
    #[error("row {row} lacks feature {name:?}; the model needs every value")]
    MissingFeature {
        /// Row, from 0.
        row: usize,
        /// Name of the feature.
        name: String,
    },
    /// A feature that is infinite, or becomes infinite when it is prepared as in training.
    #[error(
        "row {row} has the value {value} of feature {name:?}, which is infinite or too far from the values in training to be \
         prepared as they were"
    )]
    UnusableFeature {
        /// Row, from 0.
        row: usize,
        /// Name of the feature.
        name: String,
        /// The value.
        value: f32,
    },
    /// Models that cannot be merged.
    #[error("the models cannot be merged: {0}")]
    Merge(&'static str),
    /// Models to merge that differ in parameters that one training would share.
    #[error("the models cannot be merged: {}", .0.between("in one", "in the other"))]
    MergeParameters(Box<Difference>),
    /// Models to merge with missing trees between them.
    #[error(
        "the models cannot be merged: the trees {} to {} between them are missing",
        .missing.start,
        .missing.end - 1
    )]
    MergeGap {
        /// The indices of the missing trees.
        missing: Range<u64>,
    },
    /// A model to continue that was fitted with different parameters.
    #[error("the model to continue was fitted with other parameters: {}", .0.between("there", "here"))]
    Continue(Box<Difference>),
    /// Models that cannot be averaged.
    #[error(
        "model {member} (from 0) cannot be combined with model 0, as it was fitted to different data: {difference}"
    )]
    Combine {
        /// Index of the first model that differs from the first.
        member: usize,
        /// What differs.
        difference: String,
    },
    /// Models to combine that predict different quantiles, so that their mean would be neither.
    #[error("the models cannot be combined: one predicts {}, another {}", quantiles(.one), quantiles(.other))]
    CombineLevels {
        /// Quantile levels of the first model; empty if it predicts no quantiles.
        one: Vec<f64>,
        /// Quantile levels of the second model.
        other: Vec<f64>,
    },
    /// Features that the pipeline cannot prepare.
    #[error(transparent)]
    Preprocess(#[from] PreprocessError),
    /// An error of the tree ensemble.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// An error of a label embedding or linear model.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// Invalid scores or other errors of a metric.
    #[error(transparent)]
    Metric(#[from] MetricError),
}

impl ModelError {
    /// Checks that dense scores fit within a memory limit.
    pub(crate) fn check_scores(n_samples: usize, n_outputs: usize, limit: usize) -> Result<(), Self> {
        let bytes = crate::blocks::dense_bytes(n_samples, n_outputs);
        let what = || format!("scores of {n_samples} samples and {n_outputs} outputs");
        Ok(MemoryLimit::check(bytes, limit, what)?)
    }

    /// Checks that two models predict the same quantiles, or both predict none.
    pub(crate) fn check_levels(one: &[f64], other: &[f64]) -> Result<(), Self> {
        match one == other {
            true => Ok(()),
            false => Err(Self::CombineLevels {
                one: one.to_vec(),
                other: other.to_vec(),
            }),
        }
    }

    /// Returns true if the caller stopped the fit.
    pub fn is_stopped(&self) -> bool {
        matches!(
            self,
            Self::Ensemble(EnsembleError::Stopped) | Self::Linear(LinearError::Stopped)
        )
    }

    /// Converts the row numbers of an error in a block to row numbers in the whole data, where the block begins at
    /// `start`.
    #[must_use]
    pub fn in_block(mut self, start: usize) -> Self {
        if let Some(row) = self.row_mut() {
            *row += start;
        }
        self
    }

    /// Converts the row that the error names, if any, from that of a selection of samples to that of all samples.
    pub(crate) fn in_selection(mut self, samples: &[usize]) -> Self {
        if let Some(row) = self.row_mut()
            && let Some(&sample) = samples.get(*row)
        {
            *row = sample;
        }
        self
    }

    /// The row that the error names, if any.
    fn row_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Target { row, .. }
            | Self::NotALabel { row, .. }
            | Self::UnknownValue { row, .. }
            | Self::MissingFeature { row, .. }
            | Self::UnusableFeature { row, .. } => Some(row),
            Self::Dataset(e) => e.sample_mut(),
            Self::Preprocess(e) => e.sample_mut(),
            Self::Ensemble(e) => e.sample_mut(),
            Self::Linear(e) => e.sample_mut(),
            Self::Metric(e) => e.sample_mut(),
            _ => None,
        }
    }
}

impl From<ModelFileError> for ModelError {
    fn from(e: ModelFileError) -> Self {
        Self::File(Box::new(e))
    }
}

fn name_of(task: Task) -> &'static str {
    match task {
        Task::MultiLabel => "multi-label classification",
        Task::Regression => "regression",
    }
}

fn quantiles(levels: &[f64]) -> String {
    let listed: Vec<String> = levels.iter().map(f64::to_string).collect();
    match levels.len() {
        0 => "no quantile".to_owned(),
        1 => format!("the quantile {}", listed[0]),
        _ => format!("the quantiles {}", listed.join(", ")),
    }
}

fn listed(missing: &[MissingName]) -> String {
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn and_more(more: usize) -> String {
    if more == 0 {
        String::new()
    } else {
        format!(" (and lacks {more} more)")
    }
}
