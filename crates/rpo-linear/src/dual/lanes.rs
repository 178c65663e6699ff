//! Coordinate descent for several labels side by side.

use rand::seq::SliceRandom;
use rpo_core::Seed;

use super::loss::{LaneLoss, Step};
use super::{Bias, DualParams, Positives, Rows, Solution, prior_log_odds};

/// A sample is settled when its violation is below this fraction of the tolerance ...
const SETTLED: f32 = 0.5;
/// ... in this many passes in a row.
const QUIET: u8 = 2;
/// Violations below this fraction of the tolerance are not worth a step.
const SLIGHT: f32 = 0.05;

/// The labels of one problem.
pub(super) struct Lanes<'r, F, const L: usize> {
    rows: &'r Rows,
    loss: F,
    /// The labels of each sample, a bit each.
    labels: Vec<u32>,
    /// Dual variables of each sample.
    state: Vec<[f32; L]>,
    /// Weights of each feature.
    weights: Vec<[f32; L]>,
    bias: Bias,
    /// Weights of the bias.
    bias_weights: [f32; L],
    /// What is added to scores beside the bias.
    shift: [f32; L],
    /// One over the largest |Σ αᵢ yᵢ| of each label, 0 of lanes without a label.
    balances: [f32; L],
}

impl<'r, F: LaneLoss<L>, const L: usize> Lanes<'r, F, L> {
    pub(super) fn new(rows: &'r Rows, positives: &[Positives<'_>], loss: F, params: &DualParams) -> Self {
        let n = rows.n_rows();
        let mut labels = vec![0; rows.n_rows()];
        for (lane, positives) in positives.iter().enumerate() {
            positives
                .samples
                .iter()
                .for_each(|&i| labels[i as usize] |= 1 << lane);
        }
        let (mut shift, mut balances) = ([0.0; L], [0.0; L]);
        if params.bias.is_free {
            for (lane, positives) in positives.iter().enumerate() {
                let (with, without) = (positives.samples.len(), n - positives.samples.len());
                shift[lane] = prior_log_odds(with, n);
                balances[lane] = 1.0 / (params.cost * with.min(without) as f32);
            }
        }
        let state = loss.start();
        let mut lanes = Self {
            rows,
            loss,
            labels,
            state: vec![[state; L]; n],
            weights: vec![[0.0; L]; rows.n_features()],
            bias: params.bias,
            bias_weights: [0.0; L],
            shift,
            balances,
        };
        if state != 0.0 {
            for row in 0..n {
                let change = lanes.loss.signed(lanes.labels[row], &[state; L]);
                lanes.add(row, &change);
            }
        }
        lanes
    }

    pub(super) fn solve(mut self, params: &DualParams, seed: Seed) -> Solution {
        let mut rng = seed.stream();
        let n = self.rows.n_rows();
        let mut active: Vec<u32> = (0..n as u32).collect();
        let mut quiet = vec![0_u8; n];
        let mut passes = 0;
        let mut goal = params.tolerance;
        let residual = loop {
            if passes >= params.max_passes {
                break self.check(f32::INFINITY, |_, _| {}).max(self.imbalance());
            }
            passes += 1;
            active.shuffle(&mut rng);
            let worst = self.pass(&mut active, &mut quiet, params.tolerance);
            self.shift();
            if worst > goal && !active.is_empty() {
                continue;
            }
            active.clear();
            let residual = self.check(params.tolerance, |row, violation| {
                if violation > SETTLED * params.tolerance {
                    active.push(row as u32);
                    quiet[row] = 0;
                }
            });
            passes += 1;
            let residual = residual.max(self.imbalance());
            if residual <= params.tolerance {
                break residual;
            }
            // What was left out moved others: now with room to spare, as every check is a pass over all samples.
            goal = SETTLED * params.tolerance;
        };
        Solution {
            weights: self.weights.into_iter().flatten().collect(),
            offsets: std::array::from_fn::<_, L, _>(|l| {
                self.shift[l] + self.bias.value * self.bias_weights[l]
            })
            .to_vec(),
            lanes: L,
            residual,
        }
    }

    /// Moves the penalised part of a free bias to the part without a penalty, which is then 0 only where Σ αᵢ yᵢ is.
    fn shift(&mut self) {
        if self.bias.is_free {
            for l in 0..L {
                self.shift[l] += self.bias.value * self.bias_weights[l];
            }
        }
    }

    /// Largest |Σ αᵢ yᵢ| with a free bias, of the most that it can be.
    fn imbalance(&self) -> f32 {
        if !self.bias.is_free {
            return 0.0;
        }
        let sums = self.bias_weights.map(|w| w.abs() / self.bias.value);
        let relative = sums
            .iter()
            .zip(&self.balances)
            .map(|(sum, balance)| sum * balance);
        relative.fold(0.0, f32::max)
    }

    /// Takes a step for each of the samples, keeps those that are not settled, and returns the largest violation.
    fn pass(&mut self, active: &mut Vec<u32>, quiet: &mut [u8], tolerance: f32) -> f32 {
        let mut worst = 0.0_f32;
        active.retain(|&row| {
            let row = row as usize;
            let step = self.step(row, SLIGHT * tolerance);
            worst = worst.max(step.violation);
            if step.violation > SLIGHT * tolerance {
                self.take(row, &step);
            }
            let calm = step.violation < SETTLED * tolerance;
            quiet[row] = if calm { quiet[row] + 1 } else { 0 };
            quiet[row] < QUIET
        });
        worst
    }

    /// Takes a step for every sample with a violation above the limit and returns the largest violation: that of the weights
    /// as they are, if it is not above the limit.
    fn check(&mut self, limit: f32, mut observe: impl FnMut(usize, f32)) -> f32 {
        let mut worst = 0.0_f32;
        for row in 0..self.rows.n_rows() {
            let step = self.step(row, limit);
            worst = worst.max(step.violation);
            observe(row, step.violation);
            if step.violation > limit {
                self.take(row, &step);
            }
        }
        worst
    }

    /// The step of a sample, or one of no length if no violation is above the limit.
    #[inline]
    fn step(&self, row: usize, limit: f32) -> Step<L> {
        let (features, values) = self.rows.row(row);
        let mut z = self.shift;
        for (&j, &v) in features.iter().zip(values) {
            let weights = &self.weights[j as usize];
            for l in 0..L {
                z[l] += v * weights[l];
            }
        }
        let bias = self.bias.value;
        for l in 0..L {
            z[l] += bias * self.bias_weights[l];
        }
        let square = self.rows.square(row) + bias * bias;
        self.loss
            .step(self.labels[row], &z, &self.state[row], square, limit)
    }

    #[inline]
    fn take(&mut self, row: usize, step: &Step<L>) {
        self.state[row] = step.state;
        self.add(row, &step.change);
    }

    /// Adds a multiple of a sample to the weights of each label.
    #[inline]
    fn add(&mut self, row: usize, change: &[f32; L]) {
        let (features, values) = self.rows.row(row);
        for (&j, &v) in features.iter().zip(values) {
            let weights = &mut self.weights[j as usize];
            for l in 0..L {
                weights[l] += v * change[l];
            }
        }
        for l in 0..L {
            self.bias_weights[l] += self.bias.value * change[l];
        }
    }
}
