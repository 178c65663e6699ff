//! Numbers that `f32` cannot hold.

use std::fmt;

/// A column of a file whose numbers changed noticeably when they were rounded, as a set stores `f32`.
///
/// The last digits of almost every decimal number are rounded. That is harmless unless one of these holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rounded {
    /// The name of the column; `feature N`, with the number in the file, in formats without names.
    pub column: String,
    /// What happened to the numbers.
    pub rounding: Rounding,
    /// Number of values that were rounded in this way.
    pub count: usize,
    /// An example of these values, as it was read.
    pub value: f64,
    /// The number that the set has in its place.
    pub stored: f32,
}

/// What a column loses when its numbers are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rounding {
    /// Numbers beyond 2^24 are rounded. Up to 2^24 = 16,777,216 every integer is an `f32`; beyond, neighbours may become
    /// equal: identifiers, seconds since 1970, amounts in cents.
    Large,
    /// Differences between the numbers are small beside the numbers: the largest error exceeds a thousandth of the range
    /// of the column, such as in 1000000.01 and 1000000.02. Not recorded for the entries of sparse rows, whose columns
    /// usually range from 0.
    Differences,
    /// Numbers other than 0 become 0, as they are below the least positive `f32`.
    Zero,
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Large => "numbers beyond 2^24 are rounded",
            Self::Differences => "numbers are rounded by more than a thousandth of the range of their column",
            Self::Zero => "numbers below 1e-45 become 0",
        })
    }
}
