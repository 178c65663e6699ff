//! Numbers that are codes.

/// A column of a CSV file that was read as numbers, though its values have leading zeros, as postal codes have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Code {
    /// The name of the column.
    pub column: String,
    /// A value as it stands in the file.
    pub value: String,
}
