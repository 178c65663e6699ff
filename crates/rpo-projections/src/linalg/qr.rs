//! Householder reflections and the QR decomposition.

use ndarray::{Array2, ArrayView2, ArrayViewMut1, Axis, s};

/// Vectors shorter than this, in a matrix scaled to entries of at most 1, count as 0: the change is far below rounding,
/// and no square of the remaining entries underflows.
const NEGLIGIBLE: f64 = 1e-30;

/// Replaces x by a vector v such that (I - β v vᵀ) x = α e₁, and returns (α, β).
pub(super) fn reflector(mut x: ArrayViewMut1<'_, f64>) -> (f64, f64) {
    let norm = x.dot(&x).sqrt();
    if norm < NEGLIGIBLE {
        return (x[0], 0.0);
    }
    // The sign is chosen so that nothing cancels.
    let signed = norm.copysign(x[0]);
    x[0] += signed;
    (-signed, 2.0 / x.dot(&x))
}

/// Returns the factors of A (r x k) = Q R, with q = min(r, k): Qᵀ (q x r) has orthonormal rows, R (q x k) is upper
/// triangular. The entries of A must be scaled to at most 1.
pub(super) fn qr(a: ArrayView2<'_, f64>) -> (Array2<f64>, Array2<f64>) {
    let steps = a.nrows().min(a.ncols());
    // Stores columns as rows, so that every product runs over contiguous numbers.
    let mut columns = a.t().as_standard_layout().into_owned();
    let mut betas = vec![0.0; steps];
    let mut r = Array2::zeros((steps, a.ncols()));
    for j in 0..steps {
        let (head, mut rest) = columns.view_mut().split_at(Axis(0), j + 1);
        let mut v = head.index_axis_move(Axis(0), j).slice_move(s![j..]);
        let (alpha, beta) = reflector(v.view_mut());
        (r[[j, j]], betas[j]) = (alpha, beta);
        for (mut column, k) in rest.rows_mut().into_iter().zip(j + 1..) {
            let mut below = column.slice_mut(s![j..]);
            let product = beta * v.dot(&below);
            below.scaled_add(-product, &v);
            r[[j, k]] = below[0];
        }
    }
    let mut qt = Array2::zeros((steps, a.nrows()));
    qt.diag_mut().fill(1.0);
    for j in (0..steps).rev() {
        let v = columns.slice(s![j, j..]);
        for mut row in qt.slice_mut(s![j.., j..]).rows_mut() {
            let product = betas[j] * v.dot(&row);
            row.scaled_add(-product, &v);
        }
    }
    (qt, r)
}
