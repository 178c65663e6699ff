//! Descent that leaves out settled samples, for losses whose dual variables are mostly 0.

use rand::Rng;
use rand::seq::SliceRandom;
use rpo_core::{Seed, vectorized};

use super::lanes::Lanes;
use super::loss::Hinge;
use super::{DualParams, LANES, Solution};

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
/// The tolerance of a label that stands out by less than the tolerance becomes this fraction of what it stands out by: with
/// half of it, the area under the curve of labels that one in 300 to 1,000 samples have is up to 2 points lower, with a
/// quarter within half a point of that with a tenth.
const PART: f64 = 0.25;
/// The largest divisor of the tolerance of a label: smaller violations drown in the rounding of scores.
const STRICTEST: f64 = 1000.0;
/// A larger divisor by less than this factor is not worth more passes.
const WORTH: f32 = 1.25;

impl Lanes<'_, Hinge> {
    /// Descends until no sample has a violation above the tolerance, or above a part of what the label stands out by if
    /// this is less than the tolerance. Scores of a label that one in 1,000 samples has, and whose features each say
    /// a little about it, differ by hundredths, and would end in any order.
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
                if !self.tighten(params.tolerance) {
                    break residual;
                }
                active.extend(0..n as u32);
                goal = params.tolerance;
                continue;
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

    /// Divides the tolerance of the labels that stand out by less than it; returns whether there are any.
    fn tighten(&mut self, tolerance: f32) -> bool {
        let rises = self.rises();
        let mut is_tighter = false;
        for (strictness, rise) in self.loss.strictness.iter_mut().zip(rises) {
            // The lower the tolerance, the more exact is what a label stands out by.
            if *strictness == 1.0 && rise >= f64::from(tolerance) {
                continue;
            }
            let needed = (f64::from(tolerance) / (PART * rise)).clamp(1.0, STRICTEST) as f32;
            if needed > WORTH * *strictness {
                *strictness = needed;
                is_tighter = true;
            }
        }
        is_tighter
    }

    /// Returns what each label stands out by: the mean score of the samples with it, above that of the samples without it,
    /// where margins above 1 count as 1; 2 for a label that does not vary. Up to the violations, 1 - m is α / 2C.
    fn rises(&self) -> [f64; LANES] {
        let mut missing = [[0.0; LANES]; 2];
        let mut totals = [[0.0; LANES]; 2];
        for (row, alpha) in self.alpha.iter().enumerate() {
            let weight = f64::from(self.rows.weight(row));
            for l in 0..LANES {
                let has = usize::from(self.labels[row] & (1 << l) != 0);
                missing[has][l] += f64::from(alpha[l] * self.loss.diagonals[has][l]);
                totals[has][l] += weight;
            }
        }
        let mean = |has: usize, l: usize| missing[has][l] / totals[has][l];
        let varies = |l: usize| totals[0][l] > 0.0 && totals[1][l] > 0.0;
        // Rounding may leave less than 0.
        let rise = |l: usize| (2.0 - mean(0, l) - mean(1, l)).max(f64::MIN_POSITIVE);
        std::array::from_fn(|l| if varies(l) { rise(l) } else { 2.0 })
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
