//! Critical differences of mean ranks after Friedman's test.

use crate::StatsError;
use crate::distributions::{normal_quantile, studentized_range_quantile};
use rpo_core::{Domain, TooFew};
use std::f64::consts::FRAC_1_SQRT_2;

/// A comparison of methods by their mean ranks, after Friedman's test has found a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostHoc {
    /// Compares all pairs of k methods, by the quantile q of the studentized range with infinite degrees of freedom,
    /// divided by √2 (Demšar 2006, table 5a; computed here, not tabulated).
    Nemenyi,
    /// Compares k - 1 methods with a control, by the normal quantile q at 1 - alpha / (2 (k - 1)) (Demšar 2006, table
    /// 5b).
    BonferroniDunn,
}

impl PostHoc {
    fn quantile(self, k: usize, alpha: f64) -> f64 {
        match self {
            Self::Nemenyi => studentized_range_quantile(alpha, k) * FRAC_1_SQRT_2,
            Self::BonferroniDunn => -normal_quantile(alpha / (2.0 * (k - 1) as f64)),
        }
    }

    /// Returns the difference of mean ranks over `n` data sets from which two of `k` methods differ at level `alpha`:
    /// q √(k (k + 1) / (6 n)) (Demšar 2006, section 3.2.2).
    ///
    /// # Errors
    /// Fewer than two methods, no data set, a level outside (0, 1).
    pub fn critical_difference(self, k: usize, n: usize, alpha: f64) -> Result<f64, StatsError> {
        TooFew::check("methods", 2, k)?;
        TooFew::check("data sets", 1, n)?;
        Domain::Level.check("alpha", alpha)?;
        Ok(self.quantile(k, alpha) * rank_difference_unit(k, n))
    }
}

/// Returns the standard deviation of a difference of two mean ranks under the hypothesis of no difference.
pub(crate) fn rank_difference_unit(k: usize, n: usize) -> f64 {
    let (k, n) = (k as f64, n as f64);
    (k * (k + 1.0) / (6.0 * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::studentized_range_survival;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nemenyi_p_is_alpha_at_the_critical_difference(k in 2_usize..20, alpha in 0.001_f64..0.1) {
            let q = PostHoc::Nemenyi.quantile(k, alpha);
            let p = studentized_range_survival(q * std::f64::consts::SQRT_2, k);
            prop_assert!((p / alpha - 1.0).abs() < 1e-9);
            // Comparing all pairs requires a larger difference than comparing with one control.
            prop_assert!(q >= PostHoc::BonferroniDunn.quantile(k, alpha) - 1e-9);
        }
    }

    #[test]
    fn bounds() {
        let too_few = StatsError::TooFew(TooFew {
            what: "methods",
            needed: 2,
            given: 1,
        });
        for test in [PostHoc::Nemenyi, PostHoc::BonferroniDunn] {
            assert_eq!(test.critical_difference(1, 3, 0.05), Err(too_few.clone()));
            for alpha in [0.0, 1.0, -0.5, f64::NAN] {
                assert!(test.critical_difference(3, 4, alpha).is_err());
            }
            assert!(test.critical_difference(3, 0, 0.05).is_err());
        }
        let largest = PostHoc::BonferroniDunn.critical_difference(usize::MAX, usize::MAX, 0.05);
        assert!(largest.unwrap().is_finite());
    }
}
