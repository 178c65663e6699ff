//! Why a data set cannot be.

use rpo_core::MatrixError;

/// Why a data set cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// Features and outputs disagree about the number of samples.
    #[error("features have {features} rows, outputs {outputs}; they must agree")]
    RowMismatch {
        /// Rows of the features.
        features: usize,
        /// Rows of the outputs.
        outputs: usize,
    },
    /// Not one name per column.
    #[error("{names} names given for {columns} {what}")]
    NameCount {
        /// "features" or "outputs".
        what: &'static str,
        /// Names given.
        names: usize,
        /// Columns there are.
        columns: usize,
    },
    /// A name that occurs twice.
    #[error("{what} name {name:?} is used twice")]
    DuplicateName {
        /// "feature" or "output".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A label that is neither 0 nor 1.
    #[error("label {column} of row {row} is {value}; labels are 0 or 1")]
    NotALabel {
        /// Row, from 0.
        row: usize,
        /// Output, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A regression target that is NaN or infinite.
    #[error("outputs: {0}; targets must be finite")]
    Output(MatrixError),
    /// An infinite feature.
    #[error("feature {column} of row {row} is {value}; features are finite, or NaN where missing")]
    InfiniteFeature {
        /// Row, from 0.
        row: usize,
        /// Feature, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A nominal feature whose value is no position in its list.
    #[error("nominal feature {column} of row {row} is {value}; its values are 0 to {n_values} exclusive")]
    NotAPosition {
        /// Row, from 0.
        row: usize,
        /// Feature, from 0.
        column: usize,
        /// The value.
        value: f32,
        /// Length of the list.
        n_values: usize,
    },
    /// A nominal feature without values.
    #[error("nominal feature {0} has an empty list of values")]
    NoValues(usize),
    /// A row, feature or output that does not exist.
    #[error("{what} {index} asked for, there are {count}")]
    OutOfRange {
        /// "row", "feature" or "output".
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Two sets that cannot be joined.
    #[error("the sets differ in their {0}; they can only be joined if these agree")]
    Incompatible(&'static str),
    /// A conversion to dense storage over its budget.
    #[error(transparent)]
    Dense(#[from] MatrixError),
}
