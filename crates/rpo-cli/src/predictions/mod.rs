//! Predictions as they are written and served.

mod columns;
mod explanations;
pub(crate) mod json_outputs;

pub(crate) use columns::PredictedColumns;
pub(crate) use explanations::{Explanation, for_each_explanation};
