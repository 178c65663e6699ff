//! Baselines: one linear model per output, each fitted on its own.

mod logistic;
mod model;
mod panels;
mod ridge;

pub use logistic::LogisticRegressionParams;
pub use model::LinearModel;
pub use ridge::RidgeParams;
