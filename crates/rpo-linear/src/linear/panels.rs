//! Outputs in panels, each of which is fitted in one pass over the features.

use ndarray::{Array1, Array2, s};
use rayon::prelude::*;
use rpo_core::{InverseLink, Matrix, MatrixView, csr_row};
use rpo_projections::least_squares::{LANES, Lanes, Rows};

use super::calibrate::Calibration;
use super::{LinearModel, RowNorm};
use crate::options::{Limits, check_matrix};
use crate::{LinearError, RegressionOptions};

/// The outputs from `first` on, at most [`LANES`]; each row is multiplied by a factor, if there are factors.
#[derive(Debug, Clone, Copy)]
pub(super) struct PanelOutputs<'y, 'f> {
    pub(super) y: MatrixView<'y>,
    pub(super) first: usize,
    pub(super) factors: Option<&'f [f64]>,
}

impl Rows for PanelOutputs<'_, '_> {
    fn row_count(&self) -> usize {
        self.y.n_rows()
    }

    fn column_count(&self) -> usize {
        LANES
    }

    fn for_each_stored(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        let factor = self.factors.map_or(1.0, |factors| factors[row]);
        let mut f = |lane, v: f64| f(lane, factor * v);
        match &self.y {
            MatrixView::Dense(y) => {
                let end = y.ncols().min(self.first + LANES);
                let values = y.slice(s![row, self.first..end]);
                values.iter().enumerate().for_each(|(lane, &v)| f(lane, v.into()));
            }
            MatrixView::Sparse(y) => {
                let (columns, values) = csr_row(y, row);
                let start = columns.partition_point(|&j| (j as usize) < self.first);
                for (&j, &v) in columns[start..].iter().zip(&values[start..]) {
                    let lane = j as usize - self.first;
                    if lane >= LANES {
                        break;
                    }
                    f(lane, v.into());
                }
            }
        }
    }
}

/// Fits d outputs in panels of [`LANES`], in parallel. `solve` returns the p + 1 rows of the panel that starts with the
/// given output; the last row contains the intercepts.
///
/// Weights are rounded to `f32`. Where features are far from 0, a rounded weight would move all scores, so intercepts
/// are those with which the scores at the means of the features stay the same.
pub(super) fn fit_panels(
    x: MatrixView<'_>,
    d: usize,
    inverse_link: InverseLink,
    options: RegressionOptions<'_>,
    solve: impl Fn(usize) -> Result<Vec<Lanes>, LinearError> + Sync,
) -> Result<LinearModel, LinearError> {
    let p = x.n_cols();
    let limits = Limits::new(options.memory_limit, options.observers);
    check_matrix::<f32>(
        "the weights of all outputs; a label embedding needs far fewer",
        p,
        d,
        limits.memory,
    )?;
    let panels: Vec<Result<Vec<Lanes>, LinearError>> = (0..d.div_ceil(LANES))
        .into_par_iter()
        .map(|panel| {
            limits.check_stop()?;
            solve(panel * LANES)
        })
        .collect();
    let panels = panels.into_iter().collect::<Result<Vec<_>, _>>()?;
    let means = means(x);
    let (mut weights, mut offset) = (Array2::zeros((p, d)), Array1::<f64>::zeros(d));
    for (panel, lanes) in panels.iter().enumerate() {
        let outputs = s![panel * LANES..d.min((panel + 1) * LANES)];
        let mut offset = offset.slice_mut(outputs);
        offset.iter_mut().zip(&lanes[p]).for_each(|(b, &v)| *b = v);
        for ((mut row, lanes), mean) in weights.rows_mut().into_iter().zip(lanes).zip(&means) {
            let row = row.slice_mut(outputs);
            for ((out, b), &v) in row.into_iter().zip(&mut offset).zip(lanes) {
                *out = v as f32;
                *b += (v - f64::from(*out)) * mean;
            }
        }
    }
    let is_finite = weights.iter().all(|v: &f32| v.is_finite());
    if !(is_finite && offset.iter().all(|b| b.is_finite())) {
        return Err(LinearError::Overflow { what: "W" });
    }
    options.observers.step();
    Ok(LinearModel {
        weights: Matrix::Dense(weights),
        offset,
        inverse_link,
        calibration: Calibration::line(1.0),
        normalize: RowNorm::None,
        residual: None,
        cost: None,
        penalty: None,
        n_train: x.n_rows(),
    })
}

/// Returns the mean of each feature.
fn means(x: MatrixView<'_>) -> Vec<f64> {
    let mut sums = vec![0.0; x.n_cols()];
    for row in 0..x.n_rows() {
        x.for_each_in_row(row, |j, v| sums[j as usize] += f64::from(v));
    }
    sums.into_iter().map(|sum| sum / x.n_rows() as f64).collect()
}
