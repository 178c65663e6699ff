//! Predictions as they are written and served.

mod columns;
pub(crate) mod json_outputs;

pub(crate) use columns::PredictedColumns;
