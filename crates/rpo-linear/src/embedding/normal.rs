//! The normal equations of Θ: ΦᵀΦ and ΦᵀY, summed over blocks of rows.

use ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use rpo_core::{MatrixView, product};
use rpo_projections::least_squares::Cholesky;
use rpo_projections::{Penalty, ProjectionError};

use super::terms::Terms;
use crate::LinearError;

/// Number of rows of Φ that are multiplied at once in `f32`; blocks are summed in `f64`.
const BLOCK: usize = 512;
/// Number of terms that one task sums: the terms are packed anew for every task.
const TERMS: usize = 256;
/// Number of labels that one task sums.
const LABELS: usize = 64;
/// Fraction of the mean square of Φ, a sum of `f32` products, below which its variance is only rounding error.
const ROUNDING: f64 = 1e-6;
/// Maximum number of times that a penalty is raised tenfold because ΦᵀΦ + λ̄I cannot be factored.
const ATTEMPTS: usize = 8;

/// ΦᵀΦ, the lower triangle (terms x terms), and (ΦᵀY)ᵀ (outputs x terms) over some rows.
pub(super) struct NormalEquations {
    pub(super) gram: Array2<f64>,
    pub(super) right: Array2<f64>,
}

impl NormalEquations {
    /// Sums over the listed rows of Φ and Y, in the given order.
    pub(super) fn new(source: &Terms<'_, '_>, y: MatrixView<'_>, rows: &[usize]) -> Self {
        let terms = source.n_terms();
        let mut sums = Self {
            gram: Array2::zeros((terms, terms)),
            right: Array2::zeros((y.n_cols(), terms)),
        };
        let all = rows.len() == source.n_rows();
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let first = block * BLOCK;
            if all {
                sums.add(source.block(first..first + rows.len()).view(), y, rows);
            } else {
                sums.add(source.select(rows).view(), y, rows);
            }
        }
        sums
    }

    fn add(&mut self, phi: ArrayView2<'_, f32>, y: MatrixView<'_>, rows: &[usize]) {
        self.gram
            .axis_chunks_iter_mut(Axis(0), TERMS)
            .into_par_iter()
            .enumerate()
            .for_each(|(stripe, mut sums)| {
                let (start, end) = (stripe * TERMS, stripe * TERMS + sums.nrows());
                let product = product(phi.slice(s![.., start..end]).t(), phi.slice(s![.., ..end]));
                sums.slice_mut(s![.., ..end])
                    .zip_mut_with(&product, |sum, &v| *sum += f64::from(v));
            });
        self.right
            .axis_chunks_iter_mut(Axis(0), LABELS)
            .into_par_iter()
            .enumerate()
            .for_each(|(stripe, mut sums)| {
                let labels = stripe * LABELS..stripe * LABELS + sums.nrows();
                for (&row, phi) in rows.iter().zip(phi.rows()) {
                    y.for_each_in_row(row, |j, v| {
                        let (j, v) = (j as usize, f64::from(v));
                        if labels.contains(&j) && v != 0.0 {
                            let mut sum = sums.row_mut(j - labels.start);
                            sum.zip_mut_with(&phi, |sum, &phi| *sum += v * f64::from(phi));
                        }
                    });
                }
            });
    }

    /// Factors ΦᵀΦ + λ̄₂I and returns the factor with the penalty, which is raised tenfold, up to eight times, while
    /// rounding prevents the factorization.
    ///
    /// The intercept is a term like the others here, as in the software of the paper's authors.
    pub(super) fn factor(&self, mut penalty: Penalty) -> Result<(Cholesky<f64>, Penalty), LinearError> {
        for attempt in 1.. {
            let mut a = self.gram.clone();
            let number = self.penalty(penalty);
            a.diag_mut().mapv_inplace(|v| v + number);
            match Cholesky::try_from(a) {
                Err(ProjectionError::NotPositiveDefinite { .. }) if attempt <= ATTEMPTS => {
                    penalty = penalty * 10.0;
                }
                Err(ProjectionError::FactorValue { .. }) => {
                    return Err(LinearError::Overflow { what: "ΦᵀΦ" });
                }
                factor => return Ok((factor?, penalty)),
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Returns λ̄₂ as a number, computed from the sums: the last term is 1, so that its row contains the sums of all
    /// terms.
    fn penalty(&self, penalty: Penalty) -> f64 {
        let terms = self.gram.nrows();
        let trace = self.gram.diag().sum();
        match penalty {
            Penalty::Relative(lambda) => lambda * trace / terms as f64,
            Penalty::Variance(alpha) => {
                let n = self.gram[[terms - 1, terms - 1]];
                let means: f64 = self.gram.row(terms - 1).iter().map(|sum| (sum / n).powi(2)).sum();
                let square = trace / n;
                alpha * (square - means).max(ROUNDING * square)
            }
        }
    }
}
