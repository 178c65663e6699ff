//! Label embeddings and linear models as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use crate::ModelError;
use ndarray::{Array1, Array2};
use rpo_linear::{FeatureMap, LinearModel, LinkModel, Response};
use rpo_projections::RandomFeatures;

/// Numbers of training samples n, features p and outputs d.
type Sizes = (usize, usize, usize);

/// Writes a matrix and refuses values that could not be read back.
fn write_table(name: &'static str, values: &Array2<f32>, out: &mut ArrayWriter) -> Result<(), Kind> {
    let values = values.as_standard_layout();
    let numbers = values.as_slice().expect("the standard layout is contiguous");
    check_values(name, numbers, "a finite number", f32::is_finite)?;
    out.table(name, numbers, values.ncols());
    Ok(())
}

fn write_vector(name: &'static str, values: &Array1<f32>, out: &mut ArrayWriter) -> Result<(), Kind> {
    let values = values.to_vec();
    check_values(name, &values, "a finite number", f32::is_finite)?;
    out.floats(name, &values);
    Ok(())
}

fn read_vector(name: &'static str, arrays: &mut ArrayReader<'_>) -> Result<Array1<f32>, Kind> {
    let values = arrays.numbers(name)?;
    check_values(name, &values, "a finite number", f32::is_finite)?;
    if values.is_empty() {
        return Err(Kind::array(name, "is empty"));
    }
    Ok(values.into())
}

/// A matrix of so many rows and columns, neither of which is trusted.
fn read_table(
    name: &'static str,
    (rows, columns): (usize, usize),
    arrays: &mut ArrayReader<'_>,
) -> Result<Array2<f32>, Kind> {
    let values = arrays.table(name, columns)?;
    check_length(name, &values, rows.saturating_mul(columns))?;
    check_values(name, &values, "a finite number", f32::is_finite)?;
    Ok(Array2::from_shape_vec((rows, columns), values).expect("the length was checked"))
}

pub(super) fn write_link(model: &LinkModel, out: &mut ArrayWriter) -> Result<(), Kind> {
    if let Some((projection, offset)) = model.map().projection() {
        write_table("link.projection", projection, out)?;
        write_vector("link.offset", offset, out)?;
    }
    if let Some(fourier) = model.map().fourier() {
        write_table("link.frequency", fourier.frequencies(), out)?;
        write_vector("link.phase", fourier.phases(), out)?;
    }
    write_table("link.weight", model.weights(), out)
}

pub(super) fn read_link(
    arrays: &mut ArrayReader<'_>,
    response: Response,
    (n, p, d): Sizes,
) -> Result<LinkModel, Kind> {
    let mut inputs = p;
    let mut projection = None;
    if arrays.has("link.projection") {
        let offset = read_vector("link.offset", arrays)?;
        inputs = offset.len();
        projection = Some((read_table("link.projection", (p, inputs), arrays)?, offset));
    }
    let mut fourier = None;
    if arrays.has("link.frequency") {
        let phases = read_vector("link.phase", arrays)?;
        let frequencies = read_table("link.frequency", (inputs, phases.len()), arrays)?;
        let features = RandomFeatures::new(frequencies, phases);
        fourier = Some(features.map_err(|e| Kind::array("link.frequency", e.to_string()))?);
    }
    let map = FeatureMap::new(p, projection, fourier).map_err(ModelError::from)?;
    let weights = read_table("link.weight", (d, map.n_terms()), arrays)?;
    Ok(LinkModel::new(map, weights, response, n).map_err(ModelError::from)?)
}

pub(super) fn write_linear(model: &LinearModel, out: &mut ArrayWriter) -> Result<(), Kind> {
    write_table("linear.weight", model.weights(), out)?;
    write_vector("linear.offset", model.offset(), out)
}

pub(super) fn read_linear(
    arrays: &mut ArrayReader<'_>,
    response: Response,
    (n, p, d): Sizes,
) -> Result<LinearModel, Kind> {
    let weights = read_table("linear.weight", (p, d), arrays)?;
    let offset = read_vector("linear.offset", arrays)?;
    Ok(LinearModel::new(weights, offset, response, n).map_err(ModelError::from)?)
}
