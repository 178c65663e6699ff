//! Eigenvalues of symmetric matrices: Householder tridiagonalisation and implicit QL.

use ndarray::{Array1, Array2, ArrayView2, Axis, azip, s};
use rpo_core::Mismatch;
use rpo_core::math;

use super::qr::reflector;
use super::svd::{check_finite, decreasing, fix_row_signs, magnitude};
use crate::ProjectionError;

/// The eigenvalues of a symmetric matrix, in decreasing order, and its eigenvectors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SymmetricEigen {
    /// The d eigenvalues, largest first.
    pub(crate) values: Array1<f64>,
    /// The eigenvectors as rows, d x d, orthonormal; the entry of largest magnitude of each is positive.
    pub(crate) vectors: Array2<f64>,
}

/// Computes all eigenvalues and eigenvectors of a symmetric matrix, reading the entries on and above the diagonal.
///
/// Cost: about 7 d³ operations. Eigenvalues are accurate to the rounding unit times the largest one.
///
/// Source: Golub, Van Loan, *Matrix Computations*, 4th edition, sections 8.3.1 and 8.3.3; the QL iteration is that
/// of EISPACK's `tql2`.
///
/// # Errors
/// [`ProjectionError::Mismatch`] if the matrix is not square, [`ProjectionError::FactorValue`] for a value that
/// is not finite.
pub(crate) fn symmetric_eigen(a: ArrayView2<'_, f64>) -> Result<SymmetricEigen, ProjectionError> {
    let name = "the matrix of an eigenvalue problem";
    Mismatch::check("rows of a symmetric matrix", a.ncols(), a.nrows())?;
    check_finite(a, name)?;
    let scale = magnitude(a);
    let (mut diagonal, mut beside, mut vectors) = tridiagonal(a.mapv(|v| v / scale));
    implicit_ql(&mut diagonal, &mut beside, &mut vectors);
    let order = decreasing(&diagonal);
    let mut vectors = vectors.select(Axis(0), &order);
    fix_row_signs(&mut vectors);
    Ok(SymmetricEigen {
        values: order.iter().map(|&k| diagonal[k] * scale).collect(),
        vectors,
    })
}

/// Returns T and Qᵀ of A = Q T Qᵀ: the diagonal of T, its off-diagonal (with a 0 at the end) and Qᵀ.
fn tridiagonal(mut a: Array2<f64>) -> (Vec<f64>, Vec<f64>, Array2<f64>) {
    let n = a.nrows();
    let (mut beside, mut betas) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n.saturating_sub(1) {
        let (mut above, mut below) = a.view_mut().split_at(Axis(0), k + 1);
        let mut v = above.slice_mut(s![k, k + 1..]);
        let mut block = below.slice_mut(s![.., k + 1..]);
        if k == 0 {
            // The reflections below keep the block symmetric; only the entries above the diagonal are given.
            for (i, j) in (0..block.nrows()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                block[[i, j]] = block[[j, i]];
            }
        }
        if v.len() == 1 {
            beside[k] = v[0];
            break;
        }
        (beside[k], betas[k]) = reflector(v.view_mut());
        // (I - β v vᵀ) B (I - β v vᵀ) = B - v wᵀ - w vᵀ.
        let mut w = block.dot(&v) * betas[k];
        w.scaled_add(-0.5 * betas[k] * w.dot(&v), &v);
        for ((mut row, &vi), &wi) in block.rows_mut().into_iter().zip(&v).zip(&w) {
            row.scaled_add(-vi, &w);
            row.scaled_add(-wi, &v);
        }
    }
    let diagonal = a.diag().to_vec();
    let mut qt = Array2::eye(n);
    for k in (0..n.saturating_sub(2)).rev() {
        let v = a.slice(s![k, k + 1..]);
        for mut row in qt.slice_mut(s![k + 1.., k + 1..]).rows_mut() {
            let product = betas[k] * v.dot(&row);
            row.scaled_add(-product, &v);
        }
    }
    (diagonal, beside, qt)
}

