//! Descent that leaves out settled samples, for losses whose dual variables are mostly 0.

use rand::seq::SliceRandom;
use rpo_core::{Seed, vectorized};

use super::lanes::Lanes;
use super::loss::LaneLoss;
use super::{DualParams, Solution};

/// A sample is settled when its violation is below this fraction of the tolerance ...
const SETTLED: f32 = 0.5;
/// ... in this many passes in a row.
const QUIET: u8 = 2;
/// Violations below this fraction of the tolerance are not worth a step.
const SLIGHT: f32 = 0.05;

impl<F: LaneLoss<L>, const L: usize> Lanes<'_, F, L> {
    /// Ends when no sample has a violation above the tolerance.
    pub(super) fn settle(mut self, params: &DualParams, seed: Seed) -> Solution {
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
            let worst = vectorized(
                #[inline(always)]
                || self.pass(&mut active, &mut quiet, params.tolerance),
            );
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
        self.solution(residual)
    }

    /// Takes a step for each of the samples, keeps those that are not settled, and returns the largest violation.
    #[inline(always)]
    fn pass(&mut self, active: &mut Vec<u32>, quiet: &mut [u8], tolerance: f32) -> f32 {
        let mut worst = 0.0_f32;
        active.retain(|&row| {
            let row = row as usize;
            let step = self.step(row);
            let violation = step.largest_violation();
            worst = worst.max(violation);
            if violation > SLIGHT * tolerance {
                self.take(row, &step);
            }
            let calm = violation < SETTLED * tolerance;
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
            let violation = step.largest_violation();
            worst = worst.max(violation);
            observe(row, violation);
            if violation > limit {
                self.take(row, &step);
            }
        }
        worst
    }
}
