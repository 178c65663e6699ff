//! A custom method whose scores are the features.

use ndarray::Array2;
use rpo::core::MatrixView;
use rpo::core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo::data::Dataset;
use rpo::{Estimator, FitContext, Model, ModelError, Predict, parameters_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Predicts the features.
#[derive(Debug)]
pub(crate) struct Echo {
    n_train: usize,
    n_outputs: usize,
    calls: AtomicUsize,
}

impl Echo {
    pub(crate) fn of(data: &Dataset) -> Self {
        Self {
            n_train: data.n_samples(),
            n_outputs: data.n_outputs(),
            calls: AtomicUsize::new(0),
        }
    }

    /// Number of predictions that were asked for.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Predict for Echo {
    fn kind(&self) -> &'static str {
        "echo"
    }

    fn n_features(&self) -> usize {
        self.n_outputs
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        x.to_dense(memory_limit)
            .map_err(|e| ModelError::Custom(e.to_string()))
    }

    fn equals(&self, other: &dyn Predict) -> bool {
        let other = other.downcast_ref::<Self>();
        other.is_some_and(|other| (self.n_train, self.n_outputs) == (other.n_train, other.n_outputs))
    }
}

impl Store for Echo {
    fn store(&self, _: &mut Writer) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Restore for Echo {
    fn restore(_: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        Ok(Self {
            n_train: sizes.n_train,
            n_outputs: sizes.n_outputs,
            calls: AtomicUsize::new(0),
        })
    }
}

/// The method without parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EchoParams {}

impl Estimator for EchoParams {
    fn method(&self) -> &str {
        "echo"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }

    fn fit(&self, data: &Dataset, _: &FitContext<'_>) -> Result<Model, ModelError> {
        Model::new(Echo::of(data), data)
    }
}
