//! A custom projection that uses the features: it keeps the outputs that they explain best.

use ndarray::{Array1, Array2, Axis};
use rpo::core::{Domain, MatrixView, Seed};
use rpo::data::Dataset;
use rpo::ensemble::{Components, ForestOptions, ForestParams, Learner};
use rpo::projections::{LinearMap, Projection, ProjectionError, ProjectionInput};
use rpo::{Estimator, FitContext, Model, ModelError, Needs, parameters_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Keeps the outputs with the largest correlation with any feature, unchanged.
#[derive(Debug)]
pub struct Predictable;

impl Projection for Predictable {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        _: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        let (family, n_outputs) = ("predictable", data.outputs.n_cols());
        if n_components == 0 {
            return Err(ProjectionError::NoComponents);
        }
        if n_components > n_outputs {
            return Err(ProjectionError::TooManyComponents {
                family,
                n_components,
                limit: n_outputs,
            });
        }
        let features = standardized(data.features.ok_or(ProjectionError::NoFeatures { family })?)?;
        if features.iter().all(|&v| v == 0.0) {
            let problem = "predictable: no feature varies, so that none explains an output";
            return Err(ProjectionError::Custom(problem.to_owned()));
        }
        let outputs = standardized(data.outputs)?;
        let correlations = outputs.t().dot(&features);
        let largest = |row: ndarray::ArrayView1<'_, f64>| row.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let explained: Array1<f64> = correlations.map_axis(Axis(1), largest);
        let mut order: Vec<usize> = (0..n_outputs).collect();
        order.sort_by(|&a, &b| explained[b].total_cmp(&explained[a]).then(a.cmp(&b)));
        let mut component_of = vec![None; n_outputs];
        for (component, &output) in order[..n_components].iter().enumerate() {
            component_of[output] = Some(component);
        }
        Ok(Box::new(Kept {
            component_of,
            n_components,
        }))
    }
}

/// Scales columns to mean 0 and variance 1; constant columns become 0. Missing values count as 0.
fn standardized(values: MatrixView<'_>) -> Result<Array2<f64>, ProjectionError> {
    let mut values = values.to_dense(usize::MAX)?.mapv(f64::from);
    values.mapv_inplace(|v| if v.is_nan() { 0.0 } else { v });
    for mut column in values.columns_mut() {
        let mean = column.mean().unwrap_or(0.0);
        let deviation = column.std(0.0);
        column.mapv_inplace(|v| {
            if deviation > 0.0 {
                (v - mean) / deviation
            } else {
                0.0
            }
        });
    }
    Ok(values)
}

/// The component of each kept output.
#[derive(Debug)]
struct Kept {
    component_of: Vec<Option<usize>>,
    n_components: usize,
}

impl LinearMap for Kept {
    fn n_outputs(&self) -> usize {
        self.component_of.len()
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        z.fill(0.0);
        for (sample, z) in z.chunks_exact_mut(self.n_components).enumerate() {
            y.for_each_in_row(sample, |j, value| {
                if let Some(component) = self.component_of[j as usize] {
                    z[component] = value;
                }
            });
        }
        Ok(())
    }
}

/// Parameters of a forest that grows on the outputs that the features explain best, and predicts all outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PredictableForest {
    /// Number of trees.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Number of outputs on which trees grow.
    #[schemars(range(min = 1))]
    pub components: usize,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for PredictableForest {
    fn default() -> Self {
        Self {
            trees: 20,
            components: 1,
            seed: 0,
        }
    }
}

impl PredictableForest {
    /// The name of the method.
    pub(crate) const NAME: &str = "predictable-forest";
}

impl Estimator for PredictableForest {
    fn method(&self) -> &str {
        Self::NAME
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Domain::Count.check("trees", self.trees)?;
        Ok(Domain::Count.check("components", self.components)?)
    }

    fn needs(&self) -> Needs {
        Needs::FEW
    }

    fn n_steps(&self) -> usize {
        self.trees
    }

    fn has_oob(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        self.check()?;
        let params = ForestParams {
            trees: self.trees,
            components: Some(Components::Exact(self.components)),
            seed: self.seed,
            ..ForestParams::default()
        };
        let options = ForestOptions {
            weights: data.weights(),
            missing_outputs: data.outputs().view().has_missing(),
            projection: Some(Arc::new(Predictable)),
            observers: context.observers(),
            ..ForestOptions::default()
        };
        let forest = params.fit_with(data.features().view(), data.outputs().view(), options)?;
        Model::new(forest, data)
    }
}
