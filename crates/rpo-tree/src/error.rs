//! What can go wrong when a tree is grown, labelled or asked.

use rpo_core::{MatrixError, Mismatch, ParameterError};

/// An input that a tree cannot be grown from or applied to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// No rows or no columns.
    #[error("the training set is empty: {rows} rows, {columns} columns")]
    Empty {
        /// Number of rows given.
        rows: usize,
        /// Number of columns given.
        columns: usize,
    },
    /// More rows, columns or stored values than 32-bit indices can name.
    #[error("{what} is {given}, at most {limit} are supported")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// The count given.
        given: usize,
        /// The largest count supported.
        limit: usize,
    },
    /// A sparse matrix that is stored by columns.
    #[error("the sparse {what} are stored by columns; expected compressed sparse rows (CSR)")]
    NotCsr {
        /// Which matrix.
        what: &'static str,
    },
    /// A feature value that is infinite. NaN is allowed and means missing.
    #[error("feature value {value} at row {row}, column {column} is infinite; use NaN for a missing value")]
    InfiniteFeature {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A value to be clustered that is NaN or infinite.
    #[error("rows to cluster: {0}")]
    NonFinite(#[source] MatrixError),
    /// A missing feature value where the method has no side for it.
    #[error(
        "the feature value at row {row}, column {column} is missing, and hyperplanes need all values; impute it first"
    )]
    MissingFeature {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
    },
    /// Two sizes that must be equal are not.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A sample weight that is negative, NaN or infinite.
    #[error("the weight of row {row} is {value}; weights are finite and not negative")]
    Weight {
        /// Row, from 0.
        row: usize,
        /// The weight.
        value: f32,
    },
    /// No row has a positive weight.
    #[error("no row has a positive weight")]
    NoWeight,
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A stored structure that is not a tree.
    #[error("node {node} is invalid: {why}")]
    Structure {
        /// The node, in storage order.
        node: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// [`TreeError::Mismatch`] unless all of some rows or columns exist, of which there are `n`.
pub(crate) fn check_exist(what: &'static str, indices: &[u32], n: usize) -> Result<(), TreeError> {
    let needed = indices.iter().max().map_or(0, |&last| last as usize + 1);
    Ok(Mismatch::check(what, needed.max(n), n)?)
}
