//! What can go wrong when a projection is drawn, fitted or applied.

use rpo_core::{MatrixError, ParameterError};

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// A projection onto nothing.
    #[error("0 components were asked for, at least 1 is needed")]
    NoComponents,
    /// A projection of nothing.
    #[error("there are 0 outputs to project, at least 1 is needed")]
    NoOutputs,
    /// More components than the family can give.
    #[error("{n_components} components were asked for, {family} gives at most {limit}")]
    TooManyComponents {
        /// Name of the family.
        family: &'static str,
        /// Components asked for.
        n_components: usize,
        /// Largest number that the family gives here.
        limit: usize,
    },
    /// More outputs or components than a 32-bit index can name.
    #[error("{n_outputs} outputs to {n_components} components: neither may exceed {limit}")]
    IndexRange {
        /// Outputs.
        n_outputs: usize,
        /// Components.
        n_components: usize,
        /// Largest number of either.
        limit: usize,
    },
    /// The identity keeps every output.
    #[error("{n_components} components were asked for, the identity on {n_outputs} outputs has {n_outputs}")]
    IdentitySize {
        /// Outputs.
        n_outputs: usize,
        /// Components asked for.
        n_components: usize,
    },
    /// A sparsity s of Rademacher entries outside its range.
    #[error("the sparsity s of Rademacher entries is {0}, it must be at least 1 and at most 2^53")]
    Sparsity(f64),
    /// Outputs with another number of columns than the map was made for.
    #[error("the outputs have {found} columns, the projection was made for {expected}")]
    OutputMismatch {
        /// Columns that the map takes.
        expected: usize,
        /// Columns given.
        found: usize,
    },
    /// A matrix to be written that has the wrong shape.
    #[error("the projected outputs go to a {} x {} matrix, {} x {} is needed", found.0, found.1, expected.0, expected.1)]
    TargetShape {
        /// Rows and columns needed.
        expected: (usize, usize),
        /// Rows and columns given.
        found: (usize, usize),
    },
    /// A matrix to be written that is not row-major and contiguous.
    #[error("the projected outputs go to a matrix that is not row-major and contiguous")]
    TargetLayout,
    /// A sparse matrix that is stored by columns.
    #[error("the sparse outputs are stored by columns, compressed sparse rows are needed")]
    NotCsr,
    /// A value that is not finite.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// Finite outputs whose projection leaves the range of `f32`.
    #[error(
        "component {component} of row {row} overflows: the outputs are too large for f32 sums, rescale them"
    )]
    Overflow {
        /// Row, from 0.
        row: usize,
        /// Component, from 0.
        component: usize,
    },
    /// Too few rows to fit a learned projection.
    #[error("{found} rows were given, {family} needs at least {required}")]
    TooFewRows {
        /// Name of the family.
        family: &'static str,
        /// Rows given.
        found: usize,
        /// Rows needed.
        required: usize,
    },
    /// A table that does not fit in memory.
    #[error("a table of {rows} x {columns} numbers does not fit in memory")]
    OutOfMemory {
        /// Rows of the table.
        rows: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// A Hadamard transform whose length is not a power of two.
    #[error("a Walsh-Hadamard transform needs a length that is a power of two, {0} was given")]
    NotPowerOfTwo(usize),
    /// Two matrices whose product is not defined.
    #[error("{name} has {found} rows, {expected} are needed")]
    FactorRows {
        /// Name of the factor.
        name: &'static str,
        /// Rows needed.
        expected: usize,
        /// Rows given.
        found: usize,
    },
    /// A matrix with another number of columns than needed.
    #[error("{name}: {found} columns, {expected} are needed")]
    FactorColumns {
        /// What the matrix is.
        name: &'static str,
        /// Columns needed.
        expected: usize,
        /// Columns given.
        found: usize,
    },
    /// A matrix without a Cholesky factor: not positive definite, or not beyond rounding.
    #[error("the matrix is not positive definite: pivot {pivot} in row {row}; a penalty would make it so")]
    NotPositiveDefinite {
        /// Row of the pivot, from 0.
        row: usize,
        /// The pivot, a rounding error if the matrix is singular.
        pivot: f64,
    },
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Features and outputs of different numbers of samples.
    #[error("the features have {features} rows, the outputs {outputs}")]
    RowMismatch {
        /// Rows of the features.
        features: usize,
        /// Rows of the outputs.
        outputs: usize,
    },
    /// A projection that learns from features, without any.
    #[error("label-embedding learns from the features of the samples, but no features were given")]
    NoFeatures,
    /// A text that names no spectral law of random features.
    #[error("no law of frequencies is called {0:?}; there are gaussian, student:NU and cauchy-iid")]
    UnknownLaw(String),
    /// A text that is no rank of an embedding.
    #[error("{0:?} is no rank: give a whole number of at least 1, labels:SHARE or captured:SHARE:AT_MOST")]
    UnknownRank(String),
    /// A text that is no penalty.
    #[error("{0:?} is no penalty: give a number of at least 0, or variance:ALPHA")]
    UnknownPenalty(String),
    /// A value of a factor that is not finite.
    #[error("{name} has the value {value} at row {row}, column {column}, which is not finite")]
    FactorValue {
        /// Name of the factor.
        name: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A text that names no projection.
    #[error(
        "no projection is called {0:?}; there are gaussian, rademacher, rademacher:S, achlioptas, sparse, \
         hadamard, subsample, subsample-replace, hashing, pca, label-embedding and identity"
    )]
    UnknownKind(String),
    /// A text that is no number of components.
    #[error("{0:?} is no number of components: give a whole number of at least 1, or ln for round(ln d)")]
    UnknownComponents(String),
}
