//! What can be wrong with the arguments of a metric.

use crate::Metric;

/// Why a metric could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// A matrix whose shape differs from that of the truth.
    #[error("the {what} are {rows} x {columns}, the truth is {expected_rows} x {expected_columns}")]
    Shape {
        /// Which argument.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Rows of the truth.
        expected_rows: usize,
        /// Columns of the truth.
        expected_columns: usize,
    },
    /// A vector that should hold one value per column.
    #[error("{len} {what} were given for {expected} columns")]
    Length {
        /// Which argument.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The number of columns.
        expected: usize,
    },
    /// A matrix without rows or without columns.
    #[error("a metric needs at least one row and one column, the matrix is {rows} x {columns}")]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A sparse matrix that is compressed by columns.
    #[error("a sparse matrix must be compressed by rows (CSR), this one is compressed by columns")]
    NotRowMajor,
    /// A value that is NaN or infinite where only finite ones are allowed.
    #[error("the {what} hold {value} at row {row}, column {column}: only finite values are allowed")]
    NonFinite {
        /// Which argument.
        what: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A label matrix with a value that is neither 0 nor 1.
    #[error("label value {value} at row {row}, column {column}: only 0 and 1 are allowed")]
    NotBinary {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A label index that is not below the number of labels.
    #[error("row {row} holds label {label}, the number of labels is {n_labels}")]
    LabelOutOfRange {
        /// Row, from 0.
        row: usize,
        /// The label.
        label: u32,
        /// The number of labels.
        n_labels: usize,
    },
    /// A label that a row lists twice.
    #[error("row {row} lists label {label} more than once")]
    DuplicateLabel {
        /// Row, from 0.
        row: usize,
        /// The label.
        label: u32,
    },
    /// A metric at k = 0.
    #[error("k must be at least 1")]
    ZeroK,
    /// A metric at a k beyond what the predictions were cut to.
    #[error("the predictions keep the best {held} labels of a row, {asked} are needed")]
    TopKTooShort {
        /// The k asked for.
        asked: usize,
        /// The k the predictions hold.
        held: usize,
    },
    /// A threshold that is NaN.
    #[error("threshold {index} is not a number")]
    Threshold {
        /// Which one; 0 if there is one for all labels.
        index: usize,
    },
    /// An inverse propensity that is not a positive finite number.
    #[error("the inverse propensity of label {label} is {value}, it must be positive and finite")]
    InversePropensity {
        /// The label.
        label: usize,
        /// The value.
        value: f64,
    },
    /// Parameters of the propensity model outside their range.
    #[error(
        "propensity parameters A = {a}, B = {b}: A must be finite and not negative, B finite and positive"
    )]
    PropensityParameters {
        /// Exponent A.
        a: f64,
        /// Offset B.
        b: f64,
    },
    /// A training set too small for the propensity model, whose constant ln N - 1 must be positive.
    #[error("propensities need a training set of at least 3 rows, it has {n_train}")]
    TooFewTrainingRows {
        /// Number of training rows.
        n_train: usize,
    },
    /// A label that is more frequent than there are training rows.
    #[error("label {label} is counted {count} times in {n_train} training rows")]
    LabelCount {
        /// The label.
        label: usize,
        /// Its count.
        count: usize,
        /// Number of training rows.
        n_train: usize,
    },
    /// A metric that needs an argument the evaluation was not given.
    #[error("{metric} needs {needs}")]
    Missing {
        /// The metric.
        metric: Metric,
        /// What is missing.
        needs: &'static str,
    },
    /// A name that no metric has.
    #[error("unknown metric {name:?}: expected one of {}", Metric::names().collect::<Vec<_>>().join(", "))]
    UnknownMetric {
        /// The name.
        name: String,
    },
}
