//! Randomized range finder.

use ndarray::{Array2, ArrayView2, s};
use rpo_core::math::Normals;
use rpo_core::{Seed, product};

use super::LinearOperator;
use super::qr::qr;
use super::svd::{check_finite, dense_svd, magnitude};
use crate::{ProjectionError, memory};

/// Draws a matrix of independent N(0, 1) entries, row by row.
///
/// # Errors
/// [`ProjectionError::OutOfMemory`] if it does not fit.
pub fn standard_normal(rows: usize, columns: usize, seed: Seed) -> Result<Array2<f64>, ProjectionError> {
    let mut rng = seed.stream();
    let mut out: Array2<f64> = memory::zeros(rows, columns)?;
    let mut normals = Normals::new(&mut rng);
    out.iter_mut().for_each(|x| *x = normals.draw());
    Ok(out)
}

/// Returns an orthonormal basis Q (r x k', k' <= k) of the range of A (r x k).
///
/// Householder QR, then the singular value decomposition of the small factor. Directions with singular values below
/// `max(r, k)` times the rounding unit, relative to the largest, are dropped. The basis of a zero matrix is empty.
///
/// # Errors
/// [`ProjectionError::FactorValue`] for a value that is not finite.
pub(crate) fn orthonormal_basis(a: ArrayView2<'_, f64>) -> Result<Array2<f64>, ProjectionError> {
    check_finite(a, "the matrix of a basis")?;
    let tolerance = a.nrows().max(a.ncols()) as f64 * f64::EPSILON;
    let scale = magnitude(a);
    let (qt, r) = qr(a.mapv(|v| v / scale).view());
    let svd = dense_svd(r.view());
    let rank = svd
        .singular_values
        .iter()
        .take_while(|s| **s > tolerance * svd.singular_values[0])
        .count();
    Ok(product(qt.t(), svd.u.slice(s![.., ..rank])))
}

/// Returns an orthonormal basis Q (r x k', k' <= k) that approximately spans the range of the operator A (r x c), from
/// a probe Ω (c x k): Q = orth(A Ω), then `power_iterations` times Q = orth(A orth(Aᵀ Q)).
///
/// Choose k slightly larger than the wanted rank (10 more, say) and one or two iterations if singular values fall
/// slowly. Cost: 1 + 2 q products of A with k columns.
///
/// Source: Halko, Martinsson, Tropp, SIAM Review 53, 2011, algorithms 4.1 and 4.4.
///
/// # Errors
/// [`ProjectionError::Mismatch`] unless Ω has c rows, and [`ProjectionError::FactorValue`] if a product is not finite.
pub(crate) fn range_finder(
    a: &impl LinearOperator,
    omega: ArrayView2<'_, f64>,
    power_iterations: usize,
) -> Result<Array2<f64>, ProjectionError> {
    let mut q = orthonormal_basis(a.apply(omega)?.view())?;
    for _ in 0..power_iterations {
        let back = orthonormal_basis(a.apply_transpose(q.view())?.view())?;
        q = orthonormal_basis(a.apply(back.view())?.view())?;
    }
    Ok(q)
}
