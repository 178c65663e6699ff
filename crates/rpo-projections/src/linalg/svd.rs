//! Singular values of small dense matrices.

use ndarray::{Array1, Array2, ArrayView2, Axis, azip};
use rpo_core::{math, product};

use super::qr::qr;
use crate::ProjectionError;

/// A singular value decomposition, A = U diag(s) Vᵀ.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Svd {
    /// Left singular vectors, r x k, orthonormal columns.
    pub(crate) u: Array2<f64>,
    /// Singular values, k, in decreasing order.
    pub(crate) singular_values: Array1<f64>,
    /// Right singular vectors, k x c, orthonormal rows; the entry of largest magnitude of each is positive.
    pub(crate) vt: Array2<f64>,
}

/// Computes all min(r, c) singular values of a finite matrix and their vectors.
///
/// QR, then the one-sided Jacobi iteration on the square factor: accurate to the rounding unit times the largest
/// singular value, at any rank. Source: Golub, Van Loan, *Matrix Computations*, 4th edition, section 8.6.3.
pub(crate) fn dense_svd(a: ArrayView2<'_, f64>) -> Svd {
    if a.nrows() < a.ncols() {
        let Svd {
            u,
            singular_values,
            vt,
        } = dense_svd(a.t());
        return with_fixed_signs(vt.reversed_axes(), singular_values, u.reversed_axes());
    }
    let scale = magnitude(a);
    let (qt, r) = qr(a.mapv(|v| v / scale).view());
    // R V has orthogonal columns, whose lengths are the singular values; columns are stored as rows.
    let mut columns = r.reversed_axes().as_standard_layout().into_owned();
    let mut vt = Array2::eye(columns.nrows());
    orthogonalise(&mut columns, &mut vt);
    let lengths = columns
        .rows()
        .into_iter()
        .map(|row| row.dot(&row).sqrt())
        .collect::<Vec<_>>();
    let order = decreasing(&lengths);
    let mut ut = columns.select(Axis(0), &order);
    let singular_values = order.iter().map(|&k| lengths[k]).collect::<Array1<f64>>();
    normalise(&mut ut, &singular_values);
    with_fixed_signs(
        product(ut.view(), qt.view()).reversed_axes(),
        singular_values * scale,
        vt.select(Axis(0), &order),
    )
}

/// Rotates pairs of rows until all are orthogonal, and applies the rotations to the rows of `vt` too.
fn orthogonalise(rows: &mut Array2<f64>, vt: &mut Array2<f64>) {
    let n = rows.nrows();
    let total: f64 = rows.iter().map(|v| v * v).sum();
    // Products below this are rounding errors of the whole matrix, such as those between rows that should be 0.
    let negligible = f64::EPSILON * f64::EPSILON * total;
    let mut rotated = true;
    while rotated {
        rotated = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let (a, b) = (rows.row(p), rows.row(q));
            let (aa, bb, ab) = (a.dot(&a), b.dot(&b), a.dot(&b));
            if ab.abs() <= n as f64 * f64::EPSILON * (aa * bb).sqrt() + negligible {
                continue;
            }
            rotated = true;
            let zeta = (bb - aa) / (2.0 * ab);
            let t = 1.0_f64.copysign(zeta) / (zeta.abs() + math::hypot(zeta, 1.0));
            let c = math::hypot(t, 1.0).recip();
            rotate(rows, (p, q), c, c * t);
            rotate(vt, (p, q), c, c * t);
        }
    }
}

fn rotate(rows: &mut Array2<f64>, (p, q): (usize, usize), c: f64, s: f64) {
    let (head, tail) = rows.view_mut().split_at(Axis(0), q);
    let (a, b) = (head.index_axis_move(Axis(0), p), tail.index_axis_move(Axis(0), 0));
    azip!((a in a, b in b) (*a, *b) = (c * *a - s * *b, s * *a + c * *b));
}

