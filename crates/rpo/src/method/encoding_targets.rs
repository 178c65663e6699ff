//! Targets whose means encode nominal features: few per sample, whatever the number of outputs.

use crate::{DEFAULT_MEMORY_LIMIT, ModelError};
use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_data::preprocess::{EncodingTargets, PreprocessError, Standardizer};
use rpo_data::{Dataset, Task};
use rpo_ensemble::EnsembleError;
use rpo_projections::{Gaussian, RandomProjection};

/// Computes the targets of an encoding: the outputs, or `components` Gaussian random projections of them if there are
/// more outputs. Numbers are standardized, so that outputs of large scale do not dominate. A missing output is left
/// out, or replaced by the mean before projection.
pub(super) fn encoding_targets(
    data: &Dataset,
    components: usize,
    seed: Seed,
) -> Result<EncodingTargets, ModelError> {
    let outputs = match data.task() {
        Task::MultiLabel => data.outputs().clone(),
        Task::Regression => Standardizer::of_targets(data)?.standardize(data.outputs().view())?,
    };
    let (values, names) = if data.n_outputs() <= components {
        let dense = outputs.view().to_dense(DEFAULT_MEMORY_LIMIT);
        let names = data.output_names().iter().map(Into::into).collect();
        (dense.map_err(PreprocessError::from)?, names)
    } else {
        let names = (0..components).map(|component| format!("component {component}"));
        let observed = with_means(outputs, data);
        (projected(observed.view(), components, seed)?, names.collect())
    };
    Ok(EncodingTargets::new(values, names, seed.purpose("folds"))?)
}

fn projected(y: MatrixView<'_>, components: usize, seed: Seed) -> Result<Array2<f32>, ModelError> {
    let map = Gaussian.draw_for(y.reborrow(), components, seed.purpose("projection"));
    let projected = map.and_then(|map| map.apply(y));
    Ok(projected.map_err(EnsembleError::from)?)
}

/// Replaces missing outputs by the output's mean, which is 0 for standardized numbers.
fn with_means(mut outputs: Matrix, data: &Dataset) -> Matrix {
    if !data.outputs().view().has_missing() {
        return outputs;
    }
    match &mut outputs {
        Matrix::Dense(y) => y.mapv_inplace(|v| if v.is_nan() { 0.0 } else { v }),
        Matrix::Sparse(y) => {
            let found = data.label_statistics();
            let frequency =
                |j: usize| found.counts[j] as f32 / (found.n_samples - found.missing[j]).max(1) as f32;
            let columns = y.indices().to_vec();
            for (v, j) in y.data_mut().iter_mut().zip(columns) {
                if v.is_nan() {
                    *v = frequency(j as usize);
                }
            }
        }
    }
    outputs
}
