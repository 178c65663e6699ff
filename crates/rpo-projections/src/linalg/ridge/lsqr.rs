//! LSQR, one panel of columns at a time.

use super::{Penalties, ratio};
use crate::linalg::Rows;
use crate::linalg::panel::{LANES, Lanes, add_scaled};
use crate::{ProjectionError, memory};

/// Minimises ‖B - X Z‖² + ‖Λ^{1/2} Z‖² for B = Y Q, a panel, from Z = 0, on A = [X; Λ^{1/2}].
///
/// Source: Paige, Saunders, ACM Transactions on Mathematical Software 8, 1982, section 4; the penalty is kept as rows
/// below X, so that it may spare the intercept.
pub(super) fn solve(
    x: &impl Rows,
    penalty: &Penalties,
    y: &impl Rows,
    q: &[Lanes],
    (iterations, tolerance): (usize, f64),
) -> Result<Vec<Lanes>, ProjectionError> {
    let (n, p) = (x.row_count(), x.column_count());
    let zeros = |rows| memory::filled([0.0; LANES], rows, 1);
    // u is (upper, lower): n rows of X and p rows of the penalty.
    let (mut upper, mut lower) = (zeros(n)?, zeros(p)?);
    for (i, u) in upper.iter_mut().enumerate() {
        y.for_each_stored(i, |j, v| add_scaled(u, v, &q[j]));
    }
    let beta = normalise(&mut [&mut upper, &mut lower]);
    let mut v = zeros(p)?;
    add_transposed(x, penalty, (&upper, &lower), &mut v);
    let mut alpha = normalise(&mut [&mut v]);
    let (mut w, mut z) = (v.clone(), zeros(p)?);
    let (mut phi, mut rho) = (beta, alpha);
    // Squared Frobenius norm of the bidiagonal part, which estimates that of A.
    let mut norm = square(&alpha);
    let mut going = [true; LANES];
    let tolerance = tolerance.max(f64::EPSILON);
    for _ in 0..iterations {
        scale_rows(&mut upper, &negative(&alpha));
        scale_rows(&mut lower, &negative(&alpha));
        for (i, u) in upper.iter_mut().enumerate() {
            x.for_each_stored(i, |j, value| add_scaled(u, value, &v[j]));
        }
        for (j, u) in lower.iter_mut().enumerate() {
            add_scaled(u, penalty.of(j).sqrt(), &v[j]);
        }
        let beta = normalise(&mut [&mut upper, &mut lower]);
        scale_rows(&mut v, &negative(&beta));
        add_transposed(x, penalty, (&upper, &lower), &mut v);
        alpha = normalise(&mut [&mut v]);

        let (mut step, mut turn) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let length = rho[lane].hypot(beta[lane]);
            // What comes after convergence is rounding.
            going[lane] &= length > 0.0;
            if !going[lane] {
                continue;
            }
            let (c, s) = (rho[lane] / length, beta[lane] / length);
            step[lane] = c * phi[lane] / length;
            turn[lane] = s * alpha[lane] / length;
            rho[lane] = -c * alpha[lane];
            phi[lane] *= s;
            norm[lane] += beta[lane].powi(2) + alpha[lane].powi(2);
            // ‖Aᵀr‖ = phi alpha |c|, ‖r‖ = phi.
            let normal = alpha[lane] * c.abs();
            going[lane] = phi[lane] > 0.0 && normal > tolerance * norm[lane].sqrt();
        }
        for ((z, w), v) in z.iter_mut().zip(&mut w).zip(&v) {
            for lane in 0..LANES {
                z[lane] += step[lane] * w[lane];
                w[lane] = v[lane] - turn[lane] * w[lane];
            }
        }
        if !going.contains(&true) {
            break;
        }
    }
    Ok(z)
}

/// `v += Aᵀ u`.
fn add_transposed(x: &impl Rows, penalty: &Penalties, (upper, lower): (&[Lanes], &[Lanes]), v: &mut [Lanes]) {
    for (i, u) in upper.iter().enumerate() {
        x.for_each_stored(i, |j, value| add_scaled(&mut v[j], value, u));
    }
    for (j, (v, u)) in v.iter_mut().zip(lower).enumerate() {
        add_scaled(v, penalty.of(j).sqrt(), u);
    }
}

/// Divides the columns of stacked panels by their lengths, which are returned; columns of zeros stay.
fn normalise(parts: &mut [&mut Vec<Lanes>]) -> Lanes {
    let mut squares = [0.0; LANES];
    for values in parts.iter().flat_map(|part| part.iter()) {
        for lane in 0..LANES {
            squares[lane] += values[lane] * values[lane];
        }
    }
    let lengths = squares.map(f64::sqrt);
    let inverse = ratio(&[1.0; LANES], &lengths);
    parts.iter_mut().for_each(|part| scale_rows(part, &inverse));
    lengths
}

fn scale_rows(rows: &mut [Lanes], factors: &Lanes) {
    for row in rows {
        for lane in 0..LANES {
            row[lane] *= factors[lane];
        }
    }
}

fn negative(a: &Lanes) -> Lanes {
    a.map(|v| -v)
}

fn square(a: &Lanes) -> Lanes {
    a.map(|v| v * v)
}
