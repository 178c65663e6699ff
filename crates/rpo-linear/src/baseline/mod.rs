//! The methods to compare with: one linear model per output, each on its own.

mod logistic;
mod ridge;

use ndarray::{Array1, Array2, ArrayViewMut2, s};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, check_dense, csr_row};
use rpo_projections::linalg::{LANES, Lanes, Rows};

use crate::error::check_length;
use crate::model::DEFAULT_BUDGET;
use crate::scores::Scorer;
use crate::{LinearError, Response};

pub use logistic::LogisticParams;
pub use ridge::RidgeParams;

/// Scores response(Wᵀx + offset), one column of W per output. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    weights: Array2<f32>,
    offset: Array1<f32>,
    response: Response,
    n_train: usize,
}

impl LinearModel {
    /// Puts a model together from its parts: W (p x d), one offset per output, the response, and the number of samples
    /// it was fitted to.
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] if sizes do not fit.
    pub fn new(
        weights: Array2<f32>,
        offset: Array1<f32>,
        response: Response,
        n_train: usize,
    ) -> Result<Self, LinearError> {
        check_length("offsets", weights.ncols(), offset.len())?;
        Ok(Self {
            weights,
            offset,
            response,
            n_train,
        })
    }

    /// W (p x d).
    pub fn weights(&self) -> &Array2<f32> {
        &self.weights
    }

    /// The intercepts, d.
    pub fn offset(&self) -> &Array1<f32> {
        &self.offset
    }

    /// What scores are.
    pub fn response(&self) -> Response {
        self.response
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.weights.nrows()
    }

    /// Number of outputs d.
    pub fn n_outputs(&self) -> usize {
        self.weights.ncols()
    }

    /// Number of samples it was fitted to.
    pub fn n_train(&self) -> usize {
        self.n_train
    }

    /// Scores (n x d) of features (n x p).
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] for another number of features than the model was fitted to, [`LinearError::Features`]
    /// for values that are not finite, [`LinearError::Predictions`] if the result would exceed [`DEFAULT_BUDGET`].
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, LinearError> {
        self.predict_within(x, DEFAULT_BUDGET)
    }

    /// [`predict`](Self::predict) with another limit on the bytes of the result.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, LinearError> {
        self.scores_within(x, budget)
    }

    /// The k largest scores of each row that are not 0, as CSR (n x d); of equal ones the smaller output. Never holds
    /// all scores.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and [`LinearError::Parameter`] for k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, LinearError> {
        self.top_scores(x, k)
    }
}

impl Scorer for LinearModel {
    fn shape(&self) -> (usize, usize) {
        (self.n_features(), self.n_outputs())
    }

    fn score(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        for (&row, mut out) in rows.iter().zip(out.rows_mut()) {
            out.assign(&self.offset);
            x.for_each_in_row(row, |j, v| out.scaled_add(v, &self.weights.row(j as usize)));
        }
        self.response.apply_to_rows(out);
    }
}

/// The [`LANES`] outputs from `first` on, of those there are: n rows, of which only these are looked at.
#[derive(Debug, Clone, Copy)]
struct PanelOutputs<'a> {
    y: MatrixView<'a>,
    first: usize,
}

impl Rows for PanelOutputs<'_> {
    fn row_count(&self) -> usize {
        self.y.n_rows()
    }

    fn column_count(&self) -> usize {
        LANES
    }

    fn for_each_stored(&self, row: usize, mut f: impl FnMut(usize, f64)) {
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

/// Fits outputs in panels of [`LANES`], in parallel: `solve` gets the first output of a panel and gives p + 1 rows, the
/// intercept's last.
fn fit_panels(
    (p, d): (usize, usize),
    response: Response,
    n_train: usize,
    solve: impl Fn(usize) -> Result<Vec<Lanes>, LinearError> + Sync,
) -> Result<LinearModel, LinearError> {
    check_dense(p, d, size_of::<f32>(), DEFAULT_BUDGET).map_err(LinearError::Weights)?;
    let panels: Vec<Vec<Lanes>> = (0..d.div_ceil(LANES))
        .into_par_iter()
        .map(|panel| solve(panel * LANES))
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
    LinearModel::new(weights, offset, response, n_train)
}