/// Divides rows by their lengths, which decrease. Rows whose length is a rounding error are replaced by unit vectors
/// orthogonal to all others.
fn normalise(rows: &mut Array2<f64>, lengths: &Array1<f64>) {
    let n = rows.nrows();
    let rounding = n as f64 * f64::EPSILON * lengths.first().copied().unwrap_or(0.0);
    let mut axes = 0..n;
    for k in 0..n {
        if lengths[k] > rounding {
            rows.row_mut(k).mapv_inplace(|v| v / lengths[k]);
            continue;
        }
        // At least one of n axes has a length of 1/√n outside the span of the k < n directions.
        loop {
            let axis = axes.next().expect("some axis is not spanned yet");
            let (taken, mut rest) = rows.view_mut().split_at(Axis(0), k);
            let mut row = rest.row_mut(0);
            row.fill(0.0);
            row[axis] = 1.0;
            for _ in 0..2 {
                let shadow = taken.t().dot(&taken.dot(&row));
                row -= &shadow;
            }
            let length = row.dot(&row).sqrt();
            if length > 0.5 / (n as f64).sqrt() {
                row /= length;
                break;
            }
        }
    }
}

fn with_fixed_signs(mut u: Array2<f64>, singular_values: Array1<f64>, mut vt: Array2<f64>) -> Svd {
    for (mut row, mut column) in vt.rows_mut().into_iter().zip(u.columns_mut()) {
        let sign = sign_of_largest(row.iter());
        row *= sign;
        column *= sign;
    }
    Svd {
        u,
        singular_values,
        vt,
    }
}

/// Makes the entry of largest magnitude of each row positive.
pub(crate) fn fix_row_signs(vectors: &mut Array2<f64>) {
    for mut row in vectors.rows_mut() {
        let sign = sign_of_largest(row.iter());
        row *= sign;
    }
}

/// Returns the sign of the entry of largest magnitude; ties go to the first.
fn sign_of_largest<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let largest = values.fold(0.0_f64, |best, &v| if v.abs() > best.abs() { v } else { best });
    if largest < 0.0 { -1.0 } else { 1.0 }
}

/// Returns the indices that sort values in decreasing order; ties stay in order.
pub(super) fn decreasing(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

/// Returns the largest magnitude of an entry; 1 for a zero matrix.
pub(super) fn magnitude(a: ArrayView2<'_, f64>) -> f64 {
    let largest = a.iter().fold(0.0_f64, |best, v| best.max(v.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

pub(crate) fn check_finite(a: ArrayView2<'_, f64>, name: &'static str) -> Result<(), ProjectionError> {
    match a.indexed_iter().find(|(_, v)| !v.is_finite()) {
        Some(((row, column), &value)) => Err(ProjectionError::FactorValue {
            name,
            row,
            column,
            value,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::Rng;
    use rpo_core::Seed;

    proptest! {
        /// All shapes, ranks and scales, with many zeros, as labels have.
        #[test]
        fn factors_are_orthonormal_and_make_up_the_matrix(
            r in 1_usize..30, c in 1_usize..30, rank in 1_usize..30, density in 0.02..1.0, seed in any::<u64>(),
            scale in prop_oneof![Just(1.0), Just(1e-250), Just(1e250)],
        ) {
            let mut rng = Seed::new(seed).stream();
            let mut draw = |shape| Array2::from_shape_simple_fn(shape, || {
                if rng.gen_bool(density) { rng.gen_range(-2..3_i8).into() } else { 0.0 }
            });
            let (left, right): (Array2<f64>, Array2<f64>) = (draw((r, rank)), draw((rank, c)));
            let a = left.dot(&right) * scale;
            let svd = dense_svd(a.view());
            let identity = Array2::<f64>::eye(r.min(c));
            prop_assert!((svd.u.t().dot(&svd.u) - &identity).iter().all(|v| v.abs() < 1e-12));
            prop_assert!((svd.vt.dot(&svd.vt.t()) - &identity).iter().all(|v| v.abs() < 1e-12));
            prop_assert!(svd.singular_values.windows(2).into_iter().all(|w| w[0] >= w[1]));
            let back = (&svd.u * &svd.singular_values).dot(&svd.vt);
            prop_assert!((back - &a).iter().all(|v| v.abs() < 1e-12 * magnitude(a.view())));
        }
    }
}
