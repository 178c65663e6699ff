//! Penalized least squares for many right-hand sides.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use rpo_core::{Domain, Mismatch};

use super::cholesky::RIGHT_SIDES;
use super::panel::{LANES, Lanes, by_panels, panel_product};
use super::{Cholesky, Coordinates, Design, PenaltyDiagonal, Rows, System, conjugate_gradients, gram};
use crate::{ProjectionError, memory};

/// The algorithm of a [`Ridge`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RidgeSolver {
    /// Cholesky up to 2,000 columns of X, if XᵀX + Λ can be factored; otherwise preconditioned conjugate gradients
    /// with their defaults.
    Auto,
    /// The Cholesky factor of XᵀX + Λ (p x p), computed once. Exact up to the square of the condition number.
    Cholesky,
    /// Conjugate gradients on the normal equations, with individual step lengths per column.
    ConjugateGradients {
        /// Maximum number of iterations; each costs two products with X.
        iterations: usize,
        /// A column has converged when its squared residual ‖Xᵀb - (XᵀX + Λ)z‖², with `jacobi` in its coordinates, is
        /// this fraction of that for weights of 0.
        tolerance: f64,
        /// Solves in [`Coordinates`] in which the diagonal of XᵀX + Λ is 1 and, with an intercept, features have mean
        /// 0, which helps if columns have very different units or frequencies or are far from 0.
        jacobi: bool,
    },
}

impl RidgeSolver {
    /// Maximum number of columns of X, including the intercept, for which [`RidgeSolver::Auto`] factors XᵀX.
    pub const DIRECT_COLUMNS: usize = 2000;

    /// Conjugate gradients with at most 100 iterations and a relative squared residual of 1e-6.
    pub(crate) const fn conjugate_gradients(jacobi: bool) -> Self {
        Self::ConjugateGradients {
            iterations: 100,
            tolerance: 1e-6,
            jacobi,
        }
    }

    /// Refuses settings outside their ranges.
    ///
    /// # Errors
    /// [`ProjectionError::Parameter`].
    pub(crate) fn check(self) -> Result<(), ProjectionError> {
        let Self::ConjugateGradients {
            iterations,
            tolerance,
            ..
        } = self
        else {
            return Ok(());
        };
        Domain::Count.check("iterations", iterations)?;
        Ok(Domain::BelowOne.check("tolerance", tolerance)?)
    }
}

/// Regularised least squares on X (n x p), for any number of targets: Z = argmin ‖B - X Z‖² + λ ‖Z‖² (or Σⱼ λⱼ ‖zⱼ‖²,
/// [`Penalty`](super::Penalty)), optionally with an intercept as a last row of Z, which is not penalized.
///
/// The factor or the diagonal that every solve needs is computed once. Targets are given as a product B = Y Q of a
/// sparse matrix and a thin one, whose rows exist one at a time. They are solved in panels of 16 columns, in parallel,
/// with results that do not depend on the number of threads.
///
/// Source: Karampatziakis, Mineiro, *Scalable Multilabel Prediction via Randomized Methods*, 2015, Algorithms 1 and 3,
/// lines 4, 5 and 11. Unlike in the authors' software, the intercept is not penalized.
#[derive(Debug)]
pub struct Ridge<'a, R> {
    x: Design<'a, R>,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Factored(Cholesky<f64>),
    ConjugateGradients {
        iterations: usize,
        tolerance: f64,
        coordinates: Coordinates,
    },
}

impl<'a, R: Rows + Sync> Ridge<'a, R> {
    /// Prepares to solve on X. The penalty is a number, the absolute penalty of all weights, or the penalties that
    /// [`Penalty::on`](super::Penalty::on) computes for X. If the square roots of weights are the factors of the rows
    /// of X and also multiply the rows of the targets, the solution is that of weighted least squares.
    ///
    /// # Errors
    /// [`ProjectionError::Parameter`] for a penalty or a solver setting out of range, [`ProjectionError::Mismatch`] if
    /// the number of penalties is not that of the features or the number of factors not that of the rows, and with
    /// [`RidgeSolver::Cholesky`] [`ProjectionError::NotPositiveDefinite`] if columns are linearly dependent and λ is 0.
    pub fn new(
        x: Design<'a, R>,
        penalty: impl Into<PenaltyDiagonal>,
        solver: RidgeSolver,
    ) -> Result<Self, ProjectionError> {
        solver.check()?;
        if let Some(factors) = x.factors {
            Mismatch::check("factors of the rows", x.row_count(), factors.len())?;
        }
        let (penalty, n_features) = (penalty.into(), x.rows.column_count());
        penalty.check(n_features)?;
        let method = match solver {
            RidgeSolver::Cholesky => Method::Factored(factor(&x, &penalty)?),
            RidgeSolver::ConjugateGradients {
                iterations,
                tolerance,
                jacobi,
            } => Method::ConjugateGradients {
                iterations,
                tolerance,
                coordinates: if jacobi {
                    Coordinates::new(x.moments(), &penalty, x.intercept, 1.0)
                } else {
                    Coordinates::identity(n_features, x.column_count(), &penalty)
                },
            },
            RidgeSolver::Auto => {
                let direct = x.column_count() <= RidgeSolver::DIRECT_COLUMNS;
                match direct.then(|| factor(&x, &penalty)).transpose() {
                    Ok(Some(factor)) => Method::Factored(factor),
                    Ok(None) | Err(ProjectionError::NotPositiveDefinite { .. }) => {
                        let solver = RidgeSolver::conjugate_gradients(true);
                        return Self::new(x, penalty, solver);
                    }
                    Err(e) => return Err(e),
                }
            }
        };
        Ok(Self { x, method })
    }

