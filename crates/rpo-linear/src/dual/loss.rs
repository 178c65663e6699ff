//! Losses of margins, and their dual steps for several labels side by side.

use rpo_core::math::sigmoid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LANES, Positives};

/// The loss of a sample for a label, a function of the margin m, which is the score times the sign of the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarginLoss {
    /// max(0, 1 - m)².
    #[default]
    SquaredHinge,
    /// log(1 + e⁻ᵐ).
    Logistic,
}

impl MarginLoss {
    /// Returns a in the probability 1 / (1 + e⁻ᵃˢ) of a label with score s: 1 for the logistic loss. The squared hinge
    /// does not estimate probabilities; a = 3 maps its margins -1 and 1 to 0.05 and 0.95. Unlike exp(-max(0, 1 - s)²),
    /// which other label trees use, it also ranks labels beyond the margin: frequent and rare labels with margins
    /// above 1.
    #[inline(always)]
    pub(crate) fn slope(self) -> f32 {
        match self {
            Self::SquaredHinge => 3.0,
            Self::Logistic => 1.0,
        }
    }
}

/// The effect of a step on the dual variables of a sample.
pub(super) struct Step {
    /// The new dual variables.
    pub(super) alpha: [f32; LANES],
    /// Changes of α y.
    pub(super) change: [f32; LANES],
    /// Violations of the optimality conditions before the step.
    pub(super) violation: [f32; LANES],
}

impl Step {
    /// Returns the step of a sample that does not count; its dual variables are 0.
    #[inline(always)]
    pub(super) fn none() -> Self {
        let zeros = [0.0; LANES];
        Self {
            alpha: zeros,
            change: zeros,
            violation: zeros,
        }
    }

    #[inline(always)]
    pub(super) fn largest_violation(&self) -> f32 {
        // For numbers that are not negative, the order of the bits is that of the values; the maximum of the bits
        // vectorises.
        let bits = self.violation.iter().map(|v| v.to_bits());
        f32::from_bits(bits.fold(0, u32::max))
    }
}

/// A loss with the costs of some labels.
pub(super) trait LaneLoss {
    /// Returns the step of a sample with ‖x‖² = `square`, scores `z` and dual variables `alpha`; `weight`, above 0,
    /// multiplies its costs.
    fn step(&self, labels: u8, z: &[f32; LANES], alpha: &[f32; LANES], square: f32, weight: f32) -> Step;
}

#[inline(always)]
fn has(labels: u8, lane: usize) -> bool {
    labels & (1 << lane) != 0
}

/// Returns 1 for a label that the sample has, -1 for any other.
#[inline(always)]
pub(super) fn sign(labels: u8, lane: usize) -> f32 {
    if has(labels, lane) { 1.0 } else { -1.0 }
}

