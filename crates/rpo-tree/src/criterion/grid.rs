//! Numbers whose sums are exact.
//!
//! `f64` sums multiples of one power of two without rounding as long as no sum needs more than 53 bits. The sum over
//! the rows of a node then equals the sum over some of them plus that over the others, in any order, so the sums of a
//! node's larger child may be computed as those of the node minus those of the smaller child.

use rpo_core::vectorized;

/// The coarsest grid needed: multiples of a power of two, all sums of which are exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// Three halves of 2⁵² steps: adding a number to it rounds that number to a step, half to even.
    shift: f64,
}

impl Grid {
    /// Makes a grid for sums of numbers times nonnegative weights, where the numbers are at most `largest` and the
    /// weights sum to at most `weight`. A step is at most 2⁻⁵⁰ of the product of the two.
    pub(super) fn new(largest: f64, weight: f64) -> Self {
        const EXPONENT: u64 = 0x7FF << 52;
        let power_below = f64::from_bits((largest * weight).to_bits() & EXPONENT);
        Self {
            shift: 6.0 * power_below,
        }
    }

    /// Rounds a number, at most the largest, to the nearest point of the grid.
    #[inline(always)]
    pub(super) fn round(self, value: f64) -> f64 {
        (value + self.shift) - self.shift
    }
}

/// Number of values compared side by side.
const LANES: usize = 16;

/// Returns the largest magnitude of some numbers, ignoring NaN.
fn largest(values: &[f32]) -> f64 {
    // Comparisons with NaN are false.
    let larger = |a: f32, b: f32| if b.abs() > a { b.abs() } else { a };
    let largest = vectorized(
        #[inline(always)]
        || {
            let mut largest = [0.0; LANES];
            let (chunks, rest) = values.as_chunks::<LANES>();
            for chunk in chunks {
                for (largest, &value) in largest.iter_mut().zip(chunk) {
                    *largest = larger(*largest, value);
                }
            }
            largest.iter().chain(rest).copied().fold(0.0, larger)
        },
    );
    f64::from(largest)
}

/// Returns true if weights are whole numbers from 0.
pub(super) fn are_whole(weights: &[f32]) -> bool {
    weights.iter().all(|w| w.fract() == 0.0 && *w >= 0.0)
}

/// Rounds targets so that their sums, times weights that are whole numbers from 0 and sum to at most `weight`, are
/// exact. Targets are rounded to multiples of a power of two that is at most 2⁻⁵⁰ `weight` times the largest target.
/// With a million samples no target changes by more than 2⁻³¹ of the largest, and no target above a 64th of it changes
/// at all. If weights are so large that rounding would change targets by more than `f32` rounds the largest one (2⁻²⁴
/// of it), nothing is rounded, and sums are not exact.
///
/// For such targets [`Variance`](super::Variance) computes the sums of a node's larger child from those of the node and
/// of the smaller child. Rounding again changes nothing. NaN stays NaN, and nothing changes if a target is infinite.
pub fn round_for_exact_sums(targets: &mut [f32], weight: f64) {
    /// Largest sum of weights for which a step is at most 2⁻²⁴ of the largest target.
    const MOST_WEIGHT: f64 = (1 << 26) as f64;
    let grid = Grid::new(largest(targets), weight);
    if grid.shift.is_finite() && weight <= MOST_WEIGHT {
        vectorized(
            #[inline(always)]
            || {
                for target in targets {
                    *target = grid.round(f64::from(*target)) as f32;
                }
            },
        );
    }
}

/// Returns true if all sums of these targets (m per weight) times weights are exact.
pub(super) fn sums_are_exact(targets: &[f32], weights: &[f32]) -> bool {
    let weight = weights.iter().map(|&w| f64::from(w)).sum();
    let grid = Grid::new(largest(targets), weight);
    let fits = |target: &f32| grid.round(f64::from(*target)) == f64::from(*target);
    if !(are_whole(weights) && grid.shift.is_finite()) {
        return false;
    }
    vectorized(
        #[inline(always)]
        || {
            let (chunks, rest) = targets.as_chunks::<LANES>();
            let all = |chunk: &[f32; LANES]| chunk.iter().fold(true, |all, target| all & fits(target));
            chunks.iter().all(all) && rest.iter().all(fits)
        },
    )
}

/// A nonnegative number as two numbers that add up to it.
pub(super) type Parts = [f64; 2];

