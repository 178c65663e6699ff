//! The exact step of one output whose scores are stored as odds.
//!
//! Along a step ρ the derivative of the loss is −2 Σ_l g_l (Σ c y − Σ c p(ρ)). Labels are summed once, and a trial sums
//! probabilities over the odds of the samples, gathered leaf by leaf. Searching one output after the other needs fewer
//! sums than searching all outputs side by side, which continues until the slowest search ends. 100 steps of
//! gbrt-relabel-rpo on bibtex (159 labels) take 22 % less processor time than with safeguarded Newton steps for all
//! outputs at once (1.70 s instead of 2.18 s, four pairs of `rpo train`), with a training loss that differs by a
//! relative 2e-7.

use super::odds::bounded;
use crate::boosting::loss::{Logistic, root_of_derivative};
use rpo_core::math;

/// A leaf along the step.
pub(super) struct Leaf {
    pub(super) n_samples: usize,
    /// The value g of the leaf.
    pub(super) value: f64,
    /// Σ c, Σ c r and Σ c h at the start.
    pub(super) weight: f64,
    pub(super) residual: f64,
    pub(super) curvature: f64,
}

/// Returns the exact step for the odds and weights of all samples, leaf by leaf.
pub(super) fn exact_step(leaves: &[Leaf], odds: &[f32], weights: &[f32]) -> f64 {
    let sum = |f: &dyn Fn(&Leaf) -> f64| leaves.iter().map(f).sum::<f64>();
    let derivative = -sum(&|l| l.value * l.residual);
    // The rounding error in f32 of sums of probabilities, which are up to 2 Σ w |g|.
    let tolerance = sum(&|l| 1e-7 * l.value.abs() * l.weight);
    if derivative.abs() <= tolerance {
        return 0.0;
    }
    let newton = derivative.abs() / sum(&|l| l.value * l.value * l.curvature);
    let size = leaves.iter().fold(0.0_f64, |max, l| max.max(l.value.abs()));
    let limit = Logistic::LARGEST_MOVE / size;
    // Σ g Σ c p at a step.
    let probabilities = |step: f64| {
        let mut first = 0;
        let part = |leaf: &Leaf| {
            let samples = first..first + leaf.n_samples;
            first = samples.end;
            let factor = math::exp(2.0 * step * leaf.value) as f32;
            leaf.value * sum_of_probabilities(&odds[samples.clone()], &weights[samples], factor)
        };
        leaves.iter().map(part).sum::<f64>()
    };
    // Σ g Σ c y, because Σ c r = 2 (Σ c y − Σ c p).
    let ones = probabilities(0.0) - derivative / 2.0;
    let sign = -derivative.signum();
    let slope = |t: f64| sign * 2.0 * (probabilities(sign * t) - ones);
    sign * root_of_derivative(sign * derivative, newton, limit, tolerance, slope)
}

/// Returns Σ c p for odds times a factor: `f32` sums of a few samples, added in `f64`.
fn sum_of_probabilities(odds: &[f32], weights: &[f32], factor: f32) -> f64 {
    const LANES: usize = 16;
    const SAMPLES: usize = 32 * LANES;
    let probability = |o: f32| {
        let o = bounded(o * factor);
        o / (1.0 + o)
    };
    let mut total = 0.0;
    for (odds, weights) in odds.chunks(SAMPLES).zip(weights.chunks(SAMPLES)) {
        let (odds, weights) = (odds.chunks_exact(LANES), weights.chunks_exact(LANES));
        for (&o, &w) in odds.remainder().iter().zip(weights.remainder()) {
            total += f64::from(w * probability(o));
        }
        let mut sums = [0.0_f32; LANES];
        for (odds, weights) in odds.zip(weights) {
            for k in 0..LANES {
                sums[k] += weights[k] * probability(odds[k]);
            }
        }
        total += sums.iter().map(|&s| f64::from(s)).sum::<f64>();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_probabilities() {
        for n in [0, 1, 15, 16, 17, 511, 512, 1300] {
            let odds: Vec<f32> = (0..n)
                .map(|i| ((i * 37 % 101) as f32 / 20.0 - 2.5).exp())
                .collect();
            let weights: Vec<f32> = (0..n).map(|i| (i % 3) as f32).collect();
            let pairs = odds.iter().zip(&weights);
            let expected: f64 = pairs
                .map(|(&o, &w)| f64::from(w) * (1.0 - 1.0 / (1.0 + 1.5 * f64::from(o))))
                .sum();
            let found = sum_of_probabilities(&odds, &weights, 1.5);
            assert!(
                (found - expected).abs() <= 1e-6 * (1.0 + expected),
                "{n}: {found} for {expected}"
            );
        }
    }
}
