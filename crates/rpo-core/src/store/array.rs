//! Arrays stored as bytes with a type and a shape.

use super::StoreError;

/// The type of the entries of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// Unsigned integers of 8 bits.
    U8,
    /// Unsigned integers of 16 bits.
    U16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Unsigned integers of 64 bits.
    U64,
    /// Floating-point numbers of 16 bits.
    F16,
    /// Floating-point numbers of 32 bits.
    F32,
    /// Floating-point numbers of 64 bits.
    F64,
}

impl Dtype {
    /// Number of bytes per entry.
    pub(super) fn n_bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::U32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }
}

/// A stored array: little-endian, row-major.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array<B = Vec<u8>> {
    /// Type of the entries.
    pub dtype: Dtype,
    /// Length of each dimension.
    pub shape: Vec<usize>,
    /// The entries. A [`Reader`](super::Reader) refuses arrays with more or fewer bytes than the type and the shape
    /// need.
    pub bytes: B,
}

/// A borrowed array, for instance one inside the bytes of a file.
pub type ArrayView<'a> = Array<&'a [u8]>;

impl Array<&[u8]> {
    /// Refuses a number of bytes that does not match the type and the shape.
    pub(super) fn check(&self, name: &str) -> Result<(), StoreError> {
        let mut sizes = self.shape.iter().copied();
        let needed = sizes.try_fold(self.dtype.n_bytes(), usize::checked_mul);
        if needed == Some(self.bytes.len()) {
            return Ok(());
        }
        let (n, dtype, shape) = (self.bytes.len(), self.dtype, &self.shape);
        let problem = format!("has {n} bytes, not those of {dtype:?} {shape:?}");
        Err(StoreError::array(name, problem))
    }
}
