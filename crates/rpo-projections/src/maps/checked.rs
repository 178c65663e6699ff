//! Checks around [`LinearMap::project`]: of the outputs, the target matrix and the result.

use ndarray::ArrayViewMut2;
use rpo_core::{MatrixView, Mismatch};

use crate::{LinearMap, ProjectionError};

/// Checks the arguments of a map, applies it, and checks that its result is finite.
pub(crate) fn apply_checked(
    map: &(impl LinearMap + ?Sized),
    y: MatrixView<'_>,
    mut z: ArrayViewMut2<'_, f32>,
) -> Result<(), ProjectionError> {
    Mismatch::check("outputs", map.n_outputs(), y.n_cols())?;
    let (found, expected) = (z.dim(), (y.n_rows(), map.n_components()));
    if found != expected {
        return Err(ProjectionError::TargetShape { expected, found });
    }
    let z = z.as_slice_mut().ok_or(ProjectionError::TargetLayout)?;
    y.check_csr("outputs")?;
    let finite = match y {
        MatrixView::Dense(a) => a.as_slice().is_some_and(all_finite),
        MatrixView::Sparse(a) => all_finite(a.data()),
    };
    if !finite {
        y.check_values(f32::is_finite)?;
    }
    map.project(y, z)?;
    if !all_finite(z) {
        let at = z
            .iter()
            .position(|v| !v.is_finite())
            .expect("one of them is not finite");
        let (row, component) = (at / expected.1, at % expected.1);
        return Err(ProjectionError::NotFinite { row, component });
    }
    Ok(())
}

/// Has no early exit, so that the comparisons are vectorised.
fn all_finite(values: &[f32]) -> bool {
    values.iter().fold(true, |ok, v| ok & v.is_finite())
}
