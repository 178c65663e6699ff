//! The unit of the residuals of each output while trees that outputs share are grown.

use super::loss::{Objective, OutputLoss};
use super::state::Outputs;
use crate::missing::observed_sums;
use crate::scaling::OutputScaling;

/// Returns, for each output, the factor of its residuals r = −∂ℓ/∂f, so that the gains of all outputs are comparable;
/// `None` if residuals are not scaled.
///
/// The factor is √(h̄ / Var r) at the constant scores. Second-order gains of single outputs (`is_by_curvature`) are divided
/// by second derivatives, of which h̄ is the mean: the factor makes the largest gain that any tree can have, n Var r / h̄,
/// the same for every output. For other gains, and for projections, which add residuals up, h̄ is 1. The factor is the
/// reciprocal standard deviation of the target for the square loss, and 1 or √μ over that deviation for Poisson. Losses
/// whose residuals have no unit have the factor 1, which is √(h̄ / Var r) for labels.
pub(super) fn factors(
    scaling: OutputScaling,
    is_by_curvature: bool,
    objective: &Objective,
    outputs: &Outputs<'_>,
    initial: &[f64],
) -> Option<Vec<f32>> {
    let mut factors = scaling.factors(outputs.y.reborrow(), Some(outputs.weights))?;
    let is_at_constant =
        |output: usize| objective.of(output).has_unit() && !objective.of(output).is_quadratic();
    let mut of_others = Vec::new();
    if (0..factors.len()).any(is_at_constant) {
        of_others = at_constants(is_by_curvature, objective, outputs, initial);
    }
    for (output, factor) in factors.iter_mut().enumerate() {
        if !objective.of(output).has_unit() {
            *factor = 1.0;
        } else if is_at_constant(output) {
            *factor = of_others[output].factor();
        }
    }
    Some(factors)
}

/// Sums over the samples in which an output is observed.
#[derive(Clone, Copy)]
struct Sums {
    weight: f64,
    residual: f64,
    squares: f64,
    curvature: f64,
    least: f64,
    largest: f64,
}

impl Sums {
    const NONE: Self = Self {
        weight: 0.0,
        residual: 0.0,
        squares: 0.0,
        curvature: 0.0,
        least: f64::INFINITY,
        largest: f64::NEG_INFINITY,
    };

    fn add(&mut self, y: f64, r: f64, h: f64, weight: f64) {
        if weight > 0.0 {
            (self.least, self.largest) = (self.least.min(y), self.largest.max(y));
            self.weight += weight;
            self.residual += weight * r;
            self.squares += weight * r * r;
            self.curvature += weight * h;
        }
    }

    /// Returns √(h̄ / Var r); 1 if the targets differ only by rounding.
    fn factor(self) -> f32 {
        let variance = self.squares - self.residual * self.residual / self.weight;
        let factor = (self.curvature / variance).sqrt() as f32;
        let is_constant = self.largest - self.least <= 1e-6 * self.largest.abs();
        if factor.is_normal() && !is_constant {
            factor
        } else {
            1.0
        }
    }
}

/// Returns the sums of each output at its constant score.
fn at_constants(
    is_by_curvature: bool,
    objective: &Objective,
    outputs: &Outputs<'_>,
    initial: &[f64],
) -> Vec<Sums> {
    let add = |sums: &mut Sums, output: usize, y: f64, weight: f64| {
        let OutputLoss::Alone(loss) = objective.of(output) else {
            return;
        };
        let score = initial[output];
        let h = loss.curvature(y, score).filter(|_| is_by_curvature);
        sums.add(y, loss.residual(y, score), h.unwrap_or(1.0), weight);
    };
    let (y, weights) = (outputs.y.reborrow(), outputs.weights);
    let mut all = vec![Sums::NONE; outputs.n_outputs()];
    for row in 0..outputs.n_rows() {
        y.for_each_in_row(row, |output, value| {
            if !value.is_nan() {
                let output = output as usize;
                add(
                    &mut all[output],
                    output,
                    f64::from(value),
                    f64::from(weights[row]),
                );
            }
        });
    }
    // Entries that are not stored are 0.
    let stored = observed_sums(y, Some(weights));
    for (output, (sums, stored)) in all.iter_mut().zip(stored).enumerate() {
        add(sums, output, 0.0, stored.absent);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boosting::loss::{Block, LossKind, LossShape};
    use ndarray::{Array2, array};
    use rpo_core::MatrixView;

    /// Returns the factors of outputs with the given losses, at the given constant scores.
    fn scaled(
        y: &Array2<f32>,
        weights: &[f32],
        losses: &[LossKind],
        initial: &[f64],
        second: bool,
    ) -> Vec<f32> {
        let shape = LossShape {
            huber_delta: 1.0,
            quantile: 0.5,
            tweedie_power: 1.5,
        };
        let blocks = losses.iter().enumerate().map(|(output, kind)| Block {
            outputs: output..output + 1,
            loss: kind.loss(shape),
        });
        let objective = Objective::new(blocks.collect(), 1);
        let outputs = Outputs::new(MatrixView::from(y), weights, None);
        factors(OutputScaling::Auto, second, &objective, &outputs, initial).unwrap()
    }

    fn assert_close(found: &[f32], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (f64::from(*found) - expected).abs() < 1e-6 * expected,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn factors_are_those_of_variance_by_curvature() {
        const M: f32 = f32::NAN;
        // In the samples of positive weight: a mean of 4 and a variance of 4, for all but the label.
        let y = array![
            [2.0_f32, 2.0, 2.0, 1.0, 2.0],
            [6.0, 6.0, 6.0, 0.0, M],
            [6.0, 6.0, 6.0, 0.0, 6.0],
            [90.0, 90.0, 90.0, 1.0, 90.0]
        ];
        let weights = [2.0_f32, 1.0, 1.0, 0.0];
        let losses = [
            LossKind::Square,
            LossKind::Poisson,
            LossKind::Tweedie,
            LossKind::Logistic,
            LossKind::Poisson,
        ];
        // The last output has the values 2, of weight 2, and 6: a mean of 10/3 and a variance of 32/9.
        let last = (10.0_f64 / 3.0, 32.0_f64 / 9.0);
        let log = 4.0_f64.ln();
        let initial = [4.0, log, log, 0.0, last.0.ln()];
        let found = scaled(&y, &weights, &losses, &initial, true);
        // h̄ is μ and μ^½; the residuals are y − μ and (y − μ) μ^−½.
        let expected = [
            0.5,
            1.0,
            (2.0_f64 / (4.0 / 4.0)).sqrt(),
            1.0,
            (last.0 / last.1).sqrt(),
        ];
        assert_close(&found, &expected);
        let found = scaled(&y, &weights, &losses, &initial, false);
        assert_close(&found, &[0.5, 0.5, 1.0, 1.0, last.1.sqrt().recip()]);
    }

    /// Huber's residuals, at most δ, have a variance of 1 here; signs have no unit; constant targets are not scaled.
    #[test]
    fn bounded_residuals_and_constant_targets() {
        let y = array![[-50.0_f32, -50.0, 7.0], [50.0, 50.0, 7.0]];
        let losses = [LossKind::Huber, LossKind::Absolute, LossKind::Poisson];
        let initial = [0.0, 0.0, 7.0_f64.ln()];
        for second in [true, false] {
            assert_close(&scaled(&y, &[1.0; 2], &losses, &initial, second), &[1.0; 3]);
        }
    }
}
