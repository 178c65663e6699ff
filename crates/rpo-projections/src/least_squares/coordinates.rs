//! Coordinates in which the fit of a regression does not depend on the units of features.

use super::{LANES, Lanes, Moments, PenaltyDiagonal};

/// Coordinates v of the weights of features and the intercept, with activations Σⱼ vⱼ fⱼ (xⱼ - mⱼ) + v₀ f₀, where mⱼ is
/// the mean of feature j if there is an intercept, and 0 otherwise.
///
/// The factor fⱼ is 1 / √(c Σᵢ ωᵢ (xᵢⱼ - mⱼ)² + λⱼ) for a loss of curvature c, so that the Hessian of the objective has a
/// diagonal of 1. In v, derivatives by features in any units are comparable, conjugate gradients are those with the
/// diagonal as a preconditioner (Jacobi), and features far from 0 do not resemble the intercept. Features are neither
/// copied nor made dense: a map between v and the weights takes one pass over the weights. The minimum of the objective
/// is the same.
#[derive(Debug)]
pub struct Coordinates {
    /// The means m; empty if all are 0.
    means: Vec<f64>,
    /// The factors f; with an intercept, the last one is f₀.
    factors: Vec<f64>,
    /// The penalties λⱼ fⱼ² of the coordinates.
    penalties: Vec<f64>,
}

impl Coordinates {
    /// Returns the coordinates for features with these moments.
    pub fn new(moments: Moments, penalty: &PenaltyDiagonal, intercept: bool, curvature: f64) -> Self {
        let p = moments.means.len();
        let mut spreads = moments.variances;
        let means = if intercept {
            spreads.push(1.0);
            moments.means
        } else {
            let squares = moments.means.iter().map(|mean| mean * mean);
            spreads
                .iter_mut()
                .zip(squares)
                .for_each(|(v, square)| *v += square);
            Vec::new()
        };
        let squares = spreads.into_iter().enumerate().map(|(j, spread)| {
            let bend = curvature * moments.weight * spread;
            // The weight of a feature that does not vary is 0, as the intercept takes its place.
            if bend > 0.0 {
                (bend + penalty.of(j, p)).recip()
            } else {
                0.0
            }
        });
        let squares: Vec<f64> = squares.collect();
        Self {
            means,
            penalties: squares
                .iter()
                .enumerate()
                .map(|(j, s)| penalty.of(j, p) * s)
                .collect(),
            factors: squares.into_iter().map(f64::sqrt).collect(),
        }
    }

    /// The weights themselves.
    pub(super) fn identity(n_features: usize, n_columns: usize, penalty: &PenaltyDiagonal) -> Self {
        Self {
            means: Vec::new(),
            factors: vec![1.0; n_columns],
            penalties: (0..n_columns).map(|j| penalty.of(j, n_features)).collect(),
        }
    }

    /// True if the means of features are subtracted, so that the best intercept depends on no weight.
    pub(super) fn are_centred(&self) -> bool {
        !self.means.is_empty()
    }

    /// Returns the penalty on half the square of a coordinate.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn penalty_of(&self, column: usize) -> f64 {
        self.penalties[column]
    }

    /// Returns the last coordinates, v₀, of intercepts at weights of 0.
    pub fn intercept(&self, intercepts: &Lanes) -> Lanes {
        let factor = self.factors.last().copied().unwrap_or(0.0);
        intercepts.map(|b| if factor > 0.0 { b / factor } else { 0.0 })
    }

    /// Returns the weights and, as the last row, the intercepts at v.
    pub fn weights(&self, v: &[Lanes]) -> Vec<Lanes> {
        let scaled = v
            .iter()
            .zip(&self.factors)
            .map(|(v, factor)| v.map(|v| factor * v));
        let mut weights: Vec<Lanes> = scaled.collect();
        if let Some((intercept, weights)) = weights.split_last_mut() {
            for (w, mean) in weights.iter().zip(&self.means) {
                for lane in 0..LANES {
                    intercept[lane] -= mean * w[lane];
                }
            }
        }
        weights
    }

    /// Turns derivatives by weights and intercepts into those by v.
    pub fn pull_back(&self, gradient: &mut [Lanes]) {
        if let Some((intercept, gradient)) = gradient.split_last_mut() {
            for (g, mean) in gradient.iter_mut().zip(&self.means) {
                for lane in 0..LANES {
                    g[lane] -= mean * intercept[lane];
                }
            }
        }
        for (g, factor) in gradient.iter_mut().zip(&self.factors) {
            g.iter_mut().for_each(|g| *g *= factor);
        }
    }
}
