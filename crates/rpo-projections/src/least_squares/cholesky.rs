//! Cholesky factors of symmetric positive definite matrices.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use rpo_core::{Fused, Mismatch, product};

use crate::ProjectionError;
use crate::linalg::check_finite;

/// Number of rows and columns of a block: a fraction of about BLOCK / size of the work is not a product of blocks.
const BLOCK: usize = 96;
/// Maximum number of right-hand sides per task: the factor is packed anew for every task.
pub(super) const RIGHT_SIDES: usize = 256;

/// The factor L of A = L Lᵀ, in blocks, for solving with many right-hand sides.
///
/// Factored in `f64`; `Cholesky::<f32>::from` rounds the factor to a copy that solves in `f32`, with half the memory
/// and twice the speed, for use as a preconditioner. Each right-hand side is solved independently of the others, so
/// that results are the same bits for any number of threads.
#[derive(Debug, Clone)]
pub struct Cholesky<T> {
    /// L in the lower triangle; the entries above it are meaningless.
    factor: Array2<T>,
    /// The inverses of the diagonal blocks of L, so that solving needs only products.
    inverses: Vec<Array2<T>>,
}

/// The systems that a [`Cholesky`] factor of A = L Lᵀ can solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// L x = b: the squared length of x is bᵀ A⁻¹ b.
    Forward,
    /// Lᵀ x = b.
    Backward,
    /// A x = b.
    Whole,
}

impl TryFrom<Array2<f64>> for Cholesky<f64> {
    type Error = ProjectionError;

    /// Factors a symmetric matrix (s x s), reading its lower triangle. Cost: s³/3 multiplications.
    ///
    /// Source: Golub, Van Loan, *Matrix Computations*, 4th edition, section 4.2.6.
    ///
    /// # Errors
    /// [`ProjectionError::NotPositiveDefinite`] at the first pivot that is not above rounding,
    /// [`ProjectionError::Mismatch`] if the matrix is not square, [`ProjectionError::FactorValue`] for values that
    /// are not finite.
    fn try_from(mut a: Array2<f64>) -> Result<Self, ProjectionError> {
        let (rows, columns) = a.dim();
        let name = "the matrix of a Cholesky factor";
        Mismatch::check("rows of a symmetric matrix", columns, rows)?;
        check_finite(a.view(), name)?;
        let mut inverses = Vec::with_capacity(rows.div_ceil(BLOCK));
        for first in (0..rows).step_by(BLOCK) {
            let end = rows.min(first + BLOCK);
            let (mut upper, mut lower) = a.view_mut().split_at(Axis(0), end);
            let (done, mut block) = upper.slice_mut(s![first.., ..end]).split_at(Axis(1), first);
            block -= &product(done.view(), done.t());
            factor_block(block.view_mut(), first, rows)?;
            let inverse = inverse_of_lower(block.view());
            lower
                .axis_chunks_iter_mut(Axis(0), BLOCK)
                .into_par_iter()
                .for_each(|mut rows| {
                    let (theirs, mut here) = rows.slice_mut(s![.., ..end]).split_at(Axis(1), first);
                    let rest = &here - &product(theirs.view(), done.t());
                    here.assign(&product(rest.view(), inverse.t()));
                });
            inverses.push(inverse);
        }
        Ok(Self { factor: a, inverses })
    }
}

impl From<&Cholesky<f64>> for Cholesky<f32> {
    /// Rounds the factor to `f32`.
    fn from(exact: &Cholesky<f64>) -> Self {
        let round = |a: &Array2<f64>| a.mapv(|v| v as f32);
        Self {
            factor: round(&exact.factor),
            inverses: exact.inverses.iter().map(round).collect(),
        }
    }
}

impl<T: Fused + Send + Sync> Cholesky<T> {
    /// Number of rows and columns s.
    pub(crate) fn size(&self) -> usize {
        self.factor.nrows()
    }

