//! Gauss-Legendre quadrature on [0, 1].

use std::f64::consts::PI;

/// Points t and weights w such that Σ w f(t) is the integral of f over [0, 1], for polynomials f of degree below twice
/// the number of points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quadrature {
    pub(super) points: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Quadrature {
    /// Returns the rule of `n` points: the roots of the Legendre polynomial of degree n, by Newton's method from
    /// their asymptotic values (Abramowitz and Stegun 1964, 25.4.29 and 22.16.6).
    pub(super) fn new(n: usize) -> Self {
        let root = |i: usize| {
            let mut x = cosine(PI * (i as f64 + 0.75) / (n as f64 + 0.5));
            // Convergence is quadratic: five steps are enough for any n, the others cost nothing that matters.
            for _ in 0..10 {
                let (value, slope) = legendre(n, x);
                x -= value / slope;
            }
            let (_, slope) = legendre(n, x);
            (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
        };
        let (points, weights) = (0..n).map(root).unzip();
        Self { points, weights }
    }
}

/// Returns the cosine of an angle in [0, π] by its power series, to about 1e-15, with the same bits on all processors.
fn cosine(angle: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..=20 {
        let k = f64::from(k);
        term *= -angle * angle / ((2.0 * k - 1.0) * 2.0 * k);
        sum += term;
    }
    sum
}

/// Returns the value and the derivative of the Legendre polynomial of degree n > 0 at x, inside (-1, 1).
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 2..=n {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
    }
    (value, n as f64 * (before - x * value) / (1.0 - x * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_exactly() {
        for n in [1, 2, 3, 10, 50, 200, 5000] {
            let rule = Quadrature::new(n);
            assert!(rule.points.iter().all(|t| (0.0..1.0).contains(t)));
            for degree in [0, 1, n, 2 * n - 1] {
                let sum: f64 = rule
                    .points
                    .iter()
                    .zip(&rule.weights)
                    .map(|(t, w)| w * rpo_core::math::powi(*t, degree as u32))
                    .sum();
                assert!(
                    (sum * (degree + 1) as f64 - 1.0).abs() < 1e-11,
                    "{n} points, degree {degree}: {sum}"
                );
            }
        }
    }
}
