//! What can go wrong when an ensemble is fitted or asked.

use rpo_core::MatrixError;
use rpo_projections::ProjectionError;
use rpo_tree::TreeError;

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// A parameter outside its range.
    #[error("{name} is {given}; expected {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        given: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Two arguments that must agree in a length do not.
    #[error("{what}: expected {expected}, given {given}")]
    Mismatch {
        /// Which length.
        what: &'static str,
        /// The length required.
        expected: usize,
        /// The length given.
        given: usize,
    },
    /// An output that is NaN or infinite.
    #[error("outputs: {0}")]
    Outputs(#[source] MatrixError),
    /// A feature that is NaN or infinite, where a method has no place for it.
    #[error("features: {0}")]
    Features(#[source] MatrixError),
    /// Predictions that would need more memory than allowed.
    #[error("predictions: {0}; predict the top labels, or fewer rows at a time")]
    Predictions(#[source] MatrixError),
    /// The features, or a parameter of the trees.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The projection of the outputs.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A bootstrap all of whose rows have weight 0.
    #[error(
        "the bootstrap of tree {tree} drew no row of positive weight; give more rows weight, or no bootstrap"
    )]
    EmptyBag {
        /// The index of the tree.
        tree: usize,
    },
    /// A label that is neither 0 nor 1 where only labels can be learned.
    #[error("the output at row {row}, column {output} is {value}; labels are 0 or 1")]
    Label {
        /// Row, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
    },
    /// Out-of-bag predictions of an ensemble whose trees saw every row.
    #[error("the trees were grown without bootstrap: no row is out of bag")]
    NoBootstrap,
    /// Ensembles that cannot become one.
    #[error("the ensembles cannot be merged: {0}")]
    Merge(&'static str),
}
