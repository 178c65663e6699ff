//! Coordinate descent for several labels side by side.

use rand::seq::SliceRandom;
use rpo_core::Seed;

use super::loss::{LaneLoss, Step, sign};
use super::{DualParams, Rows, Solution};

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
}

impl<'r, F: LaneLoss<L>, const L: usize> Lanes<'r, F, L> {
    pub(super) fn new(rows: &'r Rows, positives: &[&[u32]], loss: F) -> Self {
        let mut labels = vec![0; rows.n_rows()];
        for (lane, samples) in positives.iter().enumerate() {
            samples.iter().for_each(|&i| labels[i as usize] |= 1 << lane);
        }
        let (state, alpha) = loss.start();
        let mut lanes = Self {
            rows,
            loss,
            labels,
            state: vec![[state; L]; rows.n_rows()],
            weights: vec![[0.0; L]; rows.n_features()],
        };
        if alpha != 0.0 {
            for row in 0..rows.n_rows() {
                let labels = lanes.labels[row];
                lanes.add(row, &std::array::from_fn(|l| alpha * sign(labels, l)));
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
                break self.check(f32::INFINITY, |_, _| {});
            }
            passes += 1;
            active.shuffle(&mut rng);
            let worst = self.pass(&mut active, &mut quiet, params.tolerance);
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
            if residual <= params.tolerance {
                break residual;
            }
            // What was left out moved others: now with room to spare, as every check is a pass over all samples.
            goal = SETTLED * params.tolerance;
        };
        Solution {
            weights: self.weights.into_iter().flatten().collect(),
            lanes: L,
            residual,
        }
    }

    /// Takes a step for each of the samples, keeps those that are not settled, and returns the largest violation.
    fn pass(&mut self, active: &mut Vec<u32>, quiet: &mut [u8], tolerance: f32) -> f32 {
        let mut worst = 0.0_f32;
        active.retain(|&row| {
            let row = row as usize;
            let step = self.step(row);
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
            let step = self.step(row);
            worst = worst.max(step.violation);
            observe(row, step.violation);
            if step.violation > limit {
                self.take(row, &step);
            }
        }
        worst
    }

    #[inline]
    fn step(&self, row: usize) -> Step<L> {
        let (features, values) = self.rows.row(row);
        let mut z = [0.0_f32; L];
        for (&j, &v) in features.iter().zip(values) {
            let weights = &self.weights[j as usize];
            for l in 0..L {
                z[l] += v * weights[l];
            }
        }
        let square = self.rows.square(row);
        self.loss.step(self.labels[row], &z, &self.state[row], square)
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
    }
}
