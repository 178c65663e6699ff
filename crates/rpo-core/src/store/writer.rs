//! Writes the named arrays and fields of a model.

use super::entries::{Entry, bytes_of};
use super::{Array, ArrayView, Dtype, Reader, Sharing, StoreError};
use crate::Matrix;
use half::f16;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

/// Collects the arrays and fields of a model.
#[derive(Debug, Default)]
pub struct Writer {
    /// Prefix of every name; ends in a slash unless it is empty.
    prefix: String,
    /// Full names of all arrays so far.
    names: BTreeSet<String>,
    /// Arrays of the innermost open part, by full name.
    arrays: BTreeMap<String, Array>,
    /// Arrays of the closed parts. They may be removed as soon as they are there, so that they need not be kept in
    /// memory.
    pub parts: Vec<(String, Array)>,
    shared: BTreeMap<&'static str, Arc<Matrix>>,
    fields: Map<String, Value>,
}

/// The arrays and fields that a [`Writer`] collected.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The arrays in file order: part by part as they were stored, then those outside of parts. Within each, the widest
    /// type comes first, then arrays are sorted by name.
    pub arrays: Vec<(String, Array)>,
    /// The fields.
    pub fields: Map<String, Value>,
}

impl Stored {
    /// Returns a reader of the arrays and fields.
    pub fn reader(&self) -> Reader<'_> {
        let arrays = self.arrays.iter().map(|(name, array)| {
            let view = ArrayView {
                dtype: array.dtype,
                shape: array.shape.clone(),
                bytes: &array.bytes,
            };
            (name.clone(), view)
        });
        Reader::new(arrays, self.fields.clone())
    }
}

fn in_order(arrays: BTreeMap<String, Array>) -> Vec<(String, Array)> {
    let mut arrays: Vec<_> = arrays.into_iter().collect();
    arrays.sort_by_key(|(_, array)| std::cmp::Reverse(array.dtype.n_bytes()));
    arrays
}

impl Writer {
    fn add(&mut self, name: &str, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Result<(), StoreError> {
        let name = format!("{}{name}", self.prefix);
        if !self.names.insert(name.clone()) {
            return Err(StoreError::array(&name, "is stored twice"));
        }
        self.arrays.insert(name, Array { dtype, shape, bytes });
        Ok(())
    }

    /// Stores entries, in the array type that [`Entry`] chooses.
    ///
    /// # Errors
    /// [`StoreError::Array`] if the name is taken, as with every array.
    pub fn array<T: Entry>(&mut self, name: &str, values: &[T]) -> Result<(), StoreError> {
        let (dtype, bytes) = T::encode(values);
        self.add(name, dtype, vec![values.len()], bytes)
    }

    /// Stores finite numbers as F16 if all of them are exact in it, otherwise as F32.
    ///
    /// # Errors
    /// [`StoreError::Entry`] for a number that is not finite, [`StoreError::Array`] if the name is taken.
    pub fn short_floats(&mut self, name: &str, values: &[f32]) -> Result<(), StoreError> {
        check_finite(name, values)?;
        let short = |v: f32| f16::from_f32(v);
        if values.iter().any(|&v| short(v).to_f32().to_bits() != v.to_bits()) {
            return self.array(name, values);
        }
        let bytes = bytes_of(values, |v| short(v).to_le_bytes());
        self.add(name, Dtype::F16, vec![values.len()], bytes)
    }

    /// Stores finite numbers as F32, in rows of length `width`.
    ///
    /// # Errors
    /// [`StoreError::Entry`] for a number that is not finite, [`StoreError::Array`] if the name is taken or the last row is
    /// not complete.
    pub fn table(&mut self, name: &str, values: &[f32], width: usize) -> Result<(), StoreError> {
        check_finite(name, values)?;
        let n_rows = values.len() / width.max(1);
        if n_rows * width != values.len() {
            return Err(StoreError::array(
                name,
                format!("has {} numbers, which are no rows of {width}", values.len()),
            ));
        }
        let shape = vec![n_rows, width];
        let (dtype, bytes) = f32::encode(values);
        self.add(name, dtype, shape, bytes)
    }

    /// Stores any value that has a JSON form.
    ///
    /// # Errors
    /// [`StoreError::Field`] if it has no JSON form, or the name is taken.
    pub fn field(&mut self, name: &str, value: impl Serialize) -> Result<(), StoreError> {
        let name = format!("{}{name}", self.prefix);
        let value = serde_json::to_value(value).map_err(|e| StoreError::field(&name, e.to_string()))?;
        if self.fields.contains_key(&name) {
            return Err(StoreError::field(&name, "is stored twice"));
        }
        self.fields.insert(name, value);
        Ok(())
    }

    /// Stores a part: `part` and a slash are put before the names that `store` uses.
    ///
    /// # Errors
    /// Those of `store`, and a shared matrix in the part that cannot be stored.
    pub fn scoped(
        &mut self,
        part: impl Display,
        sharing: Sharing,
        store: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let outside = self.prefix.len();
        self.prefix += &format!("{part}/");
        let others = std::mem::take(&mut self.arrays);
        let result = if sharing == Sharing::Inside {
            let shared = std::mem::take(&mut self.shared);
            let result = store(self).and_then(|()| self.store_shared());
            self.shared = shared;
            result
        } else {
            store(self)
        };
        let arrays = std::mem::replace(&mut self.arrays, others);
        self.parts.extend(in_order(arrays));
        self.prefix.truncate(outside);
        result
    }

    fn store_shared(&mut self) -> Result<(), StoreError> {
        let shared = std::mem::take(&mut self.shared);
        let mut shared = shared.into_iter();
        shared.try_for_each(|(name, matrix)| self.matrix(name, &matrix))
    }

    /// Stores a matrix that several parts refer to once, outside of all parts except those with [`Sharing::Inside`].
    ///
    /// # Errors
    /// [`StoreError::Part`] if another matrix was shared under this name.
    pub fn share(&mut self, name: &'static str, matrix: &Arc<Matrix>) -> Result<(), StoreError> {
        let kept = self.shared.entry(name).or_insert_with(|| Arc::clone(matrix));
        if Arc::ptr_eq(kept, matrix) || kept == matrix {
            return Ok(());
        }
        let what = format!("shared matrix {name:?}");
        Err(StoreError::part(
            what,
            "differs between the parts that refer to it",
        ))
    }

    /// Returns everything, including the shared matrices.
    ///
    /// # Errors
    /// [`StoreError`] if a shared matrix cannot be stored.
    pub fn finish(mut self) -> Result<Stored, StoreError> {
        self.store_shared()?;
        let mut arrays = self.parts;
        arrays.extend(in_order(self.arrays));
        Ok(Stored {
            arrays,
            fields: self.fields,
        })
    }
}

/// Refuses values that are infinite or NaN.
///
/// # Errors
/// [`StoreError::Entry`] for the first one.
pub fn check_finite(name: &str, values: &[f32]) -> Result<(), StoreError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(StoreError::Entry {
            name: name.to_owned(),
            index,
            value: values[index].into(),
            expected: "a finite number",
        }),
    }
}
