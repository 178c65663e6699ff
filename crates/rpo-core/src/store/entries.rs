//! The entries of a stored array, read without copying.

use super::{Dtype, StoreError};
use std::marker::PhantomData;

/// A type of array entries: `u32`, `u64`, `f32` or `f64`.
pub trait Entry: Copy {
    /// The array types that can be read as this type, in words.
    const STORED_AS: &'static str;

    /// Returns true for array types that can be read as this type.
    fn reads(dtype: Dtype) -> bool;

    /// Decodes the bytes of one entry of an array of the given type.
    fn decode(dtype: Dtype, bytes: &[u8]) -> Self;

    /// Encodes entries; returns the type of the array and its bytes.
    fn encode(values: &[Self]) -> (Dtype, Vec<u8>);

    /// Returns the entry as a number for messages.
    fn as_f64(self) -> f64;
}

/// Copies the bytes of an entry; their number must be that of the type.
fn exact<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut exact = [0; N];
    exact.copy_from_slice(bytes);
    exact
}

pub(super) fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * N);
    values.iter().for_each(|&v| out.extend_from_slice(&bytes(v)));
    out
}

/// Stored in the narrowest of U8, U16 and U32 that holds all entries.
impl Entry for u32 {
    const STORED_AS: &'static str = "U8, U16 or U32";

    fn reads(dtype: Dtype) -> bool {
        matches!(dtype, Dtype::U8 | Dtype::U16 | Dtype::U32)
    }

    #[inline]
    fn decode(dtype: Dtype, bytes: &[u8]) -> Self {
        match dtype {
            Dtype::U8 => bytes[0].into(),
            Dtype::U16 => u16::from_le_bytes(exact(bytes)).into(),
            _ => Self::from_le_bytes(exact(bytes)),
        }
    }

    fn encode(values: &[Self]) -> (Dtype, Vec<u8>) {
        match values.iter().max() {
            None | Some(0..=0xff) => (Dtype::U8, bytes_of(values, |v| [v as u8])),
            Some(0x100..=0xffff) => (Dtype::U16, bytes_of(values, |v| (v as u16).to_le_bytes())),
            Some(_) => (Dtype::U32, bytes_of(values, Self::to_le_bytes)),
        }
    }

    fn as_f64(self) -> f64 {
        self.into()
    }
}

/// Stored as F32, whatever the values. Arrays of integers and floats of up to 16 bits, which take less room and are exact
/// in `f32`, can be read too.
impl Entry for f32 {
    const STORED_AS: &'static str = "U8, U16, F16 or F32";

    fn reads(dtype: Dtype) -> bool {
        matches!(dtype, Dtype::U8 | Dtype::U16 | Dtype::F16 | Dtype::F32)
    }

    #[inline]
    fn decode(dtype: Dtype, bytes: &[u8]) -> Self {
        match dtype {
            Dtype::U8 => bytes[0].into(),
            Dtype::U16 => u16::from_le_bytes(exact(bytes)).into(),
            Dtype::F16 => half::f16::from_le_bytes(exact(bytes)).to_f32(),
            _ => Self::from_le_bytes(exact(bytes)),
        }
    }

    fn encode(values: &[Self]) -> (Dtype, Vec<u8>) {
        (Dtype::F32, bytes_of(values, Self::to_le_bytes))
    }

    fn as_f64(self) -> f64 {
        self.into()
    }
}

impl Entry for u64 {
    const STORED_AS: &'static str = "U64";

    fn reads(dtype: Dtype) -> bool {
        dtype == Dtype::U64
    }

    #[inline]
    fn decode(_: Dtype, bytes: &[u8]) -> Self {
        Self::from_le_bytes(exact(bytes))
    }

    fn encode(values: &[Self]) -> (Dtype, Vec<u8>) {
        (Dtype::U64, bytes_of(values, Self::to_le_bytes))
    }

    fn as_f64(self) -> f64 {
        self as f64
    }
}

impl Entry for f64 {
    const STORED_AS: &'static str = "F64";

    fn reads(dtype: Dtype) -> bool {
        dtype == Dtype::F64
    }

    #[inline]
    fn decode(_: Dtype, bytes: &[u8]) -> Self {
        Self::from_le_bytes(exact(bytes))
    }

    fn encode(values: &[Self]) -> (Dtype, Vec<u8>) {
        (Dtype::F64, bytes_of(values, Self::to_le_bytes))
    }

