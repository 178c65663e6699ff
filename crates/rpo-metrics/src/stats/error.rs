//! What can be wrong with the arguments of a test.

/// Why a test could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Paired samples of different lengths.
    #[error("paired samples must be of equal length, they hold {x} and {y} values")]
    Lengths {
        /// Length of the first.
        x: usize,
        /// Length of the second.
        y: usize,
    },
    /// Fewer items than a test needs.
    #[error("{given} {what} given, at least {needed} are needed")]
    TooFew {
        /// What there is too little of.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many are needed.
        needed: usize,
    },
    /// A value that is NaN or infinite.
    #[error("value {index} is {value}, only finite values are allowed")]
    NonFinite {
        /// Its position (row-major in a table).
        index: usize,
        /// The value.
        value: f64,
    },
    /// A probability or level out of range.
    #[error("{what} is {value}, it must lie between 0 and 1")]
    Probability {
        /// Which one.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// More differences than the exact test is computed for.
    #[error(
        "the exact test is computed for at most {limit} differences, there are {given}: use the normal approximation"
    )]
    TooManyForExact {
        /// How many there are.
        given: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// A resampled row that does not exist.
    #[error("resample {resample} takes row {row} of {n_rows}")]
    ResampleRow {
        /// Which resample.
        resample: usize,
        /// The row it asks for.
        row: usize,
        /// How many rows there are.
        n_rows: usize,
    },
}
