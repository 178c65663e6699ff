//! Arrays as bytes with a type and a shape.

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
    /// Bytes per entry.
    pub(super) fn n_bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::U32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }
}

/// An array as it is stored: little-endian, row-major.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Array {
    /// Type of the entries.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Length of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The entries.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A borrowed array, for instance one inside the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayView<'a> {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: &'a [u8],
}

impl<'a> ArrayView<'a> {
    /// Takes the bytes of the array of this name.
    ///
    /// # Errors
    /// [`StoreError::Array`] if there are more or fewer bytes than the type and the shape need.
    pub fn new(name: &str, dtype: Dtype, shape: Vec<usize>, bytes: &'a [u8]) -> Result<Self, StoreError> {
        let mut sizes = shape.iter().copied();
        let needed = sizes.try_fold(dtype.n_bytes(), usize::checked_mul);
        if needed == Some(bytes.len()) {
            return Ok(Self { dtype, shape, bytes });
        }
        let problem = format!("has {} bytes, not those of {dtype:?} {shape:?}", bytes.len());
        Err(StoreError::array(name, problem))
    }
}
