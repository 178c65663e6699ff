//! Conjugate gradients on the normal equations, one panel of columns at a time.

use super::panel::{LANES, Lanes, add_scaled, panel_product};
use super::ridge::ratio;
use super::{Coordinates, Rows};
use crate::{ProjectionError, memory};

/// Solves (XᵀX + Λ) Z = C for a panel C, from weights of 0, in some coordinates.
///
/// A column has converged when the square of its residual in these coordinates is `tolerance` times that of C. An
/// intercept that depends on no weight is solved for beforehand, so that targets far from 0 converge as others do.
///
/// The error decreases with every step in the norm of the matrix, so that the last iterate is the best. A column that
/// has converged, or whose direction has no curvature left, stays as it is. If the system is singular (Λ = 0) and
/// consistent, the solution is the shortest one, in these coordinates.
///
/// Source: Hestenes, Stiefel, 1952; Golub, Van Loan, *Matrix Computations*, 4th edition, section 11.5.
pub(super) fn solve(
    x: &impl Rows,
    coordinates: &Coordinates,
    mut residual: Vec<Lanes>,
    (iterations, tolerance): (usize, f64),
) -> Result<Vec<Lanes>, ProjectionError> {
    coordinates.pull_back(&mut residual);
    let mut z = memory::filled([0.0; LANES], residual.len(), 1)?;
    if let (true, Some(z), Some(r)) = (coordinates.are_centred(), z.last_mut(), residual.last_mut()) {
        // The diagonal is 1.
        std::mem::swap(z, r);
    }
    let mut direction = memory::filled([0.0; LANES], residual.len(), 1)?;
    direction.copy_from_slice(&residual);
    let first = squares_of(&residual);
    let mut squares = first;
    let mut weight = [0.0; LANES];
    let tolerance = tolerance.max(f64::EPSILON.powi(2));
    for _ in 0..iterations {
        let mut curvature = [0.0; LANES];
        let weights = coordinates.weights(&direction);
        let mut image = panel_product(x, x, &weights, |_, t| add_squares(&mut curvature, 1.0, t))?;
        coordinates.pull_back(&mut image);
        for (j, (a, p)) in image.iter_mut().zip(&direction).enumerate() {
            add_scaled(a, coordinates.penalty_of(j), p);
            add_squares(&mut curvature, coordinates.penalty_of(j), p);
        }
        let step = ratio(&squares, &curvature);
        for ((z, r), (p, a)) in z.iter_mut().zip(&mut residual).zip(direction.iter().zip(&image)) {
            for lane in 0..LANES {
                z[lane] += step[lane] * p[lane];
                r[lane] -= step[lane] * a[lane];
            }
        }
        let next = squares_of(&residual);
        let factor = ratio(&next, &squares);
        let mut done = true;
        for lane in 0..LANES {
            let going = step[lane] > 0.0 && next[lane] > tolerance * first[lane];
            done &= !going;
            weight[lane] = if going { 1.0 } else { 0.0 };
        }
        if done {
            break;
        }
        squares = next;
        for (p, r) in direction.iter_mut().zip(&residual) {
            for lane in 0..LANES {
                p[lane] = weight[lane] * (r[lane] + factor[lane] * p[lane]);
            }
        }
    }
    Ok(coordinates.weights(&z))
}

/// ‖r‖² of each column.
fn squares_of(r: &[Lanes]) -> Lanes {
    let mut squares = [0.0; LANES];
    r.iter().for_each(|r| add_squares(&mut squares, 1.0, r));
    squares
}

fn add_squares(sums: &mut Lanes, weight: f64, values: &Lanes) {
    for lane in 0..LANES {
        sums[lane] += weight * values[lane] * values[lane];
    }
}
