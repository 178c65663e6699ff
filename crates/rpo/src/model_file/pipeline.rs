//! What happens to features before a predictor as arrays, and back. Indicators follow from the description.

use super::arrays::{ArrayReader, ArrayWriter};
use super::error::ModelFileErrorKind as Kind;
use crate::{ModelError, Schema};
use rpo_data::preprocess::Pipeline;

const FILL: &str = "impute.fill";
const MEAN: &str = "standardize.mean";
const FACTOR: &str = "standardize.factor";

pub(super) fn write(pipeline: &Pipeline, out: &mut ArrayWriter) {
    if let Some(imputer) = pipeline.imputer() {
        let fill = imputer.fill().iter().map(|fill| fill.unwrap_or(f32::NAN));
        out.floats(FILL, &fill.collect::<Vec<_>>());
    }
    if let Some(standardizer) = pipeline.standardizer() {
        out.doubles(MEAN, standardizer.mean());
        out.doubles(FACTOR, standardizer.factor());
    }
}

/// The pipeline of a model, if it has one.
pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    schema: &Schema,
    one_hot: bool,
) -> Result<Option<Pipeline>, Kind> {
    let mut fill = None;
    if arrays.has(FILL) {
        let values = arrays.numbers(FILL)?.into_iter();
        fill = Some(values.map(|v| (!v.is_nan()).then_some(v)).collect());
    }
    let mut moments = None;
    if arrays.has(MEAN) {
        moments = Some((arrays.doubles(MEAN)?, arrays.doubles(FACTOR)?));
    }
    let (n_features, nominal) = (schema.feature_names().len(), schema.nominal().clone());
    let pipeline = Pipeline::new(n_features, nominal, fill, one_hot, moments);
    let pipeline = pipeline.map_err(ModelError::from)?;
    Ok(Some(pipeline).filter(|pipeline| !pipeline.is_identity()))
}
