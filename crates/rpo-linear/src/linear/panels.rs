//! Outputs in panels, each of which is fitted in one pass over the features.

use ndarray::{Array1, Array2, s};
use rayon::prelude::*;
use rpo_core::{InverseLink, Matrix, MatrixView, csr_row};
use rpo_projections::least_squares::{LANES, Lanes, Rows};

use super::{LinearModel, RowNorm};
use crate::options::check_matrix;
use crate::{FitOptions, History, LinearError};

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

/// Fits outputs in panels of [`LANES`], in parallel. `solve` returns the p + 1 rows of the panel that starts with the
/// given output; the last row contains the intercepts.
pub(super) fn fit_panels(
    (p, d): (usize, usize),
    inverse_link: InverseLink,
    n_train: usize,
    options: FitOptions<'_>,
    solve: impl Fn(usize) -> Result<Vec<Lanes>, LinearError> + Sync,
) -> Result<LinearModel, LinearError> {
    check_matrix::<f32>(
        "the weights of all outputs; a label embedding needs far fewer",
        p,
        d,
        options.limit(),
    )?;
    let limits = options.limits();
    let panels: Vec<Vec<Lanes>> = (0..d.div_ceil(LANES))
        .into_par_iter()
        .map(|panel| {
            limits.check_stop()?;
            solve(panel * LANES)
        })
        .collect::<Result<_, _>>()?;
    let (mut weights, mut offset) = (Array2::zeros((p, d)), Array1::zeros(d));
    for (panel, lanes) in panels.iter().enumerate() {
        let outputs = s![panel * LANES..d.min((panel + 1) * LANES)];
        let write = |mut out: ndarray::ArrayViewMut1<'_, f32>, lanes: &Lanes| {
            out.iter_mut().zip(lanes).for_each(|(out, &v)| *out = v as f32);
        };
        for (mut row, lanes) in weights.rows_mut().into_iter().zip(lanes) {
            write(row.slice_mut(outputs), lanes);
        }
        write(offset.slice_mut(outputs), &lanes[p]);
    }
    if weights.iter().chain(&offset).any(|v: &f32| !v.is_finite()) {
        return Err(LinearError::Overflow { what: "W" });
    }
    options.finish(History::default());
    Ok(LinearModel {
        weights: Matrix::Dense(weights),
        offset,
        inverse_link,
        slope: 1.0,
        shift: 0.0,
        normalize: RowNorm::None,
        residual: None,
        cost: None,
        n_train,
    })
}
