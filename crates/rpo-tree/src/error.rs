//! Errors of growing, labelling and applying trees.

use rpo_core::{MatrixError, Mismatch, NotCsr, ParameterError, TooFew, WeightError};

/// An input that a tree cannot be grown from or applied to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// No samples or no features.
    #[error("the training set is empty: {rows} samples, {columns} features")]
    Empty {
        /// Number of samples given.
        rows: usize,
        /// Number of features given.
        columns: usize,
    },
    /// A tree without samples to grow on.
    #[error("a tree needs at least one sample to grow on")]
    NoRows,
    /// A count beyond the range of 32-bit indices.
    #[error("{what} is {given}; at most {limit} are supported")]
    TooLarge {
        /// The quantity counted, as in "the number of rows".
        what: &'static str,
        /// The count given.
        given: usize,
        /// The largest count supported.
        limit: usize,
    },
    /// A sparse matrix that is stored by columns.
    #[error(transparent)]
    NotCsr(#[from] NotCsr),
    /// A feature value that is infinite. NaN is allowed and means missing.
    #[error("the value of feature {column} of sample {sample} is {value}; use NaN for a missing value")]
    InfiniteFeature {
        /// The sample, from 0.
        sample: usize,
        /// The feature, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A value of a categorical feature that is not a category code.
    #[error(
        "the value of categorical feature {column} of sample {sample} is {value}; codes of categories are whole numbers from 0 to 16777215, and NaN is a missing value"
    )]
    Category {
        /// The sample, from 0.
        sample: usize,
        /// The feature, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A categorical feature of a sparse matrix.
    #[error(
        "feature {column} is categorical, which needs dense features; make them dense, or encode categories as indicators"
    )]
    SparseCategories {
        /// The feature, from 0.
        column: usize,
    },
    /// A NaN or infinite value in data to be clustered.
    #[error("rows to cluster: {0}")]
    NonFinite(#[source] MatrixError),
    /// A missing feature value where the method needs all values.
    #[error(
        "the value of feature {column} of sample {sample} is missing, but hyperplanes need all values; impute it first"
    )]
    MissingFeature {
        /// The sample, from 0.
        sample: usize,
        /// The feature, from 0.
        column: usize,
    },
    /// Two sizes that must be equal are not.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// Fewer samples, features or leaves than an index or a rule refers to.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// A weight of a sample that cannot be used.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// A parameter that cannot be used.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The error of custom leaves.
    #[error("{0}")]
    Custom(String),
    /// A stored structure that is not a tree.
    #[error("node {node} is invalid: {why}")]
    Structure {
        /// The node, in storage order.
        node: usize,
        /// Why it is invalid.
        why: &'static str,
    },
}

impl TreeError {
    /// The sample that the error names, if any. A caller that passed a part of the samples converts it to that of all.
    pub fn sample_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::NonFinite(e) => e.row_mut(),
            Self::InfiniteFeature { sample, .. }
            | Self::Category { sample, .. }
            | Self::MissingFeature { sample, .. } => Some(sample),
            _ => None,
        }
    }
}
