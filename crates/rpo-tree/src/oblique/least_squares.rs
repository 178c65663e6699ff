//! Ridge regression by conjugate gradients.

use super::design::{Batch, DesignMatrix};
use super::real::Real;

/// Minimises `‖A w − u‖² + λ ‖w‖²`, with λ = `ridge` · tr(AᵀA) / (number of columns), from w = 0 by conjugate gradients
/// on the least squares problem (Björck, *Numerical Methods for Least Squares Problems*, 1996, section 7.4). This needs
/// only products with A and Aᵀ and never forms AᵀA.
///
/// Stops when the gradient is 1e-5 of its initial size, or after 100 steps: the result is a start for another solver,
/// so more steps would be wasted. A may have more columns than rows and any rank; then w is, up to λ, the smallest
/// solution.
pub(crate) fn least_squares<T: Real, D: DesignMatrix<T>>(design: &D, targets: &[T], ridge: f64) -> Vec<T> {
    const STEPS: usize = 100;
    const TOLERANCE: f64 = 1e-5;
    let lambda = ridge * design.squared_norm() / (design.bias() + 1) as f64;
    let mut w = vec![T::default(); design.n_columns()];
    let mut residual = targets.to_vec();
    let mut gradient = vec![T::default(); design.n_columns()];
    let mut image = vec![T::default(); design.n_rows()];
    design.transposed(Batch::All, &residual, &mut gradient);
    let mut direction = gradient.clone();
    let mut size = squared(&gradient);
    let enough = size * TOLERANCE * TOLERANCE;
    for _ in 0..STEPS {
        if size <= enough {
            break;
        }
        design.margins(Batch::All, &direction, &mut image);
        let curvature = squared(&image) + lambda * squared(&direction);
        let step = size / curvature;
        add(&mut w, step, &direction);
        add(&mut residual, -step, &image);
        design.transposed(Batch::All, &residual, &mut gradient);
        add(&mut gradient, -lambda, &w);
        let before = std::mem::replace(&mut size, squared(&gradient));
        let keep = T::from_f64(size / before);
        for (d, &g) in direction.iter_mut().zip(&gradient) {
            *d = g + keep * *d;
        }
    }
    w
}

/// Returns ‖a‖².
pub(super) fn squared<T: Real>(a: &[T]) -> f64 {
    a.iter().map(|v| v.to_f64().powi(2)).sum()
}

/// Computes a += factor · b.
pub(super) fn add<T: Real>(a: &mut [T], factor: f64, b: &[T]) {
    let factor = T::from_f64(factor);
    a.iter_mut().zip(b).for_each(|(a, &b)| *a += factor * b);
}

#[cfg(test)]
mod tests {
    use super::super::design::DenseDesign;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// At the solution the gradient Aᵀ(u − A w) − λ w is 0; for λ > 0 the solution is unique.
        #[test]
        fn the_normal_equations_hold(
            (n, p) in (1_usize..12, 1_usize..12),
            cells in prop::collection::vec(-2.0..2.0, 12 * 12),
            signs in prop::collection::vec(prop::sample::select(vec![-1.0, 1.0]), 12),
        ) {
            let design = DenseDesign::new(n, p, |i, row| row.copy_from_slice(&cells[i * 12..][..p]));
            let w = least_squares(&design, &signs[..n], 1e-2);
            let a = |i: usize, j: usize| -> f64 { if j == p { 1.0 } else { cells[i * 12 + j] } };
            let lambda = 1e-2 * (0..n).flat_map(|i| (0..=p).map(move |j| a(i, j).powi(2))).sum::<f64>() / (p + 1) as f64;
            let residual: Vec<f64> = (0..n).map(|i| signs[i] - (0..=p).map(|j| a(i, j) * w[j]).sum::<f64>()).collect();
            for j in 0..=p {
                let gradient: f64 = (0..n).map(|i| a(i, j) * residual[i]).sum::<f64>() - lambda * w[j];
                prop_assert!(gradient.abs() < 1e-3 * n as f64, "{gradient}");
            }
            prop_assert!(w[p + 1..].iter().all(|&w| w == 0.0));
        }
    }
}
