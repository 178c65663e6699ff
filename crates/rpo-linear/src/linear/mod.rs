//! Linear models, one per output.

mod calibrate;
mod classifiers;
mod cost;
mod explain;
mod logistic;
mod model;
mod newton;
mod observed;
mod one_vs_rest;
mod panels;
mod penalty_choice;
mod ridge;
mod store;

pub(crate) use calibrate::Calibration;
pub(crate) use cost::{Costs, mean_count};
pub use logistic::LogisticRegressionParams;
pub use model::LinearModel;
pub(crate) use one_vs_rest::scaled_rows;
pub use one_vs_rest::{OneVsRestParams, RowNorm};
pub use ridge::RidgeParams;
