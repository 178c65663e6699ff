//! Storage of models in memory: named typed arrays and JSON fields, which a file format puts into a container.
//!
//! A type that implements [`Store`] passes its numbers to a [`Writer`] under names of its choice; [`Restore`] takes
//! them back from a [`Reader`]. Neither touches a file: the result of [`Writer::finish`] can be written to any
//! container that supports named arrays.
//!
//! * **Exact**: a restored value equals the stored one, bit for bit.
//! * **Without trust**: a reader trusts nothing. Lengths are checked against the bytes that are there before anything
//!   is allocated, and an array or a field that no type takes is an error.
//! * **Parts**: [`Writer::scoped`] and [`Reader::scoped`] put the name of a part and a slash before every name, so that
//!   the same type can be stored many times. A matrix that all parts refer to is stored once ([`Writer::share`]),
//!   except for parts with another training set ([`Sharing`]).
//!
//! ```
//! use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
//!
//! #[derive(Debug, PartialEq)]
//! struct Means {
//!     smoothing: f64,
//!     means: Vec<f64>,
//! }
//!
//! impl Store for Means {
//!     fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
//!         out.field("smoothing", self.smoothing)?;
//!         out.array("mean", &self.means)
//!     }
//! }
//!
//! impl Restore for Means {
//!     fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
//!         let means = from.array::<f64>("mean")?.of_length(sizes.n_outputs)?;
//!         let means = means.where_all("a finite number", f64::is_finite)?.to_vec();
//!         Ok(Self { smoothing: from.field("smoothing")?, means })
//!     }
//! }
//!
//! let means = Means { smoothing: 0.5, means: vec![1.0, 2.0] };
//! let mut out = Writer::default();
//! means.store(&mut out)?;
//! let stored = out.finish()?;
//! let mut from = stored.reader();
//! let sizes = Sizes { n_train: 10, n_features: 3, n_outputs: 2 };
//! assert_eq!(Means::restore(&mut from, sizes)?, means);
//! from.finish()?;
//! # Ok::<(), StoreError>(())
//! ```

mod array;
mod entries;
mod error;
mod matrix;
mod reader;
mod writer;

pub use array::{Array, ArrayView, Dtype};
pub use entries::{Entries, Entry};
pub use error::StoreError;
pub use reader::Reader;
pub use writer::{Stored, Writer, check_finite};

/// A type that can be stored as named arrays and fields.
pub trait Store {
    /// Writes everything that [`Restore`] needs.
    ///
    /// # Errors
    /// [`StoreError`] for values that cannot be restored, such as weights that are not finite.
    fn store(&self, out: &mut Writer) -> Result<(), StoreError>;
}

/// A type that can be restored from the data that [`Store`] wrote.
pub trait Restore: Sized {
    /// Takes the arrays and fields of the type and checks them.
    ///
    /// `sizes` come from the description of a model and are no more trusted than the arrays: an implementation checks
    /// that its arrays have the lengths that follow from `sizes`, and does not allocate memory based on them.
    ///
    /// # Errors
    /// [`StoreError`] if an array or a field is missing or invalid.
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError>;
}

/// The place where matrices that a part [shares](Writer::share) with others are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Outside the part, together with the shared matrices of its sibling parts.
    Outside,
    /// Inside the part, which has another training set than its sibling parts.
    Inside,
}

