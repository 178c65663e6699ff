//! Linear maps, by the way their numbers are stored.

mod checked;
mod dense;
mod label_table;
mod sparse;
mod table;

pub(crate) use checked::apply_checked;
pub(crate) use dense::{DenseMap, LabelRows};
pub(crate) use label_table::{LabelTable, stored};
pub(crate) use sparse::Entry;
pub use sparse::SparseMap;
pub(crate) use table::TableMap;