/// Splits numbers into parts, all sums of which times whole weights are exact. The first part is a multiple of a power
/// of two, the second, which is far smaller, a multiple of another. A remainder finer than the steps of the second is
/// rounded.
pub(super) fn parts(values: &[f64], weights: &[f32]) -> Vec<Parts> {
    let weight = weights.iter().map(|&w| f64::from(w)).sum();
    let largest = values.iter().fold(0.0_f64, |largest, v| largest.max(*v));
    let coarse = Grid::new(largest, weight);
    // The rounding error is less than this.
    let fine = Grid::new(coarse.shift * f64::EPSILON, weight);
    let parts = |&value: &f64| {
        let first = coarse.round(value);
        [first, fine.round(value - first)]
    };
    values.iter().map(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weighted_sum(targets: &[f32], weights: &[f32], rows: impl Iterator<Item = usize>) -> f64 {
        rows.map(|i| f64::from(weights[i]) * f64::from(targets[i])).sum()
    }

    proptest! {
        /// Rounded targets have sums that do not depend on the order, and change by no more than their size allows.
        #[test]
        fn sums_of_rounded_targets_are_exact(
            cells in prop::collection::vec((-1e3_f32..1e3, -40..10_i32, 0_u8..4), 2..200),
            cut in 0_usize..200,
        ) {
            let given: Vec<f32> = cells.iter().map(|&(z, exponent, _)| z * 2.0_f32.powi(exponent)).collect();
            let weights: Vec<f32> = cells.iter().map(|&(.., weight)| f32::from(weight)).collect();
            let (n, cut) = (given.len(), cut.min(given.len()));
            let weight = 3.0 * n as f64;
            let mut targets = given.clone();
            round_for_exact_sums(&mut targets, weight);
            prop_assert!(sums_are_exact(&targets, &weights));
            let mut again = targets.clone();
            round_for_exact_sums(&mut again, weight);
            prop_assert_eq!(&again, &targets);
            let step = largest(&given) * weight * 2.0_f64.powi(-50);
            for (z, rounded) in given.iter().zip(&targets) {
                prop_assert!(f64::from((z - rounded).abs()) <= step / 2.0);
            }
            let total = weighted_sum(&targets, &weights, 0..n);
            prop_assert_eq!(total, weighted_sum(&targets, &weights, (0..n).rev()));
            let (left, right) = (0..cut, cut..n);
            prop_assert_eq!(
                total - weighted_sum(&targets, &weights, left),
                weighted_sum(&targets, &weights, right)
            );
        }

        #[test]
        fn sums_of_parts_are_exact(
            cells in prop::collection::vec((0_f64..1e3, -60..10_i32, 0_u8..4), 1..100),
        ) {
            let values: Vec<f64> = cells.iter().map(|&(z, exponent, _)| z * 2.0_f64.powi(exponent)).collect();
            let weights: Vec<f32> = cells.iter().map(|&(.., weight)| f32::from(weight)).collect();
            let parts = parts(&values, &weights);
            let largest = values.iter().fold(0.0_f64, |a, b| a.max(*b));
            for part in 0..2 {
                let sum = |rows: &mut dyn Iterator<Item = usize>| {
                    rows.map(|i| f64::from(weights[i]) * parts[i][part]).sum::<f64>()
                };
                prop_assert_eq!(sum(&mut (0..values.len())), sum(&mut (0..values.len()).rev()));
            }
            for (value, part) in values.iter().zip(&parts) {
                prop_assert!((part[0] + part[1] - value).abs() <= f64::EPSILON * value + 1e-25 * largest);
            }
        }
    }

    #[test]
    fn what_has_no_grid_is_left_alone() {
        let round = |mut targets: Vec<f32>| {
            round_for_exact_sums(&mut targets, 10.0);
            targets
        };
        assert_eq!(round(vec![1e-20, f32::INFINITY]), [1e-20, f32::INFINITY]);
        assert_eq!(round(vec![0.0; 2]), [0.0; 2]);
        let mut targets = [1.0, 0.1];
        round_for_exact_sums(&mut targets, 1e14);
        assert!(targets == [1.0, 0.1] && !sums_are_exact(&targets, &[1e14, 1e14]));
        let with_missing = round(vec![f32::NAN, 3.0, 1e-20]);
        assert!(with_missing[0].is_nan() && with_missing[1..] == [3.0, 0.0]);
        assert!(sums_are_exact(&[0.0, 0.0], &[1.0, 1.0]));
        assert!(!sums_are_exact(&[1.0, 1.0], &[1.0, 0.5]));
        assert!(!sums_are_exact(&[1.0, 1e-20], &[1.0, 1.0]));
        assert!(!sums_are_exact(&[1.0, f32::INFINITY], &[1.0, 1.0]));
        assert!(!sums_are_exact(&[1.0, f32::NAN], &[1.0, 1.0]));
    }
}
