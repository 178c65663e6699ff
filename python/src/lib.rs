//! The extension module of the Python package: takes borrowed arrays, and returns models and arrays.
//!
//! It is generic over the registry of methods: methods are named and their parameters are passed as JSON, so a new
//! method or parameter needs no change here. The interface of scikit-learn estimators is written in Python on top.
//!
//! Every computation releases the interpreter's lock and runs on a thread pool of this process ([`threads`]).

mod blocks;
mod dataset;
mod error;
mod fit;
mod matrix;
mod methods;
mod metrics;
mod model;
mod projections;
mod stages;
mod threads;
mod watch;

/// The extension module.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::dataset::{Dataset, stratified_folds};
    #[pymodule_export]
    use crate::methods::methods;
    #[pymodule_export]
    use crate::metrics::{
        evaluate, inverse_propensities, label_scores, metrics, regression_scores, set_scores,
    };
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::projections::projection_matrix;
    #[pymodule_export]
    use crate::stages::Stages;
}