    /// The features, with the column of ones if there is an intercept.
    pub(crate) fn design(&self) -> &Design<'a, R> {
        &self.x
    }

    /// Returns the leverages hᵢ = xᵢᵀ (XᵀX + Λ)⁻¹ xᵢ of some rows, including the intercept: diagonal entries of the hat
    /// matrix, between 0 and 1. `None` if the solver has no factor.
    ///
    /// The fit to all rows but i, with the same Λ, predicts (ẑᵢ − hᵢ bᵢ) / (1 − hᵢ) for row i of the targets B, where
    /// ẑᵢ is the prediction of the fit to all rows. Cost: (p + 1)² operations per row, in parallel.
    ///
    /// Source: Allen, *The relationship between variable selection and data augmentation and a method for prediction*,
    /// Technometrics 16, 1974.
    ///
    /// # Errors
    /// [`ProjectionError::OutOfMemory`].
    ///
    /// # Panics
    /// If a row index is out of range.
    pub fn leverages(&self, rows: &[usize]) -> Result<Option<Vec<f64>>, ProjectionError> {
        let Method::Factored(factor) = &self.method else {
            return Ok(None);
        };
        let of_chunk = |rows: &[usize]| {
            let mut b = memory::zeros(rows.len(), self.x.column_count())?;
            for (&row, mut b) in rows.iter().zip(b.rows_mut()) {
                self.x.for_each_stored(row, |j, v| b[j] += v);
            }
            factor.solve_forward(b.view_mut());
            Ok(b.rows().into_iter().map(|b| b.dot(&b)).collect())
        };
        let chunks: Vec<Result<Vec<f64>, ProjectionError>> =
            rows.par_chunks(RIGHT_SIDES).map(of_chunk).collect();
        let leverages = chunks.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Some(leverages.concat()))
    }

    /// Computes Z (p x k, one more row with an intercept) for B = Y Q, Y (n x d), Q (d x k).
    ///
    /// If the targets are Y themselves, Q is the identity.
    ///
    /// # Errors
    /// [`ProjectionError::Mismatch`] if the sizes of X, Y and Q do not match, [`ProjectionError::OutOfMemory`] if Z does not
    /// fit in memory, [`ProjectionError::FactorValue`] if sums overflow.
    pub fn solve(
        &self,
        y: &(impl Rows + Sync),
        q: ArrayView2<'_, f64>,
    ) -> Result<Array2<f64>, ProjectionError> {
        by_panels(q, self.x.column_count(), |q| self.solve_panel(y, q))
    }

    /// Like [`solve`](Self::solve), but for one panel.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn solve_panel(&self, y: &impl Rows, q: &[Lanes]) -> Result<Vec<Lanes>, ProjectionError> {
        let right = panel_product(&self.x, y, q, |_, _| {})?;
        let z = match &self.method {
            Method::Factored(factor) => solve_factored(factor, &right)?,
            Method::ConjugateGradients {
                iterations,
                tolerance,
                coordinates,
            } => conjugate_gradients::solve(&self.x, coordinates, right, (*iterations, *tolerance))?,
        };
        match z.iter().enumerate().find_map(|(row, lanes)| {
            let column = lanes.iter().position(|v| !v.is_finite())?;
            Some((row, column, lanes[column]))
        }) {
            Some((row, column, value)) => Err(ProjectionError::FactorValue {
                name: "a least squares solution",
                row,
                column,
                value,
            }),
            None => Ok(z),
        }
    }
}

fn factor<R: Rows + Sync>(
    x: &Design<'_, R>,
    penalty: &PenaltyDiagonal,
) -> Result<Cholesky<f64>, ProjectionError> {
    let mut a = gram(x)?;
    for (j, v) in a.diag_mut().iter_mut().enumerate() {
        *v += penalty.of(j, x.rows.column_count());
    }
    Cholesky::try_from(a)
}

fn solve_factored(factor: &Cholesky<f64>, right: &[Lanes]) -> Result<Vec<Lanes>, ProjectionError> {
    let mut columns = Array2::from_shape_fn((LANES, right.len()), |(lane, j)| right[j][lane]);
    factor.solve_rows(System::Whole, columns.view_mut())?;
    let mut z = memory::filled([0.0; LANES], right.len(), 1)?;
    for (lane, column) in columns.rows().into_iter().enumerate() {
        z.iter_mut().zip(column).for_each(|(z, &v)| z[lane] = v);
    }
    Ok(z)
}

/// `a / b`, or 0 where b is 0 or NaN, so that a converged column stays as it is.
pub(super) fn ratio(a: &Lanes, b: &Lanes) -> Lanes {
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        if b[lane] > 0.0 {
            out[lane] = a[lane] / b[lane];
        }
    }
    out
}
