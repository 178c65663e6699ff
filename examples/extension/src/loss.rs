//! A custom loss: the pinball loss, which is minimized by a quantile.

use rpo::core::Domain;
use rpo::data::Dataset;
use rpo::ensemble::Learner;
use rpo::ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, Loss, StepScope};
use rpo::{Estimator, FitContext, Model, ModelError, Needs, parameters_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// ℓ(y, f) = q (y − f) if y > f, otherwise (1 − q) (f − y).
#[derive(Debug, Clone, Copy)]
pub struct Pinball {
    /// The quantile q, between 0 and 1.
    pub quantile: f64,
}

impl Loss for Pinball {
    fn value(&self, y: f64, score: f64) -> f64 {
        (y - score) * self.residual(y, score)
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        if y > score {
            self.quantile
        } else {
            self.quantile - 1.0
        }
    }
}

/// Parameters of boosting for a quantile of each output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuantileBoosting {
    /// The quantile to predict, between 0 and 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub quantile: f64,
    /// Number of boosting steps.
    #[schemars(range(min = 1))]
    pub iterations: usize,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for QuantileBoosting {
    fn default() -> Self {
        Self {
            quantile: 0.5,
            iterations: 50,
            seed: 0,
        }
    }
}

impl QuantileBoosting {
    /// The name of the method.
    pub(crate) const NAME: &str = "quantile-boosting";
}

impl Estimator for QuantileBoosting {
    fn method(&self) -> &str {
        Self::NAME
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Domain::Count.check("iterations", self.iterations)?;
        Ok(Domain::Level.check("quantile", self.quantile)?)
    }

    fn needs(&self) -> Needs {
        Needs::FEW
    }

    fn quantile_levels(&self) -> Vec<f64> {
        vec![self.quantile]
    }

    fn n_steps(&self) -> usize {
        self.iterations
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        self.check()?;
        let params = BoostingParams {
            iterations: self.iterations,
            step_scope: Some(StepScope::Leaf),
            seed: self.seed,
            ..BoostingParams::from(Algorithm::Gbmort)
        };
        let options = BoostingOptions {
            weights: data.weights(),
            missing_outputs: data.outputs().view().has_missing(),
            loss: Some(Arc::new(Pinball {
                quantile: self.quantile,
            })),
            observers: context.observers(),
            ..BoostingOptions::default()
        };
        let boosted = params.fit_with(data.features().view(), data.outputs().view(), options)?;
        Model::of_levels(boosted, data, &[self.quantile])
    }
}
