//! Orthonormal bases of matrices with many rows and few columns.

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use rayon::prelude::*;
use rpo_core::{product, product_into};

use super::{orthonormal_basis, symmetric_eigen};
use crate::ProjectionError;

/// Number of rows that one task multiplies: fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 4096;
/// Directions whose squared length is below this fraction of the largest are dropped.
const NEGLIGIBLE: f64 = 1e-14;

/// Returns AᵀB for two matrices with the same number of rows (d x a, d x b).
pub(crate) fn thin_gram(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let parts: Vec<Array2<f64>> = (0..a.nrows().div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let rows = s![chunk * CHUNK..a.nrows().min((chunk + 1) * CHUNK), ..];
            product(a.slice(rows).t(), b.slice(rows))
        })
        .collect();
    let mut sum = Array2::zeros((a.ncols(), b.ncols()));
    parts.iter().for_each(|part| sum += part);
    sum
}

/// Returns an orthonormal basis (d x k', k' <= k) of the columns of A (d x k), except for directions of negligible
/// length (1e-7 of the longest).
///
/// Uses the eigenvectors of AᵀA, twice, since the first pass leaves an error of the rounding unit times the squared
/// ratio of lengths. Costs four products of d k² operations, which run at full processor speed, whereas reflections
/// wait for memory. [`orthonormal_basis`] is for small matrices and keeps every direction above rounding.
pub(crate) fn orthonormal(a: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
    let first = scaled_eigenvectors(a)?;
    let basis = times(a, first.view());
    let second = scaled_eigenvectors(basis.view())?;
    Ok(times(basis.view(), second.view()))
}

/// Returns U Λ^{-1/2} of AᵀA = U Λ Uᵀ, without the negligible directions.
fn scaled_eigenvectors(a: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
    let eigen = symmetric_eigen(thin_gram(a, a).view())?;
    let largest = eigen.values.first().copied().unwrap_or(0.0);
    let kept = eigen
        .values
        .iter()
        .take_while(|v| **v > NEGLIGIBLE * largest)
        .count();
    let mut vectors = eigen.vectors.slice_move(s![..kept, ..]);
    for (mut row, value) in vectors.rows_mut().into_iter().zip(&eigen.values) {
        row /= value.sqrt();
    }
    Ok(vectors.reversed_axes())
}

/// Returns A B for an A with many rows.
pub(crate) fn times(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    out.axis_chunks_iter_mut(Axis(0), CHUNK)
        .into_par_iter()
        .zip(a.axis_chunks_iter(Axis(0), CHUNK))
        .for_each(|(out, a)| product_into(a, b, out));
    out
}

/// Extends a basis (d x r) to `columns` directions if the outputs vary in fewer. The added directions are orthogonal to
/// it, and the outputs do not vary in them, so that their choice makes no difference to what is learned.
pub(crate) fn completed(
    q: Array2<f64>,
    columns: usize,
    omega: ArrayView2<'_, f64>,
) -> Result<Array2<f64>, ProjectionError> {
    let missing = columns.saturating_sub(q.ncols());
    if missing == 0 {
        return Ok(q);
    }
    let mut rest = omega.slice(s![.., ..missing]).to_owned();
    // Orthogonality to within rounding takes two passes.
    for _ in 0..2 {
        rest = orthonormal_basis((&rest - &product(q.view(), product(q.t(), rest.view()).view())).view())?;
    }
    Ok(concatenate![Axis(1), q, rest])
}

#[cfg(test)]
mod tests {
    use super::super::standard_normal;
    use super::*;
    use rpo_core::Seed;

    #[test]
    fn bases_are_orthonormal_and_span_the_columns() {
        for (d, k, rank) in [(1, 1, 1), (30, 7, 7), (CHUNK + 10, 12, 5), (40, 6, 0)] {
            let left = standard_normal(d, rank, Seed::new(1)).unwrap();
            let mut right = standard_normal(rank, k, Seed::new(2)).unwrap();
            // Lengths over six orders of magnitude.
            for (i, mut row) in right.rows_mut().into_iter().enumerate() {
                row *= 10.0_f64.powi(-(i as i32));
            }
            let a = left.dot(&right);
            let q = orthonormal(a.view()).unwrap();
            assert_eq!(q.ncols(), rank);
            let gram = q.t().dot(&q) - Array2::<f64>::eye(rank);
            assert!(gram.iter().all(|v| v.abs() < 1e-13));
            let back = q.dot(&q.t().dot(&a));
            assert!((back - &a).iter().all(|v| v.abs() < 1e-9));
        }
    }
}
