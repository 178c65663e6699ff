//! Friedman's test: do k methods differ over N data sets?

use crate::StatsError;
use crate::distributions::{chi2_survival, f_survival, studentized_range_survival};
use crate::post_hoc::rank_difference_unit;
use crate::ranks::{doubled_ranks, tie_sum};
use ndarray::{Array2, ArrayView2};
use rpo_core::TooFew;
use std::f64::consts::SQRT_2;

/// The direction in which scores improve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Larger scores are better, as in accuracy.
    Higher,
    /// Smaller scores are better, as in losses.
    Lower,
}

/// Ranks of k methods on each of N data sets, and Friedman's test on these ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Friedman {
    /// The rank of each method (column) on each data set (row), 1 for the best.
    pub ranks: Array2<f64>,
    /// The mean rank of each method.
    pub average_ranks: Vec<f64>,
    /// The test without correction for ties: χ² = 12 N / (k (k + 1)) [Σ R_j² - k (k + 1)² / 4] over mean ranks R_j (Demšar
    /// 2006, section 3.2.2).
    pub uncorrected: FriedmanTest,
    /// The test with χ² divided by 1 - Σ(t³ - t) / (N k (k² - 1)) over groups of t ties, NaN if all methods tie on
    /// every data set.
    pub tie_corrected: FriedmanTest,
}

/// Friedman's χ² and the less conservative F of Iman and Davenport (1980).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FriedmanTest {
    /// χ² with k - 1 degrees of freedom.
    pub chi2: f64,
    /// Degrees of freedom of χ²: k - 1.
    pub df: usize,
    /// Probability of a larger χ².
    pub p: f64,
    /// F = (N - 1) χ² / (N (k - 1) - χ²), infinite if all data sets agree.
    pub f: f64,
    /// Degrees of freedom of F: k - 1 and (k - 1)(N - 1).
    pub f_df: (usize, usize),
    /// Probability of a larger F.
    pub f_p: f64,
}

impl FriedmanTest {
    /// Computes the test for N data sets and k methods from Σ_j (2 R_j)², where R_j is the rank sum of method j, and Σ
    /// (t³ - t) over groups of t tied methods. χ² is a quotient of integers, so that the case in which all data sets
    /// agree is detected exactly.
    fn of((n_datasets, n_methods): (usize, usize), squares: u128, ties: u128) -> Self {
        let (n, k) = (n_datasets as u128, n_methods as u128);
        // χ² = (k - 1) numerator / denominator.
        let numerator = 3 * (squares - n * n * k * (k + 1) * (k + 1));
        let denominator = n * k * (k * k - 1) - ties;
        let chi2 = ((k - 1) * numerator) as f64 / denominator as f64;
        // N (k - 1) - χ² = (k - 1)(N denominator - numerator) / denominator.
        let f = ((n - 1) * numerator) as f64 / (n * denominator - numerator) as f64;
        let df = n_methods - 1;
        let f_df = (df, df * (n_datasets - 1));
        Self {
            chi2,
            df,
            p: chi2_survival(chi2, df),
            f,
            f_df,
            f_p: f_survival(f, f_df),
        }
    }
}

