//! A linear model for each output.

mod classifiers;
mod logistic;
mod model;
mod newton;
mod one_vs_rest;
mod panels;
mod ridge;
mod store;

pub use logistic::LogisticRegressionParams;
pub use model::LinearModel;
pub use one_vs_rest::{OneVsRestParams, RowNorm};
pub use ridge::RidgeParams;
