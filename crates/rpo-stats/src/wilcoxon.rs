//! Wilcoxon's signed-rank test of paired samples.

use crate::distributions::normal_cdf;
use crate::ranks::{doubled_ranks, tie_sum};
use crate::{PValues, StatsError, differences};
use rpo_core::TooFew;

/// The largest number of differences for the exact test. Its cost grows with the cube of this number, and beyond a few
/// dozen the normal approximation is as good.
const EXACT_LIMIT: usize = 500;

/// Treatment of pairs without a difference in the normal approximation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zeros {
    /// Drops them before ranking (Wilcoxon 1945). The default.
    #[default]
    Drop,
    /// Ranks them, then drops their ranks (Pratt 1959; variance of Cureton 1967).
    Pratt,
    /// Ranks them, and adds half of their rank sum to each side.
    Split,
}

/// Wilcoxon's signed-rank test: the sums of the ranks of |x - y|, by sign, over the pairs that differ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SignedRanks {
    differences: Vec<f64>,
    /// Number of pairs.
    pub n: usize,
    /// Number of pairs without a difference.
    pub n_zero: usize,
    /// True if two pairs differ by the same nonzero amount, in either direction.
    pub has_ties: bool,
    /// The rank sum of the pairs with x > y.
    pub r_plus: f64,
    /// The rank sum of the pairs with x < y.
    pub r_minus: f64,
    /// The smaller of the two rank sums: Wilcoxon's T.
    pub statistic: f64,
}

/// The normal approximation of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NormalApproximation {
    /// The smaller of the two rank sums.
    pub statistic: f64,
    /// The standardised statistic, at most 0; NaN if no pair differs.
    pub z: f64,
    /// The p-values; NaN if no pair differs.
    pub p: PValues,
}

/// Rank sums, doubled to stay integers, and the terms of their null distribution.
struct Sums {
    plus: u64,
    minus: u64,
    zero: u64,
    /// The doubled ranks of the pairs that differ.
    ranks: Vec<u64>,
    /// Σ (t³ - t) over groups of tied pairs that differ.
    ties: u128,
    /// Σ (t³ - t) over all groups, including the group of zeros.
    ties_with_zeros: u128,
}

impl SignedRanks {
    /// Ranks the absolute differences |x - y|; equal ones share the mean rank. Differences are equal if only the
    /// rounding of x and y to binary numbers sets them apart, as 0.8 - 0.7 and 0.3 - 0.2.
    ///
    /// # Errors
    /// Lengths that differ, no pair, values that are not finite.
    pub fn new(x: &[f64], y: &[f64]) -> Result<Self, StatsError> {
        let mut differences = differences(x, y)?;
        join_ties(&mut differences, x, y);
        TooFew::check("pairs", 1, differences.len())?;
        let sums = sums(&differences, Zeros::Drop);
        let (r_plus, r_minus) = (sums.plus as f64 / 2.0, sums.minus as f64 / 2.0);
        Ok(Self {
            n: differences.len(),
            n_zero: differences.iter().filter(|d| **d == 0.0).count(),
            has_ties: sums.ties > 0,
            r_plus,
            r_minus,
            statistic: r_plus.min(r_minus),
            differences,
        })
    }

    /// Returns the p-values of the exact permutation distribution of the rank sum, over all 2^n signs given the (tied)
    /// ranks of the n pairs that differ. `two_sided` is twice the smaller tail, at most 1.
    ///
    /// # Errors
    /// More than 500 pairs that differ.
    pub fn exact(&self) -> Result<PValues, StatsError> {
        let sums = sums(&self.differences, Zeros::Drop);
        if sums.ranks.len() > EXACT_LIMIT {
            return Err(StatsError::TooManyForExact {
                given: sums.ranks.len(),
                limit: EXACT_LIMIT,
            });
        }
        // Probability of each doubled rank sum, updated with one random sign at a time.
        let largest = (sums.plus + sums.minus) as usize;
        let mut probability = vec![0.0; largest + 1];
        probability[0] = 1.0;
        let mut reached = 0;
        for rank in sums.ranks.iter().map(|&r| r as usize) {
            reached += rank;
            for sum in (0..=reached).rev() {
                let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
                probability[sum] = (probability[sum] + with) / 2.0;
            }
        }
        let plus = sums.plus as usize;
        let less: f64 = probability[..=plus].iter().sum();
        let greater: f64 = probability[plus..].iter().rev().sum();
        Ok(PValues {
            two_sided: (2.0 * less.min(greater)).min(1.0),
            greater: greater.min(1.0),
            less: less.min(1.0),
        })
    }