/// Returns C of the samples without and with each label. In lanes without a label it is 1 for samples of the mean weight,
/// since their violations also decide which samples are visited.
pub(super) fn costs(positives: &[Positives<'_>], mean_weight: f32) -> [[f32; LANES]; 2] {
    let mut costs = [[mean_weight.recip(); LANES]; 2];
    for (lane, positives) in positives.iter().enumerate() {
        costs[0][lane] = positives.cost.negative;
        costs[1][lane] = positives.cost.positive;
    }
    costs
}

/// The squared hinge.
pub(super) struct Hinge {
    /// 1 / 2C of samples without and with each label.
    pub(super) diagonals: [[f32; LANES]; 2],
    /// What the violations of each label are multiplied with: its tolerance is divided by it.
    pub(super) strictness: [f32; LANES],
}

impl Hinge {
    pub(super) fn new(positives: &[Positives<'_>], mean_weight: f32) -> Self {
        let diagonals = costs(positives, mean_weight).map(|costs| costs.map(|cost| 0.5 / cost));
        Self {
            diagonals,
            strictness: [1.0; LANES],
        }
    }
}

impl LaneLoss for Hinge {
    #[inline(always)]
    fn step(&self, labels: u8, z: &[f32; LANES], alpha: &[f32; LANES], square: f32, weight: f32) -> Step {
        let (mut next, mut change, mut violation) = ([0.0; LANES], [0.0; LANES], [0.0_f32; LANES]);
        let share = weight.recip();
        for l in 0..LANES {
            let y = sign(labels, l);
            let diagonal = share * self.diagonals[usize::from(has(labels, l))][l];
            let gradient = y * z[l] - 1.0 + diagonal * alpha[l];
            let is_open = alpha[l] > 0.0 || gradient < 0.0;
            let strict = self.strictness[l] * gradient.abs();
            violation[l] = if is_open { strict } else { 0.0 };
            let moved = alpha[l] - gradient / (square + diagonal);
            next[l] = if moved > 0.0 { moved } else { 0.0 };
            change[l] = (next[l] - alpha[l]) * y;
        }
        Step {
            alpha: next,
            change,
            violation,
        }
    }
}

/// The logistic loss.
pub(super) struct Logistic {
    /// C of samples without and with each label.
    costs: [[f32; LANES]; 2],
}

impl Logistic {
    pub(super) fn new(positives: &[Positives<'_>], mean_weight: f32) -> Self {
        Self {
            costs: costs(positives, mean_weight),
        }
    }
}

impl LaneLoss for Logistic {
    /// With q = α / C, the best q of a label is the root of q = σ(-m(q)), where m(q) = m + ‖x‖² C (q - q₀) is the
    /// resulting margin. The root lies between q₀ and σ(-m). A step moves by (σ(-m) - q₀) / (1 + ‖x‖² C s) towards it,
    /// where s is the largest slope v (1 - v) of σ between these points. By the mean value theorem the step never
    /// passes the root, so that the dual objective grows.
    #[inline(always)]
    fn step(&self, labels: u8, z: &[f32; LANES], alpha: &[f32; LANES], square: f32, weight: f32) -> Step {
        let (mut next, mut change, mut violation) = ([0.0; LANES], [0.0; LANES], [0.0_f32; LANES]);
        for l in 0..LANES {
            let y = sign(labels, l);
            let cost = weight * self.costs[usize::from(has(labels, l))][l];
            let (old, goal) = (alpha[l] / cost, sigmoid(-y * z[l]));
            let (a, b) = (old * (1.0 - old), goal * (1.0 - goal));
            let larger = if a > b { a } else { b };
            let slope = if (old < 0.5) == (goal < 0.5) { larger } else { 0.25 };
            let step = cost * (goal - old) / (1.0 + square * cost * slope);
            next[l] = alpha[l] + step;
            change[l] = step * y;
            violation[l] = (goal - old).abs();
        }
        Step {
            alpha: next,
            change,
            violation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::LabelCost;

    #[test]
    fn steps_of_the_logistic_loss_approach_the_root_from_one_side() {
        let positives = |cost| Positives {
            samples: &[],
            cost: LabelCost::equal(cost),
        };
        for (labels, z, state, square, cost) in [
            (1, 0.3, 1e-4, 1.0, 1.0),
            (0, 0.3, 0.9, 30.0, 4.0),
            (1, -8.0, 1e-4, 5.0, 20.0),
            (0, 12.0, 1e-4, 100.0, 5.0),
        ] {
            let loss = Logistic::new(&[positives(cost); LANES], 1.0);
            let sign = if labels == 1 { 1.0 } else { -1.0 };
            let (mut alpha, mut z) = ([state * cost; LANES], z);
            for _ in 0..200 {
                let old = alpha[0] / cost;
                let step = loss.step(labels, &[z; LANES], &alpha, square, 1.0);
                (alpha, z) = (step.alpha, z + step.change[0] * square);
                // The step never passes the root.
                let goal = 1.0 / (1.0 + (sign * z).exp());
                let rest = goal - alpha[0] / cost;
                assert!(rest * (goal - old) > -1e-6, "{labels} {square}");
            }
            let old = alpha[0] / cost;
            let t = (old / (1.0 - old)).ln();
            assert!((t + sign * z).abs() < 1e-3, "{labels} {square}: {t} {z}");
        }
    }
}
