//! Prediction with trees in blocks of rows, used by all forests.

pub(crate) mod bits;
pub(crate) mod block;
pub(crate) mod label_sets;
pub(crate) mod mean;
pub(crate) mod sums;
pub(crate) mod traversal;
pub(crate) mod values;
mod weights;
