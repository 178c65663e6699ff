//! The quantile loss.

use super::{Direction, Loss};

/// ℓ(y, f) = τ (y − f) above the score and (1 − τ) (f − y) below it, minimal at the τ-quantile: r = τ or τ − 1, 0 at a
/// tie (Koenker and Bassett 1978). The constant is the lower weighted quantile. A step is the lower weighted quantile
/// of (y − f)/g with weights w |g| over the samples with g ≠ 0, at level 1 − τ where g is negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantile {
    pub(crate) level: f64,
}

impl Loss for Quantile {
    fn value(&self, y: f64, score: f64) -> f64 {
        let difference = y - score;
        difference
            * if difference >= 0.0 {
                self.level
            } else {
                self.level - 1.0
            }
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        if y > score {
            self.level
        } else if y < score {
            self.level - 1.0
        } else {
            0.0
        }
    }

    fn has_unit(&self) -> bool {
        false
    }

    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        let points = targets.iter().zip(weights).map(|(&y, &w)| (y, w, self.level));
        minimizer(points.collect())
    }

    fn step(&self, direction: &Direction<'_>) -> f64 {
        let moving = direction.samples().filter(|&(_, _, g, _)| g != 0.0);
        let points = moving.map(|(y, f, g, w)| {
            let level = if g > 0.0 { self.level } else { 1.0 - self.level };
            ((y - f) / g, w * g.abs(), level)
        });
        let points: Vec<_> = points.collect();
        if points.is_empty() { 0.0 } else { minimizer(points) }
    }
}

/// Returns the smallest minimizer of a sum of weighted quantile losses, given by at least one (value, weight, level).
fn minimizer(mut points: Vec<(f64, f64, f64)>) -> f64 {
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // The derivative to the left of all values; each value adds its weight.
    let mut derivative: f64 = points.iter().map(|(_, weight, level)| -weight * level).sum();
    let tolerance = 1e-12 * derivative.abs();
    for &(value, weight, _) in &points {
        derivative += weight;
        if derivative >= -tolerance {
            return value;
        }
    }
    points.last().expect("a quantile needs values").0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let check = |level, expected| {
            let found = Quantile { level }.initial(&[4.0, 1.0, 3.0, 2.0], &[1.0; 4]);
            assert_eq!(found, expected, "{level}");
        };
        check(0.1, 1.0);
        check(0.25, 1.0);
        check(0.26, 2.0);
        check(0.5, 2.0);
        check(0.75, 3.0);
        check(0.9, 4.0);
        let weighted = Quantile { level: 0.5 }.initial(&[4.0, 1.0, 3.0], &[5.0, 1.0, 1.0]);
        assert_eq!(weighted, 4.0);
    }
}