/// Diagonalizes a tridiagonal matrix by rotations, which are also applied to the rows of `vectors`.
fn implicit_ql(d: &mut [f64], e: &mut [f64], vectors: &mut Array2<f64>) {
    let n = d.len();
    let (mut shift, mut size) = (0.0, 0.0_f64);
    for l in 0..n {
        size = size.max(d[l].abs() + e[l].abs());
        let small = |e: f64| e.abs() <= f64::EPSILON * size;
        let end = (l..n).find(|&m| small(e[m])).expect("the last of e is 0");
        while end > l && !small(e[l]) {
            // Wilkinson's shift, with which the iteration always converges, mostly in two or three rounds.
            let g = d[l];
            let p = (d[l + 1] - g) / (2.0 * e[l]);
            let r = math::hypot(p, 1.0).copysign(p);
            d[l] = e[l] / (p + r);
            d[l + 1] = e[l] * (p + r);
            let (next, h) = (d[l + 1], g - d[l]);
            d[l + 2..].iter_mut().for_each(|d| *d -= h);
            shift += h;

            let mut p = d[end];
            let (mut c, mut c2, mut c3) = (1.0, 1.0, 1.0);
            let (mut s, mut s2) = (0.0, 0.0);
            let first = e[l + 1];
            for i in (l..end).rev() {
                (c3, c2, s2) = (c2, c, s);
                let (g, h) = (c * e[i], c * p);
                let r = math::hypot(p, e[i]);
                e[i + 1] = s * r;
                (s, c) = (e[i] / r, p / r);
                p = c * d[i] - s * g;
                d[i + 1] = h + s * (c * g + s * d[i]);
                rotate(vectors, i, c, s);
            }
            p = -s * s2 * c3 * first * e[l] / next;
            e[l] = s * p;
            d[l] = c * p;
        }
        d[l] += shift;
        e[l] = 0.0;
    }
}

/// Rotates rows i and i + 1.
fn rotate(vectors: &mut Array2<f64>, i: usize, c: f64, s: f64) {
    let (head, tail) = vectors.view_mut().split_at(Axis(0), i + 1);
    let (low, high) = (head.index_axis_move(Axis(0), i), tail.index_axis_move(Axis(0), 0));
    azip!((low in low, high in high) (*low, *high) = (c * *low - s * *high, s * *low + c * *high));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(a: &Array2<f64>) {
        let found = symmetric_eigen(a.view()).unwrap();
        let (n, scale) = (a.nrows(), magnitude(a.view()));
        let gram = found.vectors.dot(&found.vectors.t());
        assert!(
            (gram - Array2::<f64>::eye(n))
                .iter()
                .all(|v| v.abs() < 1e-13 * n as f64)
        );
        let back = found
            .vectors
            .t()
            .dot(&(&found.vectors * &found.values.view().insert_axis(Axis(1))));
        assert!((back - a).iter().all(|v| v.abs() < 1e-13 * n as f64 * scale));
        assert!(
            found.values.windows(2).into_iter().all(|w| w[0] >= w[1]),
            "decreasing"
        );
    }

    proptest! {
        #[test]
        fn vectors_and_values_make_up_the_matrix(
            n in 1_usize..30, rank in 1_usize..5, full in any::<bool>(), density in 0.02..1.0, seed in any::<u64>(),
            scale in prop_oneof![Just(1.0), Just(1e-200), Just(1e200)],
        ) {
            use rand::Rng;
            let mut rng = rpo_core::Seed::new(seed).stream();
            let mut draw = |shape| Array2::from_shape_simple_fn(shape, || {
                if rng.gen_bool(density) { rng.gen_range(-2..3_i8).into() } else { 0.0 }
            });
            let a: Array2<f64> = if full {
                let a: Array2<f64> = draw((n, n));
                &a + &a.t()
            } else {
                let a: Array2<f64> = draw((rank, n));
                a.t().dot(&a)
            };
            check(&(a * scale));
        }
    }

    #[test]
    fn large_and_of_low_rank() {
        // 0/1 rows, like labels: most of the tridiagonal matrix is rounding error.
        for (n, rank) in [(100, 4), (300, 3), (200, 150)] {
            let rows = Array2::from_shape_fn((rank, n), |(i, j)| {
                f64::from(u8::from((i * 31 + j * 17) % 23 == 0))
            });
            check(&rows.t().dot(&rows));
        }
    }

    #[test]
    fn hand_computed() {
        let found = symmetric_eigen(ndarray::array![[2.0, 1.0], [1.0, 2.0]].view()).unwrap();
        assert!(
            (&found.values - &ndarray::array![3.0, 1.0])
                .iter()
                .all(|v: &f64| v.abs() < 1e-15)
        );
        assert_eq!(
            symmetric_eigen(Array2::zeros((3, 3)).view()).unwrap().values,
            Array1::<f64>::zeros(3)
        );
        assert_eq!(
            symmetric_eigen(Array2::zeros((0, 0)).view())
                .unwrap()
                .values
                .len(),
            0
        );
    }
}
