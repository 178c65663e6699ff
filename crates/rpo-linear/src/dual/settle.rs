//! Descent that leaves out settled samples, for losses whose dual variables are mostly 0.

use rand::Rng;
use rand::seq::SliceRandom;
use rpo_core::{Seed, vectorized};

use super::lanes::Lanes;
use super::loss::LaneLoss;
use super::{DualParams, Solution};

/// One in this many of the samples without any of the labels takes part before the first pass over all samples ...
const FEW: usize = 8;
/// ... which starts when no violation is above this multiple of the tolerance, since the pass over all samples will
/// increase it again.
const ROUGH: f32 = 5.0;
/// A pass over all samples comes at the latest after this many times as many visits: the goal may be out of reach of the
/// precision of weights, and the samples that do not take part must have their turn.
const PATIENCE: usize = 10;
/// A sample is settled when its violation is below this fraction of the tolerance.
const SETTLED: f32 = 0.5;
/// Violations below this fraction of the tolerance are not worth a step.
const SLIGHT: f32 = 0.05;

impl<F: LaneLoss> Lanes<'_, F> {
    /// Descends until no sample has a violation above the tolerance.
    pub(super) fn settle(mut self, params: &DualParams, seed: Seed) -> Solution {
        let mut rng = seed.stream();
        let mut active = self.first(&mut rng);
        let n = self.rows.n_rows();
        let (mut visits, most) = (0, params.max_passes.saturating_mul(n));
        let (mut since_check, patience) = (0, n.saturating_mul(PATIENCE));
        let mut goal = ROUGH * params.tolerance;
        let residual = loop {
            if visits >= most {
                break self.check(f32::INFINITY, |_, _| {});
            }
            visits += active.len();
            since_check += active.len();
            active.shuffle(&mut rng);
            let worst = vectorized(
                #[inline(always)]
                || self.pass(&mut active, params.tolerance),
            );
            if worst > goal && since_check < patience && !active.is_empty() {
                continue;
            }
            since_check = 0;
            active.clear();
            let residual = self.check(params.tolerance, |row, violation| {
                if violation > SETTLED * params.tolerance {
                    active.push(row as u32);
                }
            });
            visits += n;
            if residual <= params.tolerance {
                break residual;
            }
            // The samples that were left out have moved the others. Now the goal is tighter, as every check is a pass
            // over all samples.
            goal = if goal > params.tolerance {
                params.tolerance
            } else {
                SETTLED * params.tolerance
            };
        };
        self.solution(residual)
    }

    /// Returns the samples with any of the labels, and some of the others.
    fn first(&self, rng: &mut impl Rng) -> Vec<u32> {
        let is_labelled = |row: &u32| self.labels[*row as usize] != 0;
        let all = 0..self.rows.n_rows() as u32;
        let (mut active, mut others): (Vec<u32>, Vec<u32>) = all.partition(is_labelled);
        let n_few = others.len().div_ceil(FEW);
        active.extend_from_slice(others.partial_shuffle(rng, n_few).0);
        active
    }

    /// Takes a step for each active sample, keeps those that are not settled, and returns the largest violation.
    #[inline(always)]
    fn pass(&mut self, active: &mut Vec<u32>, tolerance: f32) -> f32 {
        let mut worst = 0.0_f32;
        active.retain(|&row| {
            let row = row as usize;
            let step = self.step(row);
            let violation = step.largest_violation();
            worst = worst.max(violation);
            if violation > SLIGHT * tolerance {
                self.take(row, &step);
            }
            violation > SETTLED * tolerance
        });
        worst
    }

    /// Takes a step for every sample with a violation above the limit and returns the largest violation. If that is not
    /// above the limit, it is the violation of the current weights.
    fn check(&mut self, limit: f32, mut observe: impl FnMut(usize, f32)) -> f32 {
        let mut worst = 0.0_f32;
        vectorized(
            #[inline(always)]
            || {
                for row in 0..self.rows.n_rows() {
                    let step = self.step(row);
                    let violation = step.largest_violation();
                    worst = worst.max(violation);
                    observe(row, violation);
                    if violation > limit {
                        self.take(row, &step);
                    }
                }
            },
        );
        worst
    }
}
