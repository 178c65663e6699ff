//! Conjugate gradients on the normal equations, one panel of columns at a time.

use super::Rows;
use super::panel::{LANES, Lanes, add_scaled, panel_product};
use super::ridge::{Penalties, ratio};
use crate::{ProjectionError, memory};

/// Solves (XᵀX + Λ) Z = C for a panel C, from Z = 0.
///
/// The error decreases with every step in the norm of the matrix, so that the last iterate is the best. A column that
/// has converged, or whose direction has no curvature left, stays as it is. If the system is singular (Λ = 0) and
/// consistent, the solution is the shortest one.
///
/// Source: Hestenes, Stiefel, 1952; Golub, Van Loan, *Matrix Computations*, 4th edition, section 11.5.
pub(super) fn solve(
    x: &impl Rows,
    penalty: &Penalties,
    mut residual: Vec<Lanes>,
    preconditioner: Option<&[f64]>,
    (iterations, tolerance): (usize, f64),
) -> Result<Vec<Lanes>, ProjectionError> {
    let scale = |j: usize| preconditioner.map_or(1.0, |m| m[j]);
    let mut z = memory::filled([0.0; LANES], residual.len(), 1)?;
    let mut direction = memory::filled([0.0; LANES], residual.len(), 1)?;
    let (first, mut energy) = norms(&residual, scale);
    let mut weight = [0.0; LANES];
    let tolerance = tolerance.max(f64::EPSILON.powi(2));
    for (j, (p, r)) in direction.iter_mut().zip(&residual).enumerate() {
        add_scaled(p, scale(j), r);
    }
    for _ in 0..iterations {
        let mut curvature = [0.0; LANES];
        let mut image = panel_product(x, x, &direction, |_, t| add_squares(&mut curvature, 1.0, t))?;
        for (j, (a, p)) in image.iter_mut().zip(&direction).enumerate() {
            add_scaled(a, penalty.of(j), p);
            add_squares(&mut curvature, penalty.of(j), p);
        }
        let step = ratio(&energy, &curvature);
        for ((z, r), (p, a)) in z.iter_mut().zip(&mut residual).zip(direction.iter().zip(&image)) {
            for lane in 0..LANES {
                z[lane] += step[lane] * p[lane];
                r[lane] -= step[lane] * a[lane];
            }
        }
        let (squares, next) = norms(&residual, scale);
        let factor = ratio(&next, &energy);
        let mut done = true;
        for lane in 0..LANES {
            let going = step[lane] > 0.0 && squares[lane] > tolerance * first[lane];
            done &= !going;
            weight[lane] = if going { 1.0 } else { 0.0 };
        }
        if done {
            break;
        }
        energy = next;
        for (j, (p, r)) in direction.iter_mut().zip(&residual).enumerate() {
            for lane in 0..LANES {
                p[lane] = weight[lane] * (scale(j) * r[lane] + factor[lane] * p[lane]);
            }
        }
    }
    Ok(z)
}

/// ‖r‖² and rᵀMr of each column.
fn norms(r: &[Lanes], scale: impl Fn(usize) -> f64) -> (Lanes, Lanes) {
    let (mut squares, mut energy) = ([0.0; LANES], [0.0; LANES]);
    for (j, r) in r.iter().enumerate() {
        add_squares(&mut squares, 1.0, r);
        add_squares(&mut energy, scale(j), r);
    }
    (squares, energy)
}

fn add_squares(sums: &mut Lanes, weight: f64, values: &Lanes) {
    for lane in 0..LANES {
        sums[lane] += weight * values[lane] * values[lane];
    }
}
