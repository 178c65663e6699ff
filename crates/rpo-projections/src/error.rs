//! Errors of drawing, fitting and applying projections.

use rpo_core::{MatrixError, Mismatch, NotCsr, ParameterError, WeightError};

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// A projection to 0 components.
    #[error("the number of components must be at least 1, got 0")]
    NoComponents,
    /// A projection of 0 outputs.
    #[error("the number of outputs must be at least 1, got 0")]
    NoOutputs,
    /// More components than the family has.
    #[error("{family} has at most {limit} components here, got {n_components}")]
    TooManyComponents {
        /// Name of the family.
        family: &'static str,
        /// Requested number of components.
        n_components: usize,
        /// Largest number of components.
        limit: usize,
    },
    /// More outputs or components than 32-bit indices can address.
    #[error("{n_outputs} outputs and {n_components} components: neither may exceed {limit}")]
    IndexRange {
        /// Number of outputs.
        n_outputs: usize,
        /// Number of components.
        n_components: usize,
        /// Largest number of outputs or components.
        limit: usize,
    },
    /// An identity whose number of components differs from the number of outputs.
    #[error("identity has as many components as there are outputs: {n_outputs}, got {n_components}")]
    IdentitySize {
        /// Number of outputs.
        n_outputs: usize,
        /// Requested number of components.
        n_components: usize,
    },
    /// A sparsity s of Rademacher entries outside its range.
    #[error("the sparsity s of rademacher:S must be at least 1 and at most 2^53, got {0}")]
    Sparsity(f64),
    /// Two sizes that must be equal but are not.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// An invalid sample weight.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// A target matrix of the wrong shape.
    #[error("the projected outputs need a {} x {} matrix, got {} x {}", expected.0, expected.1, found.0, found.1)]
    TargetShape {
        /// Required numbers of rows and columns.
        expected: (usize, usize),
        /// Given numbers of rows and columns.
        found: (usize, usize),
    },
    /// A target matrix that is not row-major and contiguous.
    #[error("the matrix for the projected outputs is not row-major and contiguous")]
    TargetLayout,
    /// A sparse matrix that is stored by columns.
    #[error(transparent)]
    NotCsr(#[from] NotCsr),
    /// A value that is not finite.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// Finite outputs with a projection that is infinite or NaN: it exceeds the range of `f32`, or a custom map has such
    /// coefficients.
    #[error(
        "component {component} of row {row} is not finite: rescale the outputs, unless the map itself has coefficients \
         that are not finite"
    )]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Component, from 0.
        component: usize,
    },
    /// Too few samples to fit a learned projection.
    #[error("{family} needs at least {required} samples, got {found}")]
    TooFewRows {
        /// Name of the family.
        family: &'static str,
        /// Given number of samples.
        found: usize,
        /// Required number of samples.
        required: usize,
    },
    /// A table that does not fit into memory.
    #[error("a table of {rows} x {columns} numbers does not fit in memory")]
    OutOfMemory {
        /// Rows of the table.
        rows: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// A matrix that is not positive definite, at least within rounding.
    #[error(
        "the matrix is not positive definite: pivot {pivot} in row {row}; a larger penalty would make it so"
    )]
    NotPositiveDefinite {
        /// Row of the pivot, from 0.
        row: usize,
        /// The pivot, a rounding error if the matrix is singular.
        pivot: f64,
    },
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A projection that learns from features, but no features were given.
    #[error("{family} learns from the features of the samples, but no features were given")]
    NoFeatures {
        /// Name of the family.
        family: &'static str,
    },
    /// The error of a custom family or map.
    #[error("{0}")]
    Custom(String),
    /// A matrix entry that is not finite.
    #[error("{name} has the value {value} at row {row}, column {column}, which is not finite")]
    FactorValue {
        /// Name of the matrix.
        name: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A text that does not name a spectral distribution of random features.
    #[error("{0:?} is not a kernel of random features: expected gaussian, student:NU or cauchy-iid")]
    UnknownLaw(String),
    /// A text that is not a rank of an embedding.
    #[error(
        "{0:?} is not a rank: expected a whole number of at least 1, labels:FRACTION or captured:FRACTION:AT_MOST"
    )]
    UnknownRank(String),
    /// A text that is not a penalty.
    #[error("{0:?} is not a penalty: expected a number of at least 0, or variance:ALPHA")]
    UnknownPenalty(String),
    /// A text that does not name a projection.
    #[error("{text:?} is not a projection: expected {names}", text = .0, names = crate::kind::names())]
    UnknownKind(String),
    /// A text that is not a number of components.
    #[error(
        "{0:?} is not a number of components: expected a whole number of at least 1, ln for round(ln d), or d"
    )]
    UnknownComponents(String),
}
