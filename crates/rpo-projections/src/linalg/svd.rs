//! Singular values, exact for small matrices and randomized for operators; eigenvalues of symmetric matrices.

use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2, ArrayView2};
use rpo_core::Seed;

use super::{LinearOperator, range_finder, standard_normal};
use crate::ProjectionError;

/// The leading part of a singular value decomposition, A ≈ U diag(s) Vᵀ.
#[derive(Debug, Clone, PartialEq)]
pub struct TruncatedSvd {
    /// Left singular vectors, r x k, orthonormal columns.
    pub u: Array2<f64>,
    /// Singular values, k, in decreasing order.
    pub singular_values: Array1<f64>,
    /// Right singular vectors, k x c, orthonormal rows; the entry of largest magnitude of each is positive.
    pub vt: Array2<f64>,
}

/// The k largest singular values of a small dense matrix and their vectors.
///
/// # Errors
/// [`ProjectionError::NoComponents`] for k = 0, [`ProjectionError::TooManyComponents`] for k above the smaller
/// side, [`ProjectionError::FactorValue`] for a value that is not finite.
pub fn truncated_svd(a: ArrayView2<'_, f64>, k: usize) -> Result<TruncatedSvd, ProjectionError> {
    check_rank(a.dim(), k)?;
    let svd = dense_svd(&to_nalgebra(a, "the matrix of a singular value decomposition")?);
    Ok(svd.truncate(k))
}

/// The k largest singular values of an operator A (r x c) and their vectors, approximately: the exact
/// decomposition of Qᵀ A, with Q the [`range_finder`] basis of a Gaussian probe with k + `oversampling` columns.
///
/// Source: Halko, Martinsson, Tropp, SIAM Review 53, 2011, algorithm 5.1.
///
/// # Errors
/// As [`truncated_svd`] and [`range_finder`]; [`ProjectionError::TooManyComponents`] also if the operator has
/// fewer than k directions.
pub fn randomized_svd(
    a: &impl LinearOperator,
    k: usize,
    oversampling: usize,
    power_iterations: usize,
    seed: Seed,
) -> Result<TruncatedSvd, ProjectionError> {
    let shape = (a.n_rows(), a.n_cols());
    check_rank(shape, k)?;
    let probes = k.saturating_add(oversampling).min(shape.0).min(shape.1);
    let omega = standard_normal(shape.1, probes, seed)?;
    let q = range_finder(a, omega.view(), power_iterations)?;
    // Qᵀ A = (Aᵀ Q)ᵀ.
    let small = a.apply_transpose(q.view())?.reversed_axes();
    let mut svd = truncated_svd(small.view(), k)?;
    svd.u = q.dot(&svd.u);
    Ok(svd)
}

/// The eigenvalues of a symmetric matrix in decreasing order.
#[derive(Debug, Clone, PartialEq)]
pub struct SymmetricEigen {
    /// The d eigenvalues, the largest first.
    pub values: Array1<f64>,
    /// The eigenvectors as rows, d x d, orthonormal; the entry of largest magnitude of each is positive.
    pub vectors: Array2<f64>,
}

/// All eigenvalues and eigenvectors of a small symmetric matrix; only its lower triangle is read.
///
/// # Errors
/// [`ProjectionError::FactorRows`] if the matrix is not square, [`ProjectionError::FactorValue`] for a value that
/// is not finite.
pub fn symmetric_eigen(a: ArrayView2<'_, f64>) -> Result<SymmetricEigen, ProjectionError> {
    let name = "the matrix of an eigenvalue problem";
    if a.nrows() != a.ncols() {
        return Err(ProjectionError::FactorRows {
            name,
            expected: a.ncols(),
            found: a.nrows(),
        });
    }
    let eigen = nalgebra::SymmetricEigen::new(to_nalgebra(a, name)?);
    let order = decreasing(&eigen.eigenvalues);
    let mut vectors = Array2::zeros(a.dim());
    for (mut row, &k) in vectors.rows_mut().into_iter().zip(&order) {
        row.iter_mut()
            .zip(eigen.eigenvectors.column(k).iter())
            .for_each(|(x, v)| *x = *v);
    }
    fix_row_signs(&mut vectors);
    Ok(SymmetricEigen {
        values: order.iter().map(|&k| eigen.eigenvalues[k]).collect(),
        vectors,
    })
}

/// A full decomposition in decreasing order, with the sign convention of this module.
pub(super) struct DenseSvd {
    pub(super) u: DMatrix<f64>,
    pub(super) singular_values: Vec<f64>,
    vt: DMatrix<f64>,
}

impl DenseSvd {
    fn truncate(&self, k: usize) -> TruncatedSvd {
        TruncatedSvd {
            u: to_ndarray(&self.u.columns(0, k).into_owned()),
            singular_values: self.singular_values[..k].iter().copied().collect(),
            vt: to_ndarray(&self.vt.rows(0, k).into_owned()),
        }
    }
}

pub(super) fn dense_svd(a: &DMatrix<f64>) -> DenseSvd {
    let svd = a.clone().svd_unordered(true, true);
    let (u, vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let order = decreasing(&svd.singular_values);
    let mut ordered = DenseSvd {
        u: u.select_columns(&order),
        singular_values: order.iter().map(|&k| svd.singular_values[k]).collect(),
        vt: vt.select_rows(&order),
    };
    for k in 0..order.len() {
        let sign = sign_of_largest(ordered.vt.row(k).iter());
        ordered.vt.row_mut(k).scale_mut(sign);
        ordered.u.column_mut(k).scale_mut(sign);
    }
    ordered
}

fn decreasing(values: &DVector<f64>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

/// Makes the entry of largest magnitude of each row positive.
pub(crate) fn fix_row_signs(vectors: &mut Array2<f64>) {
    for mut row in vectors.rows_mut() {
        let sign = sign_of_largest(row.iter());
        row *= sign;
    }
}

/// The sign of the entry of largest magnitude, the first of equals.
fn sign_of_largest<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let largest = values.fold(0.0_f64, |best, &v| if v.abs() > best.abs() { v } else { best });
    if largest < 0.0 { -1.0 } else { 1.0 }
}

fn check_rank((rows, columns): (usize, usize), k: usize) -> Result<(), ProjectionError> {
    let limit = rows.min(columns);
    match k {
        0 => Err(ProjectionError::NoComponents),
        _ if k > limit => Err(ProjectionError::TooManyComponents {
            family: "a singular value decomposition",
            n_components: k,
            limit,
        }),
        _ => Ok(()),
    }
}

pub(super) fn to_nalgebra(
    a: ArrayView2<'_, f64>,
    name: &'static str,
) -> Result<DMatrix<f64>, ProjectionError> {
    match a.indexed_iter().find(|(_, v)| !v.is_finite()) {
        Some(((row, column), &value)) => Err(ProjectionError::FactorValue {
            name,
            row,
            column,
            value,
        }),
        None => Ok(DMatrix::from_row_iterator(
            a.nrows(),
            a.ncols(),
            a.iter().copied(),
        )),
    }
}

pub(super) fn to_ndarray(a: &DMatrix<f64>) -> Array2<f64> {
    Array2::from_shape_fn(a.shape(), |at| a[at])
}
