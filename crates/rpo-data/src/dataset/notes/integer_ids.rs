//! The type of identifiers that are integers.

/// The type of identifiers that are integers of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerIds {
    /// Integers with a sign.
    Signed,
    /// Integers from 0 on.
    Unsigned,
}

/// The types that hold all of some identifiers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerTypes {
    signed: bool,
    unsigned: bool,
}

impl Default for IntegerTypes {
    fn default() -> Self {
        Self {
            signed: true,
            unsigned: true,
        }
    }
}

impl IntegerTypes {
    /// Adds an identifier, unless it is missing: an integer, or something else.
    pub(crate) fn add(&mut self, id: Option<i128>) {
        self.signed &= id.is_some_and(|id| i64::try_from(id).is_ok());
        self.unsigned &= id.is_some_and(|id| u64::try_from(id).is_ok());
    }

    /// Returns the type of a column of the identifiers; `None` if no type holds them all.
    pub(crate) fn common(self) -> Option<IntegerIds> {
        match self {
            Self { signed: true, .. } => Some(IntegerIds::Signed),
            Self { unsigned: true, .. } => Some(IntegerIds::Unsigned),
            _ => None,
        }
    }
}
