//! Projections of outputs, by name.

use crate::error::value_error;
use crate::matrix::Borrowed;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use rpo::core::{CsrMatrix, Seed};
use rpo::projections::{Components, Projection, ProjectionError, ProjectionInput, ProjectionKind};

/// The matrix of a projection, with one row per output (d x m), fitted to the outputs and, for families that learn from
/// features, to the features.
#[pyfunction]
#[pyo3(signature = (kind, components, y, x, *, seed))]
pub(crate) fn projection_matrix<'py>(
    py: Python<'py>,
    kind: &str,
    components: &str,
    y: Borrowed<'py>,
    x: Option<Borrowed<'py>>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let kind: ProjectionKind = kind.parse().map_err(value_error)?;
    let components: Components = components.parse().map_err(value_error)?;
    let input = ProjectionInput {
        features: x.as_ref().map(Borrowed::view).transpose()?,
        outputs: y.view()?,
        weights: None,
    };
    let pool = crate::threads::pool(0)?;
    let fit = || {
        let d = input.outputs.n_cols();
        let map = kind.fit(input, components.resolve(d)?, Seed::new(seed))?;
        let columns = (0..d as u32).collect();
        let unit = CsrMatrix::new((d, d), (0..=d).collect(), columns, vec![1.0; d]);
        map.apply((&unit).into())
    };
    let matrix = py
        .detach(|| pool.install(fit))
        .map_err(|error: ProjectionError| value_error(error))?;
    Ok(matrix.into_pyarray(py))
}
