//! Corrections of p-values for multiple tests.

use crate::StatsError;
use rpo_core::Domain;

/// A correction of p-values for multiple tests. A hypothesis is rejected at level alpha if its adjusted p-value is at
/// most alpha; the probability of any false rejection is then at most alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// Each p-value times the number of p-values, at most 1.
    Bonferroni,
    /// The step-down method: the i-th smallest of m p-values times m - i + 1, made monotone, at most 1. Rejects every
    /// hypothesis that [`Bonferroni`](Self::Bonferroni) rejects, with the same guarantee (Holm 1979).
    Holm,
}

impl Correction {
    /// Returns the adjusted p-values, in the order of the given ones.
    ///
    /// # Errors
    /// A p-value outside \[0, 1\].
    pub fn adjust(self, p: &[f64]) -> Result<Vec<f64>, StatsError> {
        for &p in p {
            Domain::Probability.check("p", p)?;
        }
        if self == Self::Bonferroni {
            return Ok(p.iter().map(|value| (value * p.len() as f64).min(1.0)).collect());
        }
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        let (mut adjusted, mut largest) = (vec![0.0; p.len()], 0.0_f64);
        for (i, &at) in order.iter().enumerate() {
            largest = largest.max((p[at] * (p.len() - i) as f64).min(1.0));
            adjusted[at] = largest;
        }
        Ok(adjusted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let p = [0.04, 0.01, 0.03];
        assert_eq!(Correction::Bonferroni.adjust(&p).unwrap(), [0.12, 0.03, 0.09]);
        // 0.01 * 3, 0.03 * 2, then 0.04 * 1 raised to the value before it.
        assert_eq!(Correction::Holm.adjust(&p).unwrap(), [0.06, 0.03, 0.06]);
        assert_eq!(Correction::Holm.adjust(&[]).unwrap(), [0.0; 0]);
    }

    #[test]
    fn p_values_out_of_range_are_refused() {
        for value in [-f64::MIN_POSITIVE, 1.0 + f64::EPSILON] {
            let expected = Domain::Probability.check("p", value).unwrap_err();
            assert_eq!(
                Correction::Holm.adjust(&[0.5, value]),
                Err(StatsError::Parameter(expected))
            );
        }
        assert!(Correction::Bonferroni.adjust(&[f64::NAN]).is_err());
        assert!(Correction::Bonferroni.adjust(&[0.0, 1.0]).is_ok());
    }
}
