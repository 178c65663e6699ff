//! Losses of margins, and their steps in the dual for several labels side by side.

use rpo_core::math::{self, single::sigmoid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DualParams, Positives};

/// The loss of a sample for a label, a function of its margin m: the score with the sign of the label.
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
    /// The logarithm of the probability of a label with this score.
    pub(crate) fn log_probability(self, score: f32) -> f32 {
        -math::softplus(-f64::from(self.slope() * score)) as f32
    }

    /// a in the probability 1 / (1 + e⁻ᵃˢ) of a label with score s: 1 for the logistic loss. The squared hinge estimates no
    /// probabilities; a = 3 spreads its margins -1 and 1 to 0.05 and 0.95. Unlike exp(-max(0, 1 - s)²), which other label
    /// trees use, it ranks labels beyond the margin too: the frequent and the rare ones that all have margins above 1.
    pub(crate) fn slope(self) -> f32 {
        match self {
            Self::SquaredHinge => 3.0,
            Self::Logistic => 1.0,
        }
    }
}

/// What a step does to the dual variables of a sample.
pub(super) struct Step<const L: usize> {
    /// The new dual variables, in the form in which the loss keeps them.
    pub(super) state: [f32; L],
    /// Changes of α y.
    pub(super) change: [f32; L],
    /// Largest violation of the optimality conditions before the step.
    pub(super) violation: f32,
}

/// A loss with the costs of `L` labels.
pub(super) trait LaneLoss<const L: usize> {
    /// The dual variable of a sample at the start, as the loss keeps it; 0 only for α = 0.
    fn start(&self) -> f32;

    /// α y of a sample with these dual variables; bit l of `labels` is set where it has label l.
    fn signed(&self, labels: u32, state: &[f32; L]) -> [f32; L];

    /// The step of a sample with ‖x‖² = `square`, scores `z` and dual variables `state`. It need not be the best where no violation is above the limit.
    fn step(&self, labels: u32, z: &[f32; L], state: &[f32; L], square: f32, limit: f32) -> Step<L>;
}

#[inline]
fn has(labels: u32, lane: usize) -> bool {
    labels & (1 << lane) != 0
}

/// 1 for a label that the sample has, -1 for one that it does not have.
#[inline]
pub(super) fn sign(labels: u32, lane: usize) -> f32 {
    if has(labels, lane) { 1.0 } else { -1.0 }
}

fn largest<const L: usize>(values: &[f32; L]) -> f32 {
    values.iter().fold(0.0, |a: f32, &b| if b > a { b } else { a })
}

