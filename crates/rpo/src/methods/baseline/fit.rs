//! Fits the baseline.

use super::{Baseline, BaselineParams, Statistic};
use crate::method::{Estimator, FitContext, Needs, parameters_of};
use crate::{Model, ModelError};
use rpo_core::math::median;
use rpo_data::{Dataset, Task};
use serde_json::{Map, Value};

impl Estimator for BaselineParams {
    fn method(&self) -> &str {
        "baseline"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs {
            equal_weights: true,
            ..Needs::FEW
        }
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        let values = observed_values(data).into_iter().map(|(mut stored, n)| {
            let n_zeros = n - stored.len();
            let typical = match (data.task(), self.statistic) {
                (Task::Regression, Statistic::Median) => median(&mut stored, n_zeros).unwrap_or(0.0),
                _ => mean(&stored, n),
            };
            typical as f32
        });
        let values = values.collect();
        let model = Baseline::new(values, data.n_features(), data.n_samples());
        context.observers().step();
        Model::new(model, data)
    }
}

/// For each output, its observed nonzero values in increasing order, and the number of samples where it is observed.
fn observed_values(data: &Dataset) -> Vec<(Vec<f32>, usize)> {
    let outputs = data.outputs().view();
    let mut values = vec![(Vec::new(), data.n_samples()); data.n_outputs()];
    for sample in 0..data.n_samples() {
        outputs.for_each_in_row(sample, |j, value| {
            let (stored, n) = &mut values[j as usize];
            if value.is_nan() {
                *n -= 1;
            } else if value != 0.0 {
                stored.push(value);
            }
        });
    }
    values
        .iter_mut()
        .for_each(|(stored, _)| stored.sort_by(f32::total_cmp));
    values
}

/// The mean of n values, given the nonzero ones; 0 if there are none.
fn mean(stored: &[f32], n: usize) -> f64 {
    // Starts from 0, because the sum of no `f64` is -0.
    stored.iter().fold(0.0, |sum, &v| sum + f64::from(v)) / n.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_no_values_is_zero_without_a_sign() {
        assert_eq!(mean(&[], 5).to_bits(), 0.0_f64.to_bits());
        assert_eq!(mean(&[1.0, 2.0], 4), 0.75);
    }
}