    /// Returns the normal approximation, with tie correction of the variance. With `continuity`, the rank sum is moved
    /// by ½ towards its mean (one-sided: against the tested direction).
    pub fn normal(&self, zeros: Zeros, continuity: bool) -> NormalApproximation {
        let sums = sums(&self.differences, zeros);
        let n = sums.ranks.len() as f64;
        let n_zero = self.n_zero as f64;
        let moments = |n: f64| (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0));
        let (mean, spread, ties) = match zeros {
            Zeros::Drop => {
                let (mean, spread) = moments(n);
                (mean, spread, sums.ties)
            }
            Zeros::Pratt => {
                let ((mean, spread), (mean_zero, spread_zero)) = (moments(n + n_zero), moments(n_zero));
                (mean - mean_zero, spread - spread_zero, sums.ties)
            }
            Zeros::Split => {
                let (mean, spread) = moments(n + n_zero);
                (mean, spread, sums.ties_with_zeros)
            }
        };
        // Without any difference the test is undefined, whatever becomes of the zeros.
        let variance = (spread - ties as f64 / 2.0) / 24.0;
        let is_defined = variance > 0.0 && !sums.ranks.is_empty();
        let standard_error = if is_defined { variance.sqrt() } else { f64::NAN };
        let split = if zeros == Zeros::Split { sums.zero } else { 0 };
        let half_zero = split as f64 / 4.0;
        let plus = sums.plus as f64 / 2.0 + half_zero;
        let minus = sums.minus as f64 / 2.0 + half_zero;
        let off = plus - mean;
        let shift = if continuity { 0.5 } else { 0.0 };
        // At the mean there is no continuity correction.
        let towards_mean = if off == 0.0 { 0.0 } else { shift };
        let z = -(off.abs() - towards_mean).abs() / standard_error;
        NormalApproximation {
            statistic: plus.min(minus),
            z,
            p: PValues {
                two_sided: 2.0 * normal_cdf(z),
                greater: normal_cdf(-(off - shift) / standard_error),
                less: normal_cdf((off + shift) / standard_error),
            },
        }
    }
}

/// Makes differences x - y equal in size where they differ by no more than the rounding of x and y allows.
fn join_ties(differences: &mut [f64], x: &[f64], y: &[f64]) {
    // Two numbers, each off by half a unit in the last place, and their difference.
    let rounding = |i: usize| 2.0 * f64::EPSILON * x[i].abs().max(y[i].abs());
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|&i, &j| differences[i].abs().total_cmp(&differences[j].abs()));
    let (mut size, mut rounding_of_last) = (0.0, 0.0);
    for i in order {
        let own = differences[i].abs();
        if own - size > rounding_of_last + rounding(i) {
            size = own;
        }
        rounding_of_last = rounding(i);
        differences[i] = size.copysign(differences[i]);
    }
}

