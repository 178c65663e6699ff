//! Matrices that can only be multiplied with thin blocks.

use ndarray::{Array1, Array2, ArrayView2};
use rpo_core::{Mismatch, WideSum};

use crate::least_squares::Rows;
use crate::{ProjectionError, memory};

/// A linear operator A of shape r x c that is never formed, only multiplied with thin dense blocks.
///
/// Implemented for everything with [`Rows`] and for [`Covariance`].
pub(crate) trait LinearOperator {
    /// Number of rows r.
    fn n_rows(&self) -> usize;

    /// Number of columns c.
    fn n_cols(&self) -> usize;

    /// Returns A X (r x k) for X (c x k).
    ///
    /// # Errors
    /// [`ProjectionError::Mismatch`] if the number of rows of X is not c, [`ProjectionError::OutOfMemory`] if the
    /// product does not fit.
    fn apply(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError>;

    /// Returns Aᵀ X (c x k) for X (r x k).
    ///
    /// # Errors
    /// As for [`LinearOperator::apply`].
    fn apply_transpose(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError>;
}

impl<R: Rows> LinearOperator for R {
    fn n_rows(&self) -> usize {
        self.row_count()
    }

    fn n_cols(&self) -> usize {
        self.column_count()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
        let x = checked_factor(x, self.n_cols())?;
        let mut out = memory::zeros(self.n_rows(), x.ncols())?;
        for (i, mut out) in out.rows_mut().into_iter().enumerate() {
            self.for_each_stored(i, |j, v| out.scaled_add(v, &x.row(j)));
        }
        Ok(out)
    }

    fn apply_transpose(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
        let x = checked_factor(x, self.n_rows())?;
        let mut out = memory::zeros(self.n_cols(), x.ncols())?;
        for (i, x) in x.rows().into_iter().enumerate() {
            self.for_each_stored(i, |j, v| out.row_mut(j).scaled_add(v, &x));
        }
        Ok(out)
    }
}

/// The sample covariance C = (1/(W-1)) Σᵢ wᵢ (yᵢ - μ)(yᵢ - μ)ᵀ of the rows of Y (n x d) with weights w that sum to W, as
/// a d x d operator: a row of weight 2 counts as two rows.
///
/// Rows are centred on the fly, so that sparse rows stay sparse: C X costs O(nnz(Y) k) for k columns, and nothing of
/// size n or d x d is stored.
#[derive(Debug)]
pub(crate) struct Covariance<'a, R> {
    rows: &'a R,
    /// All 1 if there are none.
    weights: Option<&'a [f32]>,
    /// W - 1, or W if weights sum to at most 1, as shares of the samples do.
    divisor: f64,
    mean: Array1<f64>,
}

impl<'a, R: Rows> Covariance<'a, R> {
    /// Creates the covariance of the rows of a matrix.
    ///
    /// # Errors
    /// [`ProjectionError::TooFewRows`] for fewer than 2 rows.
    pub(crate) fn of(rows: &'a R, weights: Option<&'a [f32]>) -> Result<Self, ProjectionError> {
        let n = rows.row_count();
        if n < 2 {
            return Err(ProjectionError::TooFewRows {
                family: "a covariance",
                found: n,
                required: 2,
            });
        }
        let total = weights.map_or(n as f64, |weights| weights.iter().map(|&w| f64::from(w)).sum());
        let mut covariance = Self {
            rows,
            weights,
            divisor: if total > 1.0 { total - 1.0 } else { total },
            mean: Array1::zeros(rows.column_count()),
        };
        let mut mean = Array1::zeros(rows.column_count());
        for i in 0..n {
            let weight = covariance.weight(i);
            rows.for_each_stored(i, |j, v| mean[j] += weight * v);
        }
        covariance.mean = mean / total;
        Ok(covariance)
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].into())
    }

    /// Returns the mean μ of the rows.
    pub(crate) const fn mean(&self) -> &Array1<f64> {
        &self.mean
    }

    /// Returns the trace of C: the sum of the variances of the columns.
    pub(crate) fn trace(&self) -> f64 {
        let mut total = WideSum::default();
        let (mut squares, mut stored) = (self.mean.mapv(|_| 0.0), vec![WideSum::default(); self.mean.len()]);
        for i in 0..self.rows.row_count() {
            let weight = self.weight(i);
            total.add(weight);
            self.rows.for_each_stored(i, |j, v| {
                squares[j] += weight * (v - self.mean[j]).powi(2);
                stored[j].add(weight);
            });
        }
        // A value that is not stored is 0; its distance from the mean is μ.
        let absent = |(&mean, &stored): (&f64, &WideSum)| total.less(stored).max(0.0) * mean * mean;
        (squares.sum() + self.mean.iter().zip(&stored).map(absent).sum::<f64>()) / self.divisor
    }
}

impl<R: Rows> LinearOperator for Covariance<'_, R> {
    fn n_rows(&self) -> usize {
        self.mean.len()
    }

    fn n_cols(&self) -> usize {
        self.mean.len()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
        let x = checked_factor(x, self.n_cols())?;
        let mut out: Array2<f64> = memory::zeros(self.n_cols(), x.ncols())?;
        let shift = self.mean.dot(&x);
        // Σ w (y - μ) t with t = (y - μ)ᵀ X. The term with μ is added once, times the sum of w t, which is 0 except for
        // rounding; this makes large means harmless.
        let mut total = Array1::<f64>::zeros(x.ncols());
        let mut t = total.clone();
        for i in 0..self.rows.row_count() {
            t.assign(&shift);
            t.mapv_inplace(|s| -s);
            self.rows.for_each_stored(i, |j, v| t.scaled_add(v, &x.row(j)));
            t *= self.weight(i);
            self.rows
                .for_each_stored(i, |j, v| out.row_mut(j).scaled_add(v, &t));
            total += &t;
        }
        for (mut out, &mean) in out.rows_mut().into_iter().zip(&self.mean) {
            out.scaled_add(-mean, &total);
        }
        out /= self.divisor;
        Ok(out)
    }

    fn apply_transpose(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
        // C is symmetric.
        self.apply(x)
    }
}

fn checked_factor(x: ArrayView2<'_, f64>, expected: usize) -> Result<ArrayView2<'_, f64>, ProjectionError> {
    Mismatch::check("rows of the factor of a product", expected, x.nrows())?;
    Ok(x)
}
