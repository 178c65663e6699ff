//! Predictions as they are written and served, and the columns that a model needs for them.

mod columns;
mod explanations;
pub(crate) mod json_outputs;
pub(crate) mod model_columns;

pub(crate) use columns::PredictedColumns;
pub(crate) use explanations::{Explanation, for_each_explanation};