fn sums(differences: &[f64], zeros: Zeros) -> Sums {
    let kept: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|d| zeros != Zeros::Drop || *d != 0.0)
        .collect();
    let absolute: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    let (ranks, groups) = doubled_ranks(&absolute);
    let sum = |keep: fn(f64) -> bool| {
        kept.iter()
            .zip(&ranks)
            .filter(|(d, _)| keep(**d))
            .map(|(_, r)| r)
            .sum()
    };
    let ties_with_zeros = tie_sum(&groups);
    // The zeros, if kept, are the first group.
    let n_zero = kept.iter().filter(|d| **d == 0.0).count() as u64;
    Sums {
        plus: sum(|d| d > 0.0),
        minus: sum(|d| d < 0.0),
        zero: sum(|d| d == 0.0),
        ties: ties_with_zeros - tie_sum(&[n_zero]),
        ties_with_zeros,
        ranks: kept
            .iter()
            .zip(ranks.iter().copied())
            .filter(|(d, _)| **d != 0.0)
            .map(|(_, r)| r)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_two_decimals_have_the_ties_that_they_show() {
        let x = [0.95, 0.98, 0.95, 0.73, 0.80, 0.96, 0.94, 0.82];
        let y = [0.98, 1.0, 0.96, 0.74, 0.82, 0.97, 0.93, 0.81];
        // In hundredths.
        let whole = |v: &[f64]| v.iter().map(|v| (100.0 * v).round()).collect::<Vec<_>>();
        let (found, expected) = (
            SignedRanks::new(&x, &y).unwrap(),
            SignedRanks::new(&whole(&x), &whole(&y)).unwrap(),
        );
        assert_eq!((found.r_plus, found.r_minus), (expected.r_plus, expected.r_minus));
        assert_eq!(
            found.exact().unwrap().two_sided,
            expected.exact().unwrap().two_sided
        );
        assert!(found.has_ties);
        // Other numbers are as far apart as they are.
        let apart = SignedRanks::new(&[1.0, 1.0 + 1e-12], &[0.0; 2]).unwrap();
        assert!(!apart.has_ties);
        assert_eq!(SignedRanks::new(&[0.1 + 0.2], &[0.3]).unwrap().n_zero, 1);
    }

    #[test]
    fn exact_distribution_is_the_enumeration() {
        // Ties and zeros; every sign pattern of the ranks 1.5, 1.5, 3, 4.5, 4.5 in turn.
        let x = [1.0, -1.0, 0.0, 2.0, 3.0, -3.0];
        let test = SignedRanks::new(&x, &[0.0; 6]).unwrap();
        assert_eq!((test.n, test.n_zero, test.has_ties), (6, 1, true));
        assert_eq!((test.r_plus, test.r_minus, test.statistic), (9.0, 6.0, 6.0));
        let ranks = [1.5, 1.5, 3.0, 4.5, 4.5];
        let sum = |signs: u32| -> f64 { (0..5).filter(|i| signs >> i & 1 == 1).map(|i| ranks[i]).sum() };
        let fraction = |keep: fn(f64) -> bool| (0..32).filter(|&s| keep(sum(s))).count() as f64 / 32.0;
        let p = test.exact().unwrap();
        assert_eq!(
            (p.greater, p.less),
            (fraction(|s| s >= 9.0), fraction(|s| s <= 9.0))
        );
    }

    #[test]
    fn nothing_differs() {
        let test = SignedRanks::new(&[1.0, 2.0], &[1.0, 2.0]).unwrap();
        assert_eq!(test.exact().unwrap().two_sided, 1.0);
        for zeros in [Zeros::Drop, Zeros::Pratt, Zeros::Split] {
            let normal = test.normal(zeros, true);
            assert!(normal.z.is_nan() && normal.p.two_sided.is_nan() && normal.p.less.is_nan());
        }
    }

    #[test]
    fn large_samples_are_left_to_the_approximation() {
        let x: Vec<f64> = (1..=501).map(f64::from).collect();
        let test = SignedRanks::new(&x, &[0.0; 501]).unwrap();
        let expected = StatsError::TooManyForExact {
            given: 501,
            limit: 500,
        };
        assert_eq!(test.exact(), Err(expected));
        let at_limit = SignedRanks::new(&x[..500], &[0.0; 500]).unwrap();
        assert!(at_limit.exact().unwrap().less >= 1.0 - 1e-12);
        let empty = StatsError::TooFew(TooFew {
            what: "pairs",
            needed: 1,
            given: 0,
        });
        assert_eq!(SignedRanks::new(&[], &[]), Err(empty));
    }
}
