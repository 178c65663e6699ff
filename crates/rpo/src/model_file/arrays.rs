//! Named arrays on their way into and out of the container.

use super::container::Named;
use super::error::ModelFileErrorKind as Kind;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// An array in the bytes of the file: little-endian, row-major.
pub(super) struct Stored {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

/// The arrays of a model to be written.
#[derive(Default)]
pub(super) struct ArrayWriter {
    arrays: BTreeMap<&'static str, Stored>,
}

/// What a `u32` array is to be narrowed to: the smallest type that holds every value.
fn narrowest(values: &[u32]) -> Dtype {
    match values.iter().max() {
        None | Some(0..=0xff) => Dtype::U8,
        Some(0x100..=0xffff) => Dtype::U16,
        Some(_) => Dtype::U32,
    }
}

fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * N);
    values.iter().for_each(|&v| out.extend_from_slice(&bytes(v)));
    out
}

impl ArrayWriter {
    fn add(&mut self, name: &'static str, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) {
        let stored = Stored { dtype, shape, bytes };
        let before = self.arrays.insert(name, stored);
        debug_assert!(before.is_none(), "array {name} is written once");
    }

    /// Integers, in the smallest of U8, U16 and U32.
    pub(super) fn integers(&mut self, name: &'static str, values: &[u32]) {
        let dtype = narrowest(values);
        let bytes = match dtype {
            Dtype::U8 => bytes_of(values, |v| [v as u8]),
            Dtype::U16 => bytes_of(values, |v| (v as u16).to_le_bytes()),
            _ => bytes_of(values, u32::to_le_bytes),
        };
        self.add(name, dtype, vec![values.len()], bytes);
    }

    /// Integers as U64.
    pub(super) fn longs(&mut self, name: &'static str, values: &[u64]) {
        self.add(
            name,
            Dtype::U64,
            vec![values.len()],
            bytes_of(values, u64::to_le_bytes),
        );
    }

    /// Numbers as F32.
    pub(super) fn floats(&mut self, name: &'static str, values: &[f32]) {
        self.add(
            name,
            Dtype::F32,
            vec![values.len()],
            bytes_of(values, f32::to_le_bytes),
        );
    }

    /// Numbers as F32, in rows of `width`.
    pub(super) fn table(&mut self, name: &'static str, values: &[f32], width: usize) {
        let shape = vec![values.len() / width.max(1), width];
        self.add(name, Dtype::F32, shape, bytes_of(values, f32::to_le_bytes));
    }

    /// Numbers as F64.
    pub(super) fn doubles(&mut self, name: &'static str, values: &[f64]) {
        self.add(
            name,
            Dtype::F64,
            vec![values.len()],
            bytes_of(values, f64::to_le_bytes),
        );
    }

    /// The arrays, widest type first so that each is aligned, then by name.
    pub(super) fn finish(self) -> Vec<Named> {
        self.named(Cow::Borrowed)
    }

    /// The arrays of a part of the model, in the same order, with the part's number before each name.
    pub(super) fn finish_part(self, part: usize) -> Vec<Named> {
        self.named(|name| format!("{part}/{name}").into())
    }

    fn named(self, name: impl Fn(&'static str) -> Cow<'static, str>) -> Vec<Named> {
        let arrays = self.arrays.into_iter().map(|(n, array)| (name(n), array));
        let mut arrays: Vec<_> = arrays.collect();
        arrays.sort_by_key(|(_, array)| std::cmp::Reverse(array.dtype.bitsize()));
        arrays
    }
}

/// The arrays of a file that is read. Whoever reads an array takes it; in the end none may be left.
pub(super) struct ArrayReader<'a> {
    arrays: BTreeMap<String, TensorView<'a>>,
}

fn values_of<T, const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|&chunk| value(chunk)).collect()
}

impl<'a> ArrayReader<'a> {
    pub(super) fn new(container: &SafeTensors<'a>) -> Self {
        Self {
            arrays: container.tensors().into_iter().collect(),
        }
    }

