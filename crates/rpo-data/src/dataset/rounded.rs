//! Numbers that `f32` cannot hold.

/// A column of a file with numbers beyond 2^24 that were rounded, as a set stores `f32`.
///
/// Up to 2^24 = 16,777,216 every integer is an `f32`; beyond, neighbours may become equal: identifiers, seconds since
/// 1970, amounts in cents. The last digits of smaller numbers are rounded too, but never a whole number.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded {
    /// The name of the column; `feature N`, from 0, in formats without names.
    pub column: String,
    /// Number of values that were rounded.
    pub count: usize,
    /// The first of them, as it was read.
    pub value: f64,
    /// The number that the set has in its place.
    pub stored: f32,
}