    fn as_f64(self) -> f64 {
        self
    }
}

/// The entries of an array taken from a [`Reader`](super::Reader), decoded where their bytes lie. Also an iterator over
/// the entries that have not been taken yet. The default is empty and stands for an array that is not needed.
#[derive(Debug, Clone)]
pub struct Entries<'a, T> {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) bytes: &'a [u8],
    pub(super) entry: PhantomData<T>,
}

impl<T> Default for Entries<'_, T> {
    fn default() -> Self {
        Self {
            name: String::new(),
            dtype: Dtype::U8,
            bytes: &[],
            entry: PhantomData,
        }
    }
}

impl<T: Entry> Iterator for Entries<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let (first, others) = self.bytes.split_at_checked(self.dtype.n_bytes())?;
        self.bytes = others;
        Some(T::decode(self.dtype, first))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.bytes.len() / self.dtype.n_bytes();
        (n, Some(n))
    }

    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        self.all().fold(init, f)
    }
}

impl<T: Entry> ExactSizeIterator for Entries<'_, T> {}

impl<T: Entry> Entries<'_, T> {
    fn all(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        let chunks = self.bytes.chunks_exact(self.dtype.n_bytes());
        chunks.map(|bytes| T::decode(self.dtype, bytes))
    }

    /// Returns an entry.
    ///
    /// # Panics
    /// If the index is out of range.
    #[inline]
    pub(super) fn get(&self, index: usize) -> T {
        let width = self.dtype.n_bytes();
        T::decode(self.dtype, &self.bytes[index * width..][..width])
    }

    /// Copies all entries.
    pub fn to_vec(&self) -> Vec<T> {
        self.all().collect()
    }

    /// Removes and returns the first `n` entries.
    ///
    /// # Errors
    /// [`StoreError::Array`] if there are fewer.
    pub fn part(&mut self, n: usize) -> Result<Vec<T>, StoreError> {
        let split = n
            .checked_mul(self.dtype.n_bytes())
            .and_then(|n| self.bytes.split_at_checked(n));
        let (bytes, others) = split.ok_or_else(|| self.wrong("has too few entries"))?;
        let part = Self {
            bytes,
            name: String::new(),
            ..*self
        };
        self.bytes = others;
        Ok(part.to_vec())
    }

    /// Refuses entries that have not been taken.
    ///
    /// # Errors
    /// [`StoreError::Array`].
    pub fn finish(self) -> Result<(), StoreError> {
        match self.len() {
            0 => Ok(()),
            n => Err(self.wrong(format!("has {n} entries too many"))),
        }
    }

    /// Refuses a number of entries other than `expected`.
    ///
    /// # Errors
    /// [`StoreError::Array`].
    pub fn of_length(self, expected: usize) -> Result<Self, StoreError> {
        match self.len() {
            n if n == expected => Ok(self),
            n => Err(self.wrong(format!("has {n} entries; expected {expected}"))),
        }
    }

    /// Refuses entries for which `allowed` returns false.
    ///
    /// # Errors
    /// [`StoreError::Entry`] for the first such entry.
    pub fn where_all(self, expected: &'static str, allowed: impl Fn(T) -> bool) -> Result<Self, StoreError> {
        let bad = self.all().position(|value| !allowed(value));
        match bad {
            None => Ok(self),
            Some(index) => Err(self.entry(index, self.get(index), expected)),
        }
    }

    /// Creates an error about the array.
    pub fn wrong(&self, problem: impl Into<String>) -> StoreError {
        StoreError::array(&self.name, problem)
    }

    /// Creates an error about an entry.
    pub(super) fn entry(&self, index: usize, value: T, expected: &'static str) -> StoreError {
        let (name, value) = (self.name.clone(), value.as_f64());
        StoreError::Entry {
            name,
            index,
            value,
            expected,
        }
    }
}

impl<'a> Entries<'a, u32> {
    /// Returns the entries as bytes, if they are stored in one byte each.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        (self.dtype == Dtype::U8).then_some(self.bytes)
    }

    /// Returns the sum of all entries.
    pub fn total(&self) -> usize {
        // No array has enough 32-bit entries for their sum to overflow 64 bits; a sum beyond `usize` matches no other
        // array.
        let total = self.all().map(u64::from).sum::<u64>();
        usize::try_from(total).unwrap_or(usize::MAX)
    }
}