    /// Takes the arrays of a part of the model.
    pub(super) fn part(&mut self, part: usize) -> Self {
        let prefix = format!("{part}/");
        let from_here = self.arrays.split_off(&prefix);
        let (of_part, mut others): (BTreeMap<_, _>, BTreeMap<_, _>) = from_here
            .into_iter()
            .partition(|(name, _)| name.starts_with(&prefix));
        self.arrays.append(&mut others);
        let stripped = of_part
            .into_iter()
            .map(|(name, array)| (name[prefix.len()..].to_owned(), array));
        Self {
            arrays: stripped.collect(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    fn take(&mut self, name: &str) -> Result<TensorView<'a>, Kind> {
        let array = self.arrays.remove(name);
        array.ok_or_else(|| Kind::array(name, "is missing"))
    }

    /// An array of one dimension and a type that `decode` knows.
    fn vector<T>(
        &mut self,
        name: &str,
        expected: &str,
        decode: impl Fn(Dtype, &[u8]) -> Option<Vec<T>>,
    ) -> Result<Vec<T>, Kind> {
        let array = self.take(name)?;
        let values = match array.shape() {
            [_] => decode(array.dtype(), array.data()),
            _ => None,
        };
        values.ok_or_else(|| {
            let problem = format!(
                "has type {:?} and shape {:?}; expected {expected}, one dimension",
                array.dtype(),
                array.shape()
            );
            Kind::array(name, problem)
        })
    }

    pub(super) fn integers(&mut self, name: &str) -> Result<Vec<u32>, Kind> {
        self.vector(name, "U8, U16 or U32", |dtype, bytes| match dtype {
            Dtype::U8 => Some(bytes.iter().map(|&b| u32::from(b)).collect()),
            Dtype::U16 => Some(values_of(bytes, |b| u32::from(u16::from_le_bytes(b)))),
            Dtype::U32 => Some(values_of(bytes, u32::from_le_bytes)),
            _ => None,
        })
    }

    /// Integers or F32, as `f32`. Integers as wide as U16 are exact.
    pub(super) fn numbers(&mut self, name: &str) -> Result<Vec<f32>, Kind> {
        self.vector(name, "U8, U16 or F32", |dtype, bytes| match dtype {
            Dtype::U8 => Some(bytes.iter().map(|&b| f32::from(b)).collect()),
            Dtype::U16 => Some(values_of(bytes, |b| f32::from(u16::from_le_bytes(b)))),
            Dtype::F32 => Some(values_of(bytes, f32::from_le_bytes)),
            _ => None,
        })
    }

    pub(super) fn longs(&mut self, name: &str) -> Result<Vec<u64>, Kind> {
        self.vector(name, "U64", |dtype, bytes| {
            (dtype == Dtype::U64).then(|| values_of(bytes, u64::from_le_bytes))
        })
    }

    pub(super) fn doubles(&mut self, name: &str) -> Result<Vec<f64>, Kind> {
        self.vector(name, "F64", |dtype, bytes| {
            (dtype == Dtype::F64).then(|| values_of(bytes, f64::from_le_bytes))
        })
    }

    /// F32 in rows of `width`.
    pub(super) fn table(&mut self, name: &str, width: usize) -> Result<Vec<f32>, Kind> {
        let array = self.take(name)?;
        match (array.dtype(), array.shape()) {
            (Dtype::F32, [_, w]) if *w == width => Ok(values_of(array.data(), f32::from_le_bytes)),
            (dtype, shape) => {
                let problem =
                    format!("has type {dtype:?} and shape {shape:?}; expected F32, rows of {width}");
                Err(Kind::array(name, problem))
            }
        }
    }

    /// Refuses arrays that nobody took.
    pub(super) fn finish(self) -> Result<(), Kind> {
        match self.arrays.into_keys().next() {
            Some(name) => Err(Kind::array(&name, "is unknown")),
            None => Ok(()),
        }
    }
}

/// Refuses an array that is not as long as others say.
pub(super) fn check_length<T>(name: &str, values: &[T], expected: usize) -> Result<(), Kind> {
    if values.len() == expected {
        Ok(())
    } else {
        let problem = format!("has {} entries; expected {expected}", values.len());
        Err(Kind::array(name, problem))
    }
}

/// Refuses the first value of an array that is not allowed.
pub(super) fn check_values<T: Copy + Into<f64>>(
    name: &'static str,
    values: &[T],
    expected: &'static str,
    allowed: impl Fn(T) -> bool,
) -> Result<(), Kind> {
    match values.iter().position(|&v| !allowed(v)) {
        None => Ok(()),
        Some(index) => Err(Kind::Entry {
            name,
            index,
            value: values[index].into(),
            expected,
        }),
    }
}
