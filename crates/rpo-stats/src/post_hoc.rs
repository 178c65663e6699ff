//! Critical differences of mean ranks after Friedman's test.

use crate::StatsError;
use crate::distributions::{normal_quantile, studentized_range_quantile};
use crate::error::{check_enough, check_level};
use std::f64::consts::FRAC_1_SQRT_2;

/// Returns Nemenyi's quantile for comparing all pairs of `k` methods at level `alpha`: the studentized range's with
/// infinite degrees of freedom, divided by √2 (Demšar 2006, table 5a, which this computes rather than tabulates).
///
/// # Errors
/// Fewer than two methods, a level outside (0, 1).
pub fn nemenyi_quantile(k: usize, alpha: f64) -> Result<f64, StatsError> {
    check_enough("methods", k, 2)?;
    check_level("alpha", alpha)?;
    Ok(studentized_range_quantile(alpha, k) * FRAC_1_SQRT_2)
}

/// Returns Bonferroni and Dunn's quantile for comparing `k` - 1 methods with a control at level `alpha`: the normal
/// quantile at 1 - alpha / (2 (k - 1)) (Demšar 2006, table 5b).
///
/// # Errors
/// Fewer than two methods, a level outside (0, 1).
pub fn bonferroni_dunn_quantile(k: usize, alpha: f64) -> Result<f64, StatsError> {
    check_enough("methods", k, 2)?;
    check_level("alpha", alpha)?;
    Ok(-normal_quantile(alpha / (2.0 * (k - 1) as f64)))
}

/// Returns the difference of mean ranks over `n` data sets from which two of `k` methods differ: q √(k (k + 1) / (6
/// n)), with q from [`nemenyi_quantile`] or [`bonferroni_dunn_quantile`] (Demšar 2006, section 3.2.2).
///
/// # Errors
/// Fewer than two methods, no data set.
pub fn critical_difference(quantile: f64, k: usize, n: usize) -> Result<f64, StatsError> {
    check_enough("methods", k, 2)?;
    check_enough("data sets", n, 1)?;
    Ok(quantile * rank_difference_unit(k, n))
}

/// The standard deviation of a difference of two mean ranks under the hypothesis of no difference.
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
            let q = nemenyi_quantile(k, alpha).unwrap();
            let p = studentized_range_survival(q * std::f64::consts::SQRT_2, k);
            prop_assert!((p / alpha - 1.0).abs() < 1e-9);
            // Comparing all pairs takes a larger difference than comparing with one control.
            prop_assert!(q >= bonferroni_dunn_quantile(k, alpha).unwrap() - 1e-9);
        }
    }

    #[test]
    fn bounds() {
        let too_few = StatsError::TooFew {
            what: "methods",
            given: 1,
            needed: 2,
        };
        assert_eq!(nemenyi_quantile(1, 0.05), Err(too_few.clone()));
        assert_eq!(bonferroni_dunn_quantile(1, 0.05), Err(too_few));
        for alpha in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(nemenyi_quantile(3, alpha).is_err() && bonferroni_dunn_quantile(3, alpha).is_err());
        }
        assert!(critical_difference(2.0, 3, 0).is_err());
        assert!(
            critical_difference(2.0, usize::MAX, usize::MAX)
                .unwrap()
                .is_finite()
        );
    }
}
