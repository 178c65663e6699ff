//! Storage of label embeddings.

use super::{FeatureMap, LabelEmbeddingModel};
use ndarray::{Array1, Array2};
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer, check_finite};
use rpo_projections::RandomFeatures;

impl Store for LabelEmbeddingModel {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("inverse_link", self.inverse_link)?;
        if let Some((projection, offset)) = &self.map().projection {
            store_matrix("link.projection", projection, out)?;
            store_vector("link.offset", offset, out)?;
        }
        if let Some(fourier) = &self.map().fourier {
            store_matrix("link.frequency", &fourier.frequencies, out)?;
            store_vector("link.phase", &fourier.phases, out)?;
        }
        store_matrix("link.weight", self.weights(), out)
    }
}

impl Restore for LabelEmbeddingModel {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let inverse_link = from.field("inverse_link")?;
        let mut inputs = sizes.n_features;
        let mut projection = None;
        if from.has("link.projection") {
            let offset = restore_vector("link.offset", from)?;
            inputs = offset.len();
            let matrix = restore_matrix("link.projection", (sizes.n_features, inputs), from)?;
            projection = Some((matrix, offset));
        }
        let mut fourier = None;
        if from.has("link.frequency") {
            let phases = restore_vector("link.phase", from)?;
            let frequencies = restore_matrix("link.frequency", (inputs, phases.len()), from)?;
            fourier = Some(RandomFeatures { frequencies, phases });
        }
        let invalid = |e| StoreError::part("label embedding", e);
        let map = FeatureMap::new(sizes.n_features, projection, fourier).map_err(invalid)?;
        let weights = restore_matrix("link.weight", (sizes.n_outputs, map.n_terms()), from)?;
        Self::new(map, weights, inverse_link, sizes.n_train).map_err(invalid)
    }
}

fn store_matrix(name: &str, matrix: &Array2<f32>, out: &mut Writer) -> Result<(), StoreError> {
    let values: Vec<f32> = matrix.iter().copied().collect();
    out.table(name, &values, matrix.ncols())
}

fn store_vector(name: &str, values: &Array1<f32>, out: &mut Writer) -> Result<(), StoreError> {
    let values = values.to_vec();
    check_finite(name, &values)?;
    out.array(name, &values)
}

fn restore_vector(name: &str, from: &mut Reader<'_>) -> Result<Array1<f32>, StoreError> {
    let values = from
        .array::<f32>(name)?
        .where_all("a finite number", f32::is_finite)?;
    if values.len() == 0 {
        return Err(values.wrong("is empty"));
    }
    Ok(values.to_vec().into())
}

/// Restores a matrix and checks that it has the given shape.
fn restore_matrix(
    name: &str,
    (rows, columns): (usize, usize),
    from: &mut Reader<'_>,
) -> Result<Array2<f32>, StoreError> {
    let values = from
        .table(name, columns)?
        .of_length(rows.saturating_mul(columns))?;
    let matrix = Array2::from_shape_vec((rows, columns), values.to_vec());
    matrix.map_err(|e| values.wrong(format!("is invalid: {e}")))
}