impl Friedman {
    /// Ranks methods (columns) on each data set (row); ties share the mean rank.
    ///
    /// # Errors
    /// Fewer than two methods or two data sets, values that are not finite.
    pub fn new(scores: ArrayView2<'_, f64>, better: Better) -> Result<Self, StatsError> {
        let (n, k) = scores.dim();
        TooFew::check("methods", 2, k)?;
        TooFew::check("data sets", 2, n)?;
        if let Some((index, &value)) = scores.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(StatsError::NonFinite { index, value });
        }
        let (mut ranks, mut sums, mut ties) = (Array2::zeros((n, k)), vec![0_u64; k], 0);
        for (row, mut out) in scores.rows().into_iter().zip(ranks.rows_mut()) {
            let sign = if better == Better::Higher { -1.0 } else { 1.0 };
            let (doubled, groups) = doubled_ranks(&row.mapv(|v| sign * v).to_vec());
            ties += tie_sum(&groups);
            for (j, rank) in doubled.into_iter().enumerate() {
                sums[j] += rank;
                out[j] = rank as f64 / 2.0;
            }
        }
        let squares = sums.iter().map(|&r| u128::from(r).pow(2)).sum();
        Ok(Self {
            ranks,
            average_ranks: sums.iter().map(|&r| r as f64 / (2 * n) as f64).collect(),
            uncorrected: FriedmanTest::of((n, k), squares, 0),
            tie_corrected: FriedmanTest::of((n, k), squares, ties),
        })
    }

    /// Returns Nemenyi's p-value for each pair of methods (k x k, 1 on the diagonal): the probability that the range of
    /// k mean ranks exceeds the difference of the pair (Demšar 2006, section 3.2.2).
    pub fn nemenyi_p(&self) -> Array2<f64> {
        let (n, k) = self.ranks.dim();
        let scale = SQRT_2 / rank_difference_unit(k, n);
        Array2::from_shape_fn((k, k), |(a, b)| {
            let difference = (self.average_ranks[a] - self.average_ranks[b]).abs();
            studentized_range_survival(difference * scale, k)
        })
    }

    /// Returns the bars of a critical-difference diagram: maximal groups of methods, each from best to worst mean rank,
    /// whose mean ranks lie within `critical_difference`. Groups of a single method are left out.
    pub fn indistinguishable(&self, critical_difference: f64) -> Vec<Vec<usize>> {
        let rank = |j: usize| self.average_ranks[j];
        let mut order: Vec<usize> = (0..self.average_ranks.len()).collect();
        order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)));
        let (mut groups, mut covered) = (Vec::new(), 0);
        for start in 0..order.len() {
            let within = |&&j: &&usize| rank(j) - rank(order[start]) <= critical_difference;
            let end = start + order[start..].iter().take_while(within).count();
            if end > covered && end > start + 1 {
                groups.push(order[start..end].to_vec());
            }
            covered = covered.max(end);
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn agreement_is_infinite_and_ties_are_undefined() {
        let agree = array![[1.0, 2.0, 3.0], [0.1, 0.2, 0.7], [5.0, 6.0, 7.0]];
        let friedman = Friedman::new(agree.view(), Better::Lower).unwrap();
        assert_eq!(friedman.average_ranks, [1.0, 2.0, 3.0]);
        let test = friedman.uncorrected;
        assert_eq!((test.chi2, test.f, test.f_p), (6.0, f64::INFINITY, 0.0));
        let tied = Friedman::new(Array2::ones((3, 2)).view(), Better::Higher).unwrap();
        assert_eq!(tied.uncorrected.chi2, 0.0);
        assert!(tied.tie_corrected.chi2.is_nan());
        assert_eq!(tied.nemenyi_p(), Array2::<f64>::ones((2, 2)));
    }

    #[test]
    fn bars_of_the_diagram() {
        // Mean ranks 1, 2, 3.
        let agree = array![[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]];
        let friedman = Friedman::new(agree.view(), Better::Lower).unwrap();
        assert_eq!(friedman.indistinguishable(0.5), Vec::<Vec<usize>>::new());
        assert_eq!(friedman.indistinguishable(1.0), [[1, 2], [2, 0]]);
        assert_eq!(friedman.indistinguishable(2.0), [[1, 2, 0]]);
    }

    #[test]
    fn bad_tables_are_refused() {
        let short = Friedman::new(array![[1.0, 2.0]].view(), Better::Higher);
        let expected = StatsError::TooFew(TooFew {
            what: "data sets",
            needed: 2,
            given: 1,
        });
        assert_eq!(short, Err(expected));
        let found = Friedman::new(array![[1.0, 2.0], [1.0, f64::INFINITY]].view(), Better::Higher);
        let expected = StatsError::NonFinite {
            index: 3,
            value: f64::INFINITY,
        };
        assert_eq!(found, Err(expected));
    }
}
