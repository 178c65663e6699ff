//! What every map does before and after its sums: check the outputs, their target and the result.

use ndarray::{ArrayView2, ArrayViewMut2};
use rpo_core::{CsrView, MatrixView};

use crate::{LinearMap, ProjectionError};

/// Outputs of the right width whose values are finite.
#[derive(Clone, Copy)]
pub(crate) enum Outputs<'a> {
    Dense(ArrayView2<'a, f32>),
    Csr(CsrView<'a>),
    /// Every stored value is 1, as in most multi-label sets: sums need no product.
    Ones(CsrView<'a>),
}

impl<'a> Outputs<'a> {
    fn check(y: MatrixView<'a>, n_outputs: usize) -> Result<Self, ProjectionError> {
        if y.n_cols() != n_outputs {
            return Err(ProjectionError::OutputMismatch {
                expected: n_outputs,
                found: y.n_cols(),
            });
        }
        let outputs = match y {
            MatrixView::Dense(a) => Self::Dense(a),
            MatrixView::Sparse(a) if !a.is_csr() => return Err(ProjectionError::NotCsr),
            // Without early exit inside a block the comparison is vectorised.
            MatrixView::Sparse(a) if a.data().chunks(1024).all(all_ones) => return Ok(Self::Ones(a)),
            MatrixView::Sparse(a) => Self::Csr(a),
        };
        let finite = match outputs {
            Self::Dense(a) => a.as_slice().is_some_and(all_finite),
            Self::Csr(a) | Self::Ones(a) => all_finite(a.data()),
        };
        if !finite {
            y.check_finite()?;
        }
        Ok(outputs)
    }

    pub(crate) fn n_rows(&self) -> usize {
        match self {
            Self::Dense(a) => a.nrows(),
            Self::Csr(a) | Self::Ones(a) => a.rows(),
        }
    }
}

fn all_ones(values: &[f32]) -> bool {
    values.iter().fold(true, |ok, &v| ok & (v == 1.0))
}

fn all_finite(values: &[f32]) -> bool {
    values.iter().fold(true, |ok, v| ok & v.is_finite())
}

/// Runs `project`, which writes Z for checked outputs, between the checks of a map's arguments and result.
pub(crate) fn checked(
    map: &impl LinearMap,
    y: MatrixView<'_>,
    mut z: ArrayViewMut2<'_, f32>,
    project: impl FnOnce(Outputs<'_>, &mut [f32]) -> Result<(), ProjectionError>,
) -> Result<(), ProjectionError> {
    let (found, expected) = (z.dim(), (y.n_rows(), map.n_components()));
    let outputs = Outputs::check(y, map.n_outputs())?;
    if found != expected {
        return Err(ProjectionError::TargetShape { expected, found });
    }
    let z = z.as_slice_mut().ok_or(ProjectionError::TargetLayout)?;
    project(outputs, z)?;
    if !all_finite(z) {
        let at = z
            .iter()
            .position(|v| !v.is_finite())
            .expect("one of them is not finite");
        let (row, component) = (at / expected.1, at % expected.1);
        return Err(ProjectionError::Overflow { row, component });
    }
    Ok(())
}