    /// Replaces every row b of a matrix (m x s) by the solution of a system with right-hand side b. Cost: m s²
    /// operations, twice as many for the whole system, in parallel over rows.
    ///
    /// # Errors
    /// [`ProjectionError::Mismatch`] unless the matrix has s columns.
    pub fn solve_rows(&self, system: System, mut b: ArrayViewMut2<'_, T>) -> Result<(), ProjectionError> {
        if system != System::Backward {
            self.for_each_chunk(b.view_mut(), |rows| self.solve_forward(rows))?;
        }
        if system != System::Forward {
            self.for_each_chunk(b, |rows| self.solve_backward(rows))?;
        }
        Ok(())
    }

    /// Returns the last row of L: Lᵀ e for the last unit vector e.
    ///
    /// # Panics
    /// If the matrix has no rows.
    pub fn last_row(&self) -> ArrayView1<'_, T> {
        self.factor.row(self.size() - 1)
    }

    fn for_each_chunk(
        &self,
        mut b: ArrayViewMut2<'_, T>,
        solve: impl Fn(ArrayViewMut2<'_, T>) + Sync + Send,
    ) -> Result<(), ProjectionError> {
        Mismatch::check("columns of right-hand sides", self.size(), b.ncols())?;
        let rows = b
            .nrows()
            .div_ceil(rayon::current_num_threads())
            .clamp(1, RIGHT_SIDES);
        b.axis_chunks_iter_mut(Axis(0), rows)
            .into_par_iter()
            .for_each(solve);
        Ok(())
    }

    /// Solves Y L = B from the last block to the first.
    fn solve_backward(&self, mut b: ArrayViewMut2<'_, T>) {
        for ((first, end), inverse) in self.ranges().zip(&self.inverses).rev() {
            let (mut here, solved) = b.view_mut().split_at(Axis(1), end);
            let mut here = here.slice_mut(s![.., first..]);
            let l = self.factor.slice(s![end.., first..end]);
            let left = &here - &product(solved.view(), l);
            here.assign(&product(left.view(), inverse.view()));
        }
    }

    /// Solves X Lᵀ = B from the first block to the last: every row b becomes L⁻¹ b.
    pub(super) fn solve_forward(&self, mut b: ArrayViewMut2<'_, T>) {
        for ((first, end), inverse) in self.ranges().zip(&self.inverses) {
            let (solved, mut rest) = b.view_mut().split_at(Axis(1), first);
            let mut here = rest.slice_mut(s![.., ..end - first]);
            let l = self.factor.slice(s![first..end, ..first]);
            let left = &here - &product(solved.view(), l.t());
            here.assign(&product(left.view(), inverse.t()));
        }
    }

    /// The first row and the end row of each block.
    fn ranges(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator + use<T> {
        let size = self.size();
        let firsts = (0..size).step_by(BLOCK);
        firsts.map(move |first| (first, size.min(first + BLOCK)))
    }
}

/// Factors a diagonal block in place; `first` is its row in a matrix of `size` rows.
fn factor_block(mut a: ArrayViewMut2<'_, f64>, first: usize, size: usize) -> Result<(), ProjectionError> {
    for j in 0..a.nrows() {
        let (above, mut below) = a.view_mut().split_at(Axis(0), j + 1);
        let mut row = above.index_axis_move(Axis(0), j);
        let given = row[j];
        let pivot = given - row.slice(s![..j]).dot(&row.slice(s![..j]));
        // The rounding error of a pivot that is 0.
        let rounding = size as f64 * f64::EPSILON * given.abs();
        if pivot <= rounding || pivot.is_nan() {
            return Err(ProjectionError::NotPositiveDefinite {
                row: first + j,
                pivot,
            });
        }
        row[j] = pivot.sqrt();
        for mut other in below.rows_mut() {
            let product = other.slice(s![..j]).dot(&row.slice(s![..j]));
            other[j] = (other[j] - product) / row[j];
        }
    }
    Ok(())
}

fn inverse_of_lower(l: ArrayView2<'_, f64>) -> Array2<f64> {
    let n = l.nrows();
    let mut inverse = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        let (done, mut rest) = inverse.view_mut().split_at(Axis(0), i);
        let mut row = rest.row_mut(0);
        for (j, done) in done.rows().into_iter().enumerate() {
            row.scaled_add(-l[[i, j]], &done);
        }
        row[i] += 1.0;
        row.mapv_inplace(|v| v / l[[i, i]]);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::standard_normal;
    use rpo_core::Seed;

    fn positive(size: usize) -> Array2<f64> {
        let a = standard_normal(size + 3, size, Seed::new(size as u64)).unwrap();
        a.t().dot(&a) + Array2::<f64>::eye(size)
    }

    #[test]
    fn factors_make_up_the_matrix_and_solve_it() {
        for size in [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let a = positive(size);
            let cholesky = Cholesky::try_from(a.clone()).unwrap();
            let mut l = cholesky.factor.clone();
            l.indexed_iter_mut()
                .filter(|((i, j), _)| j > i)
                .for_each(|(_, v)| *v = 0.0);
            let scale = 1.0 + size as f64;
            assert!(
                (l.dot(&l.t()) - &a).iter().all(|v| v.abs() < 1e-12 * scale),
                "{size}"
            );

            let expected = standard_normal(RIGHT_SIDES + 3, size, Seed::new(1)).unwrap();
            let b = expected.dot(&a);
            let mut solved = b.clone();
            cholesky.solve_rows(System::Whole, solved.view_mut()).unwrap();
            assert!((&solved - &expected).iter().all(|v| v.abs() < 1e-8), "{size}");
            let mut lengths = b.clone();
            cholesky.solve_rows(System::Forward, lengths.view_mut()).unwrap();
            for ((b, half), solved) in b.rows().into_iter().zip(lengths.rows()).zip(solved.rows()) {
                assert!((half.dot(&half) - b.dot(&solved)).abs() < 1e-8 * scale, "{size}");
            }
            if size > 0 {
                let mut unit = Array2::<f64>::zeros((1, size));
                unit[[0, size - 1]] = 1.0;
                let mut last = cholesky.last_row().to_owned().insert_axis(Axis(0));
                cholesky.solve_rows(System::Backward, last.view_mut()).unwrap();
                assert!((&last - &unit).iter().all(|v| v.abs() < 1e-9), "{size}");
            }
            let mut rounded = b.mapv(|v| v as f32);
            Cholesky::<f32>::from(&cholesky)
                .solve_rows(System::Whole, rounded.view_mut())
                .unwrap();
            assert!(
                rounded
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| (f64::from(*a) - b).abs() < 1e-2),
                "{size}"
            );
        }
    }

    #[test]
    fn matrices_without_a_factor_are_refused() {
        let mut a = positive(BLOCK + 4);
        let last = a.row(2).to_owned();
        a.row_mut(BLOCK + 1).assign(&last);
        a.column_mut(BLOCK + 1).assign(&last);
        a[[BLOCK + 1, BLOCK + 1]] = a[[2, 2]];
        let found = Cholesky::try_from(a).map(|_| ());
        assert!(
            matches!(found, Err(ProjectionError::NotPositiveDefinite { row, .. }) if row == BLOCK + 1),
            "{found:?}"
        );
        let wide = Cholesky::try_from(Array2::zeros((2, 3))).map(|_| ());
        assert!(matches!(wide, Err(ProjectionError::Mismatch(_))));
        let nan = Cholesky::try_from(Array2::from_elem((1, 1), f64::NAN)).map(|_| ());
        assert!(matches!(nan, Err(ProjectionError::FactorValue { .. })));
        let mut b = Array2::zeros((1, 2));
        let found = Cholesky::try_from(positive(3))
            .unwrap()
            .solve_rows(System::Whole, b.view_mut());
        assert!(matches!(
            found,
            Err(ProjectionError::Mismatch(Mismatch {
                expected: 3,
                given: 2,
                ..
            }))
        ));
    }
}
