//! Descent over all samples, for losses whose dual variables are never 0.

use rand::seq::SliceRandom;
use rpo_core::{Seed, vectorized};

use super::lanes::Lanes;
use super::loss::{LaneLoss, costs};
use super::{DualParams, LANES, Positives, Solution};

/// Number of passes over the samples with a label, before each pass over all samples ...
const FIRST: usize = 3;
/// ... for labels of at most one in this many samples: half of the sum of the dual variables of a rare label comes from
/// a few samples.
const RARE: usize = 8;

impl<F: LaneLoss> Lanes<'_, F> {
    /// Descends until for no label the sum of violations is above the tolerance, in units of the number of samples with
    /// the label, or without it if these are fewer.
    pub(super) fn sweep(mut self, positives: &[Positives<'_>], params: &DualParams, seed: Seed) -> Solution {
        let mut rng = seed.stream();
        let n = self.rows.n_rows();
        let mut units = [f32::INFINITY; LANES];
        for (unit, positives) in units.iter_mut().zip(positives) {
            let with = positives.samples.len();
            *unit = with.min(n - with).max(1) as f32;
        }
        let mut all: Vec<u32> = (0..n as u32).collect();
        let labelled = |&row: &u32| self.labels[row as usize] != 0;
        let mut rare: Vec<u32> = all.iter().copied().filter(labelled).collect();
        if rare.len() * RARE > n {
            rare.clear();
        }
        let mut goal = params.tolerance;
        let mut passes = 0;
        let residual = loop {
            for _ in 0..FIRST {
                rare.shuffle(&mut rng);
                self.steps(&rare);
            }
            all.shuffle(&mut rng);
            let sums = self.steps(&all);
            self.shift();
            passes += 1;
            if passes < params.max_passes && relative(&sums, &units) > goal {
                continue;
            }
            // Violations of the current weights.
            let sums = self.violations();
            let residual = relative(&sums, &units).max(self.imbalance(positives, params.mean_weight, &units));
            if residual <= params.tolerance || passes >= params.max_passes {
                break residual;
            }
            // The weights moved during the pass; now the goal is tighter.
            goal = 0.5 * params.tolerance;
        };
        self.solution(residual)
    }

    /// Takes a step for each of the samples and returns the sums of the violations before the steps.
    fn steps(&mut self, samples: &[u32]) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        vectorized(
            #[inline(always)]
            || {
                for &row in samples {
                    let step = self.step(row as usize);
                    add(&mut sums, &step.violation);
                    self.take(row as usize, &step);
                }
            },
        );
        sums
    }

    fn violations(&self) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        vectorized(
            #[inline(always)]
            || (0..self.rows.n_rows()).for_each(|row| add(&mut sums, &self.step(row).violation)),
        );
        sums
    }

    /// Adds the penalised part of a free bias to the unpenalised part. The penalised part is 0 only if Σ αᵢ yᵢ is.
    fn shift(&mut self) {
        if self.bias.is_free {
            for l in 0..LANES {
                self.shift[l] += self.bias.value * self.bias_weights[l];
            }
        }
    }

    /// Returns the largest |Σ αᵢ yᵢ| / C with a free bias.
    fn imbalance(&self, positives: &[Positives<'_>], mean_weight: f32, units: &[f32; LANES]) -> f32 {
        if !self.bias.is_free {
            return 0.0;
        }
        let [costs, _] = costs(positives, mean_weight);
        let sum = |l: usize| f64::from(self.bias_weights[l].abs() / (self.bias.value * costs[l]));
        relative(&std::array::from_fn(sum), units)
    }
}

#[inline(always)]
fn add(sums: &mut [f64; LANES], violation: &[f32; LANES]) {
    for l in 0..LANES {
        sums[l] += f64::from(violation[l]);
    }
}

/// Returns the largest of sums, in their units.
fn relative(sums: &[f64; LANES], units: &[f32; LANES]) -> f32 {
    let relative = sums.iter().zip(units).map(|(&sum, unit)| sum as f32 / unit);
    relative.fold(0.0, f32::max)
}
