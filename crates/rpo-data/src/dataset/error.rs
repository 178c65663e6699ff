//! Errors of a data set.

use crate::message::quoted;
use rpo_core::{MatrixError, Mismatch, ParameterError, WeightError};

/// The reason why a data set is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// Different numbers of samples in features and outputs, or of names and columns.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A name that occurs twice.
    #[error("{what} name {} is used twice", quoted(name))]
    DuplicateName {
        /// "feature" or "output".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A label that is neither 0 nor 1.
    #[error("label {output} of sample {sample} is {value}; labels are 0 or 1")]
    NotALabel {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
    },
    /// A regression target that is NaN or infinite.
    #[error("outputs: {0}; targets must be finite")]
    Output(MatrixError),
    /// An infinite feature.
    #[error("feature {feature} of sample {sample} is {value}; features are finite, or NaN where missing")]
    InfiniteFeature {
        /// Sample, from 0.
        sample: usize,
        /// Feature, from 0.
        feature: usize,
        /// The value.
        value: f32,
    },
    /// A nominal feature whose value is not a position in its list of values.
    #[error(
        "nominal feature {feature} of sample {sample} is {value}; its codes are whole numbers below {n_values}"
    )]
    NotAPosition {
        /// Sample, from 0.
        sample: usize,
        /// Feature, from 0.
        feature: usize,
        /// The value.
        value: f32,
        /// Length of the list.
        n_values: usize,
    },
    /// A nominal feature without values.
    #[error("nominal feature {0} has an empty list of values")]
    NoValues(usize),
    /// A column of classes without classes.
    #[error("column {} has no classes", quoted(.0))]
    NoClasses(String),
    /// A sample that has several classes of a column, or values that are no classes.
    #[error(
        "sample {sample} has no valid class of column {}: at most one of its outputs may be 1 and the others must be 0, or \
         all must be missing",
        quoted(column)
    )]
    NotOneClass {
        /// Sample, from 0.
        sample: usize,
        /// The name of the column.
        column: String,
    },
    /// An invalid sample weight.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// Weights that follow from the frequencies of labels, for outputs that are numbers.
    #[error("weights by the frequencies of labels are for labels: the outputs are numbers")]
    LabelWeightsOfNumbers,
    /// A sample, feature or output that does not exist.
    #[error("{what} {index} does not exist, there are {count}")]
    OutOfRange {
        /// "sample", "feature" or "output".
        what: &'static str,
        /// The index.
        index: usize,
        /// Number of samples, features or outputs.
        count: usize,
    },
    /// Two sets that cannot be joined.
    #[error("the sets differ in their {0} and cannot be joined")]
    Incompatible(&'static str),
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(Box<ParameterError>),
    /// A conversion to dense storage that exceeds the memory limit.
    #[error(transparent)]
    Dense(#[from] MatrixError),
}

impl DatasetError {
    /// The sample that the error names, if any. A caller that passed a part of the samples converts it to that of all.
    pub fn sample_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Output(e) => e.row_mut(),
            Self::NotALabel { sample, .. }
            | Self::InfiniteFeature { sample, .. }
            | Self::NotAPosition { sample, .. }
            | Self::NotOneClass { sample, .. } => Some(sample),
            _ => None,
        }
    }
}
