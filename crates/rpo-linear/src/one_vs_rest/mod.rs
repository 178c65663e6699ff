//! One-vs-rest: a sparse linear classifier for each label.

mod fit;
mod model;
mod params;
mod store;

pub use model::OneVsRestModel;
pub use params::{OneVsRestParams, RowNorm};