/// The sizes of the training set of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Number of training samples n.
    pub n_train: usize,
    /// Number of features p of the model.
    pub n_features: usize,
    /// Number of outputs d of the model.
    pub n_outputs: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CsrMatrix, Matrix, MatrixView};
    use ndarray::array;
    use std::sync::Arc;

    fn sparse() -> CsrMatrix {
        MatrixView::from(&array![[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [5.0, 0.0, 0.0]]).to_csr()
    }

    #[test]
    fn everything_comes_back() {
        let mut out = Writer::default();
        for (name, values) in [
            ("a", vec![]),
            ("b", vec![255_u32]),
            ("c", vec![256]),
            ("d", vec![1 << 16]),
        ] {
            out.array(name, &values).unwrap();
        }
        out.array("long", &[u64::MAX]).unwrap();
        out.array("float", &[f32::INFINITY, -0.0]).unwrap();
        out.array("double", &[0.1_f64]).unwrap();
        out.field("name", Some("x")).unwrap();
        let outputs = Arc::new(Matrix::Sparse(sparse()));
        for part in 0..2 {
            let store = |out: &mut Writer| {
                out.share("output", &outputs)?;
                out.table("table", &[1.0, 2.0], 2)
            };
            out.scoped(part, Sharing::Outside, store).unwrap();
        }
        let stored = out.finish().unwrap();
        let names: Vec<&str> = stored.arrays.iter().map(|(name, _)| &name[..]).collect();
        let widest_first = ["double", "long", "d", "float", "c", "output.value", "a", "b"];
        assert_eq!(names[..2], ["0/table", "1/table"]);
        assert_eq!(names[2..10], widest_first);
        let mut from = stored.reader();
        for (name, values) in [
            ("a", vec![]),
            ("b", vec![255]),
            ("c", vec![256]),
            ("d", vec![1 << 16]),
        ] {
            assert_eq!(from.array::<u32>(name).unwrap().to_vec(), values);
        }
        assert_eq!(from.array::<u64>("long").unwrap().to_vec(), [u64::MAX]);
        let floats = from.array::<f32>("float").unwrap().to_vec();
        assert_eq!(floats[0], f32::INFINITY);
        assert_eq!(floats[1].to_bits(), (-0.0_f32).to_bits());
        assert_eq!(from.array::<f64>("double").unwrap().to_vec(), [0.1]);
        assert_eq!(from.field::<String>("name").unwrap(), "x");
        for part in 0..2 {
            let restored = from.scoped(part, Sharing::Outside, |from| {
                assert_eq!(from.table("table", 2)?.to_vec(), [1.0, 2.0]);
                from.shared("output", 3)
            });
            assert_eq!(restored.unwrap().as_deref(), Some(&*outputs));
        }
        from.finish().unwrap();
    }

    /// A part with another training set keeps its shared matrices, and its own parts share those.
    #[test]
    fn what_stands_apart_has_its_own_shared_matrices() {
        let [whole, part] = [Matrix::Sparse(sparse()), Matrix::Sparse(CsrMatrix::eye(3))].map(Arc::new);
        let share = |matrix: &Arc<Matrix>| {
            let matrix = Arc::clone(matrix);
            move |out: &mut Writer| out.share("output", &matrix)
        };
        let mut out = Writer::default();
        out.scoped("a", Sharing::Outside, share(&whole)).unwrap();
        out.scoped("b", Sharing::Inside, |out| {
            out.scoped(0, Sharing::Outside, share(&part))?;
            out.scoped(1, Sharing::Outside, share(&part))
        })
        .unwrap();
        out.scoped("c", Sharing::Outside, share(&whole)).unwrap();
        let stored = out.finish().unwrap();
        let names: Vec<&str> = stored.arrays.iter().map(|(name, _)| &name[..]).collect();
        let expected = ["b/output.column", "b/output.size", "output.column", "output.size"];
        assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
        let mut from = stored.reader();
        let shared = |from: &mut Reader<'_>| from.shared("output", 3);
        assert_eq!(
            from.scoped("a", Sharing::Outside, shared).unwrap().as_deref(),
            Some(&*whole)
        );
        from.scoped("b", Sharing::Inside, |from| {
            for index in 0..2 {
                assert_eq!(
                    from.scoped(index, Sharing::Outside, shared)?.as_deref(),
                    Some(&*part)
                );
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(
            from.scoped("c", Sharing::Outside, shared).unwrap().as_deref(),
            Some(&*whole)
        );
        from.finish().unwrap();
    }

    #[test]
    fn numbers_take_16_bits_where_that_is_exact() {
        let smallest = 2.0_f32.powi(-24);
        for (values, dtype) in [
            (vec![0.5, -65504.0, smallest, -0.0], Dtype::F16),
            (vec![0.5, 0.1], Dtype::F32),
            (vec![65505.0], Dtype::F32),
            (vec![smallest / 2.0], Dtype::F32),
        ] {
            let mut out = Writer::default();
            out.short_floats("values", &values).unwrap();
            let stored = out.finish().unwrap();
            assert_eq!(stored.arrays[0].1.dtype, dtype);
            let found = stored.reader().array::<f32>("values").unwrap().to_vec();
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&values));
        }
    }

    #[test]
    fn rows_come_in_parts() {
        let (upper, lower) = (sparse(), CsrMatrix::eye(3));
        let mut out = Writer::default();
        out.sparse("rows", &[upper.view(), lower.view()]).unwrap();
        let stored = out.finish().unwrap();
        let read = |n_rows: &[usize]| stored.reader().sparse("rows", 3, n_rows);
        assert_eq!(read(&[3, 3]).unwrap(), [upper, lower]);
        let problem = |n_rows| read(n_rows).unwrap_err().to_string();
        assert_eq!(problem(&[3, 4]), "array \"rows.size\" has too few entries");
        assert_eq!(problem(&[3, 2]), "array \"rows.size\" has 1 entries too many");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let mut out = Writer::default();
        out.array("count", &[1_u32, 2]).unwrap();
        assert!(out.array("count", &[1_u32]).is_err(), "stored twice");
        assert!(out.table("mean", &[f32::NAN], 1).is_err());
        for (values, width) in [(3, 2), (1, 0)] {
            let found = out.table("mean", &vec![0.0; values], width);
            assert!(found.is_err(), "{values} numbers in rows of {width}");
        }
        let tree =
            |out: &mut Writer| out.scoped("tree 0", Sharing::Outside, |out| out.array("size", &[1_u32]));
        let mut parts = Writer::default();
        tree(&mut parts).unwrap();
        assert!(tree(&mut parts).is_err(), "a part stored twice");
        out.share("m", &Arc::new(Matrix::Sparse(sparse()))).unwrap();
        assert!(out.share("m", &Arc::new(array![[1.0]].into())).is_err());
        out.field("mode", 3).unwrap();
        let stored = out.finish().unwrap();
        let found = |read: &dyn Fn(&mut Reader<'_>) -> Result<(), StoreError>| {
            let mut from = stored.reader();
            read(&mut from)
                .and_then(|()| from.finish())
                .unwrap_err()
                .to_string()
        };
        fn count<'a>(from: &mut Reader<'a>) -> Result<Entries<'a, u32>, StoreError> {
            from.array("count")
        }
        let check = |found: String, expected: &str| assert_eq!(found, expected);
        check(
            found(&|from| from.array::<u32>("size").map(drop)),
            "array \"size\" is missing",
        );
        check(
            found(&|from| {
                from.scoped(7, Sharing::Outside, |from| from.array::<u64>("a"))
                    .map(drop)
            }),
            "array \"7/a\" is missing",
        );
        check(
            found(&|from| from.array::<f64>("count").map(drop)),
            "array \"count\" has type U8 and shape [2]; expected F64, one dimension",
        );
        check(
            found(&|from| count(from)?.of_length(3).map(drop)),
            "array \"count\" has 2 entries; expected 3",
        );
        check(
            found(&|from| count(from)?.where_all("below 2", |v| v < 2).map(drop)),
            "array \"count\", entry 1: 2 is invalid; expected below 2",
        );
        check(
            found(&|from| from.field("node").map(|_: u8| ())),
            "field `node` is missing",
        );
        check(
            found(&|from| from.field("mode").map(|_: bool| ())),
            "field `mode` is invalid: invalid type: integer `3`, expected a boolean",
        );
        check(
            found(&|from| from.matrix("m", 2).map(drop)),
            "array \"m.column\", entry 1: 2 is invalid; \
            expected columns that increase within a row, below the number of columns",
        );
        check(found(&|_| Ok(())), "array \"count\" is unknown");
        let all = |from: &mut Reader<'_>| {
            count(from)?;
            from.matrix("m", 3).map(drop)
        };
        check(found(&all), "field `mode` is unknown");
    }
}