/// For each label C of the samples that do not have it, and of those that do.
fn costs<const L: usize>(cost: f32, positives: &[Positives<'_>]) -> [[f32; L]; 2] {
    let of = |lane: usize| {
        positives
            .get(lane)
            .map_or(cost, |positives| cost * positives.weight)
    };
    [[cost; L], std::array::from_fn(of)]
}

/// The squared hinge; it keeps α.
pub(super) struct Hinge<const L: usize> {
    /// 1 / 2C of samples without and with each label.
    diagonals: [[f32; L]; 2],
}

impl<const L: usize> Hinge<L> {
    pub(super) fn new(params: &DualParams, positives: &[Positives<'_>]) -> Self {
        let diagonals = costs(params.cost, positives).map(|costs| costs.map(|cost| 0.5 / cost));
        Self { diagonals }
    }
}

impl<const L: usize> LaneLoss<L> for Hinge<L> {
    fn start(&self) -> f32 {
        0.0
    }

    fn signed(&self, labels: u32, state: &[f32; L]) -> [f32; L] {
        std::array::from_fn(|l| state[l] * sign(labels, l))
    }

    #[inline(always)]
    fn step(&self, labels: u32, z: &[f32; L], state: &[f32; L], square: f32, _limit: f32) -> Step<L> {
        let (mut next, mut change, mut violation) = ([0.0; L], [0.0; L], [0.0_f32; L]);
        for l in 0..L {
            let y = sign(labels, l);
            let alpha = state[l];
            let diagonal = self.diagonals[usize::from(has(labels, l))][l];
            let gradient = y * z[l] - 1.0 + diagonal * alpha;
            let is_open = alpha > 0.0 || gradient < 0.0;
            violation[l] = if is_open { gradient.abs() } else { 0.0 };
            let moved = alpha - gradient / (square + diagonal);
            next[l] = if moved > 0.0 { moved } else { 0.0 };
            change[l] = (next[l] - alpha) * y;
        }
        Step {
            state: next,
            change,
            violation: largest(&violation),
        }
    }
}

/// The logistic loss; it keeps the logit of α / C.
pub(super) struct Logistic<const L: usize> {
    /// C of samples without and with each label.
    costs: [[f32; L]; 2],
    /// A violation is that of α / C, over this number and ...
    floors: [f32; L],
    /// ... this number times α / C.
    relative: f32,
}

impl<const L: usize> Logistic<L> {
    /// Where logits start: α = C / 22,000.
    const START: f32 = -10.0;
    /// Newton steps per sample; those that leave the bracket of the root halve it.
    const STEPS: usize = 4;

    pub(super) fn new(params: &DualParams, positives: &[Positives<'_>], n: usize) -> Self {
        let mut floors = [0.25; L];
        if params.bias.is_free {
            for (floor, positives) in floors.iter_mut().zip(positives) {
                let with = positives.samples.len();
                *floor = with.min(n - with) as f32 / n as f32;
            }
        }
        Self {
            costs: costs(params.cost, positives),
            floors,
            relative: if params.bias.is_free { 1.0 } else { 0.0 },
        }
    }
}

impl<const L: usize> LaneLoss<L> for Logistic<L> {
    fn start(&self) -> f32 {
        Self::START
    }

    fn signed(&self, labels: u32, state: &[f32; L]) -> [f32; L] {
        std::array::from_fn(|l| {
            let cost = self.costs[usize::from(has(labels, l))][l];
            cost * sigmoid(state[l]) * sign(labels, l)
        })
    }

    #[inline(always)]
    fn step(&self, labels: u32, z: &[f32; L], state: &[f32; L], square: f32, limit: f32) -> Step<L> {
        let (mut y, mut cost, mut alpha) = ([0.0; L], [0.0; L], [0.0; L]);
        let (mut low, mut high, mut violation) = ([0.0; L], [0.0; L], [0.0_f32; L]);
        let mut t = *state;
        for l in 0..L {
            y[l] = sign(labels, l);
            cost[l] = self.costs[usize::from(has(labels, l))][l];
            let part = sigmoid(t[l]);
            alpha[l] = cost[l] * part;
            let margin = y[l] * z[l];
            low[l] = -margin - square * (cost[l] - alpha[l]);
            high[l] = -margin + square * alpha[l];
            violation[l] = (part - sigmoid(-margin)).abs() / (self.floors[l] + self.relative * part);
        }
        let violation = largest(&violation);
        if violation <= limit {
            return Step {
                state: t,
                change: [0.0; L],
                violation,
            };
        }
        for _ in 0..Self::STEPS {
            for l in 0..L {
                let part = sigmoid(t[l]);
                let value = t[l] + y[l] * z[l] + square * (cost[l] * part - alpha[l]);
                let slope = 1.0 + square * cost[l] * part * (1.0 - part);
                high[l] = if value > 0.0 && t[l] < high[l] {
                    t[l]
                } else {
                    high[l]
                };
                low[l] = if value <= 0.0 && t[l] > low[l] {
                    t[l]
                } else {
                    low[l]
                };
                let newton = t[l] - value / slope;
                let inside = newton >= low[l] && newton <= high[l];
                t[l] = if inside { newton } else { 0.5 * (low[l] + high[l]) };
            }
        }
        let mut change = [0.0; L];
        for l in 0..L {
            change[l] = (cost[l] * sigmoid(t[l]) - alpha[l]) * y[l];
        }
        Step {
            state: t,
            change,
            violation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OneVsRestParams;

    #[test]
    fn a_step_of_the_logistic_loss_finds_the_root() {
        let params = |cost| DualParams {
            loss: MarginLoss::Logistic,
            cost,
            ..OneVsRestParams::default().dual()
        };
        for (labels, z, state, square, cost) in [
            (1, 0.3, -10.0, 1.0, 1.0),
            (0, 0.3, 2.0, 30.0, 4.0),
            (1, -8.0, -10.0, 5.0, 20.0),
            (0, 12.0, -10.0, 100.0, 50.0),
        ] {
            let loss = Logistic::new(&params(cost), &[], 1);
            let step: Step<4> = loss.step(labels, &[z; 4], &[state; 4], square, 0.0);
            let sign = if labels == 1 { 1.0 } else { -1.0 };
            // Four steps from afar need not end there; steps that follow do.
            let (mut t, mut z) = (step.state[0], z + step.change[0] * square);
            for _ in 0..20 {
                let again = loss.step(labels, &[z; 4], &[t; 4], square, 0.0);
                (t, z) = (again.state[0], z + again.change[0] * square);
            }
            assert!((t + sign * z).abs() < 1e-3, "{labels} {square}: {t} {z}");
        }
    }
}
