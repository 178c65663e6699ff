//! Matrices that can only be multiplied with thin blocks.

use ndarray::{Array1, Array2, ArrayView2};
use rpo_core::Mismatch;

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

/// The sample covariance C = (1/(n-1)) Σᵢ (yᵢ - μ)(yᵢ - μ)ᵀ of the rows of Y (n x d), as a d x d operator.
///
/// Rows are centred on the fly, so that sparse rows stay sparse: C X costs O(nnz(Y) k) for k columns, and nothing of
/// size n or d x d is stored.
#[derive(Debug)]
pub(crate) struct Covariance<'a, R> {
    rows: &'a R,
    mean: Array1<f64>,
}

impl<'a, R: Rows> Covariance<'a, R> {
    /// Creates the covariance of the rows of a matrix.
    ///
    /// # Errors
    /// [`ProjectionError::TooFewRows`] for fewer than 2 rows.
    pub(crate) fn of(rows: &'a R) -> Result<Self, ProjectionError> {
        let n = rows.row_count();
        if n < 2 {
            return Err(ProjectionError::TooFewRows {
                family: "a covariance",
                found: n,
                required: 2,
            });
        }
        let mut mean = Array1::zeros(rows.column_count());
        (0..n).for_each(|i| rows.for_each_stored(i, |j, v| mean[j] += v));
        mean /= n as f64;
        Ok(Self { rows, mean })
    }

    /// Returns the mean μ of the rows.
    pub(crate) const fn mean(&self) -> &Array1<f64> {
        &self.mean
    }

    /// Returns the trace of C: the sum of the variances of the columns, with divisor n - 1.
    pub(crate) fn trace(&self) -> f64 {
        let n = self.rows.row_count();
        let (mut squares, mut stored) = (self.mean.mapv(|_| 0.0), vec![0_usize; self.mean.len()]);
        for i in 0..n {
            self.rows.for_each_stored(i, |j, v| {
                squares[j] += (v - self.mean[j]).powi(2);
                stored[j] += 1;
            });
        }
        // A value that is not stored is 0; its distance from the mean is μ.
        let absent = |(&mean, &stored): (&f64, &usize)| (n - stored) as f64 * mean * mean;
        (squares.sum() + self.mean.iter().zip(&stored).map(absent).sum::<f64>()) / (n - 1) as f64
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
        // Σ (y - μ) t with t = (y - μ)ᵀ X. The term with μ is added once, times the sum of t, which is 0 except for
        // rounding; this makes large means harmless.
        let mut total = Array1::<f64>::zeros(x.ncols());
        let mut t = total.clone();
        for i in 0..self.rows.row_count() {
            t.assign(&shift);
            t.mapv_inplace(|s| -s);
            self.rows.for_each_stored(i, |j, v| t.scaled_add(v, &x.row(j)));
            self.rows
                .for_each_stored(i, |j, v| out.row_mut(j).scaled_add(v, &t));
            total += &t;
        }
        for (mut out, &mean) in out.rows_mut().into_iter().zip(&self.mean) {
            out.scaled_add(-mean, &total);
        }
        out /= (self.rows.row_count() - 1) as f64;
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
