//! Reads the named arrays and fields of a stored model.

use super::{ArrayView, Entries, Entry, Sharing, StoreError};
use crate::Matrix;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

/// The arrays and fields of a model. Reading one removes it; none may be left at the end.
#[derive(Debug)]
pub struct Reader<'a> {
    /// Prefix of every name; ends in a slash unless it is empty.
    pub(super) prefix: String,
    pub(super) arrays: BTreeMap<String, ArrayView<'a>>,
    pub(super) fields: Map<String, Value>,
    pub(super) shared: BTreeMap<&'static str, Arc<Matrix>>,
    /// Length of the prefix of the part within which matrices are shared.
    pub(super) shares: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader of the arrays and fields of a model.
    pub fn new(
        arrays: impl IntoIterator<Item = (String, ArrayView<'a>)>,
        fields: Map<String, Value>,
    ) -> Self {
        Self {
            prefix: String::new(),
            arrays: arrays.into_iter().collect(),
            fields,
            shared: BTreeMap::new(),
            shares: 0,
        }
    }

    /// Reads a part: `part` and a slash are put before the names that `restore` uses.
    ///
    /// # Errors
    /// Those of `restore`.
    pub fn scoped<T>(
        &mut self,
        part: impl Display,
        sharing: Sharing,
        restore: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let outside = self.prefix.len();
        self.prefix += &format!("{part}/");
        let others = (sharing == Sharing::Inside).then(|| {
            let shares = std::mem::replace(&mut self.shares, self.prefix.len());
            (std::mem::take(&mut self.shared), shares)
        });
        let result = restore(self);
        if let Some(others) = others {
            (self.shared, self.shares) = others;
        }
        self.prefix.truncate(outside);
        result
    }

    /// Returns the name with the prefix of its part.
    pub(super) fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns true if there is an array of this name that has not been taken.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(&self.full(name))
    }

    fn take<T: Entry>(
        &mut self,
        name: &str,
        dimensions: &str,
        allowed: impl Fn(&[usize]) -> bool,
    ) -> Result<Entries<'a, T>, StoreError> {
        let name = self.full(name);
        let array = self.arrays.remove(&name);
        let array = array.ok_or_else(|| StoreError::array(&name, "is missing"))?;
        array.check(&name)?;
        let ArrayView { dtype, shape, bytes } = array;
        if T::reads(dtype) && allowed(&shape) {
            let entry = PhantomData;
            return Ok(Entries {
                name,
                dtype,
                bytes,
                entry,
            });
        }
        let problem = format!(
            "has type {dtype:?} and shape {shape:?}; expected {}, {dimensions}",
            T::STORED_AS
        );
        Err(StoreError::array(&name, problem))
    }

    /// Takes an array of one dimension.
    ///
    /// # Errors
    /// [`StoreError::Array`] if there is no array that can be read as this type.
    pub fn array<T: Entry>(&mut self, name: &str) -> Result<Entries<'a, T>, StoreError> {
        self.take(name, "one dimension", |shape| shape.len() == 1)
    }

    /// Takes a table of finite 32-bit numbers with rows of length `width`.
    ///
    /// # Errors
    /// [`StoreError::Array`] if there is no such array, [`StoreError::Entry`] for numbers that are not finite.
    pub fn table(&mut self, name: &str, width: usize) -> Result<Entries<'a, f32>, StoreError> {
        let dimensions = format!("rows of {width}");
        let table: Entries<'_, f32> =
            self.take(name, &dimensions, |shape| matches!(shape, [_, w] if *w == width))?;
        table.where_all("a finite number", f32::is_finite)
    }

    /// Takes a field; an optional field is read as an `Option`.
    ///
    /// # Errors
    /// [`StoreError::Field`] if it is missing or of another type.
    pub fn field<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, StoreError> {
        let name = self.full(name);
        match self.fields.remove(&name) {
            Some(value) => serde_json::from_value(value)
                .map_err(|e| StoreError::field(&name, format!("is invalid: {e}"))),
            None => serde_json::from_value(Value::Null).map_err(|_| StoreError::field(&name, "is missing")),
        }
    }

    /// Refuses arrays and fields that have not been taken.
    ///
    /// # Errors
    /// [`StoreError::Array`] or [`StoreError::Field`] for the first one.
    pub fn finish(self) -> Result<(), StoreError> {
        if let Some(name) = self.arrays.into_keys().next() {
            return Err(StoreError::array(&name, "is unknown"));
        }
        match self.fields.keys().next() {
            Some(name) => Err(StoreError::field(name, "is unknown")),
            None => Ok(()),
        }
    }
}
