//! Student's t test of paired samples.

use crate::distributions::{t_two_sided, t_two_sided_quantile};
use crate::{ConfidenceInterval, PValues, StatsError, differences};
use rpo_core::{Domain, TooFew};

/// The t test of paired samples.
///
/// For scores over several data sets, [`SignedRanks`](crate::SignedRanks) makes fewer assumptions. If all differences
/// are equal, t is infinite, or NaN if they are zero.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PairedT {
    /// The mean difference divided by its standard error.
    pub t: f64,
    /// Degrees of freedom: the number of pairs minus one.
    pub df: usize,
    /// The p-values.
    pub p: PValues,
    /// The mean of x - y.
    pub mean_difference: f64,
    /// The standard deviation of x - y, divisor n - 1.
    pub sd_difference: f64,
    /// The standard error of the mean difference.
    pub standard_error: f64,
}

impl PairedT {
    /// Tests whether the mean of x - y is 0.
    ///
    /// `overlap` is 0 for independent pairs. For repeated random splits of one data set, it is the number of test
    /// samples divided by the number of training samples: because training sets overlap, the variance of the mean is
    /// taken as (1/n + overlap) times the variance of a difference, instead of 1/n times (Nadeau and Bengio 2003,
    /// section 5.1).
    ///
    /// # Errors
    /// Lengths that differ, fewer than two pairs, values that are not finite; an overlap that is negative or not finite.
    pub fn new(x: &[f64], y: &[f64], overlap: f64) -> Result<Self, StatsError> {
        Domain::NotNegative.check("overlap", overlap)?;
        let differences = differences(x, y)?;
        TooFew::check("pairs", 2, differences.len())?;
        let n = differences.len() as f64;
        // Relative to the first difference, so that equal differences have a standard deviation of exactly 0.
        let first = differences[0];
        let mean_difference = first + differences.iter().map(|d| d - first).sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| (d - mean_difference).powi(2)).sum();
        let sd_difference = (squares / (n - 1.0)).sqrt();
        let standard_error = sd_difference * (1.0 / n + overlap).sqrt();
        let t = mean_difference / standard_error;
        let df = differences.len() - 1;
        let two_sided = t_two_sided(t, df);
        let (tail, rest) = (two_sided / 2.0, 1.0 - two_sided / 2.0);
        let (greater, less) = if t < 0.0 { (rest, tail) } else { (tail, rest) };
        Ok(Self {
            t,
            df,
            p: PValues {
                two_sided,
                greater,
                less,
            },
            mean_difference,
            sd_difference,
            standard_error,
        })
    }
}

/// The Student's t interval around the mean difference.
impl ConfidenceInterval for PairedT {
    fn interval(&self, level: f64) -> Result<(f64, f64), StatsError> {
        Domain::Level.check("level", level)?;
        let half = t_two_sided_quantile(1.0 - level, self.df) * self.standard_error;
        Ok((self.mean_difference - half, self.mean_difference + half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::Mismatch;

    #[test]
    fn equal_differences() {
        let ahead = PairedT::new(&[1.1, 2.1, 3.1], &[1.0, 2.0, 3.0], 0.0).unwrap();
        assert!(ahead.t > 1e10);
        let exactly = PairedT::new(&[2.0, 3.0], &[1.0, 2.0], 0.0).unwrap();
        assert_eq!(
            (exactly.t, exactly.p.two_sided, exactly.p.less),
            (f64::INFINITY, 0.0, 1.0)
        );
        let none = PairedT::new(&[1.0, 2.0], &[1.0, 2.0], 0.0).unwrap();
        assert!(none.t.is_nan() && none.p.two_sided.is_nan());
    }

    #[test]
    fn two_pairs_by_hand() {
        // Differences 1 and 3: t = 2 / (sqrt(2) / sqrt(2)), Cauchy tails.
        let test = PairedT::new(&[2.0, 4.0], &[1.0, 1.0], 0.0).unwrap();
        assert!((test.t - 2.0).abs() < 1e-15);
        assert!((test.p.greater - (0.5 - 2.0_f64.atan() / std::f64::consts::PI)).abs() < 1e-15);
        assert!(test.interval(1.0).is_err() && test.interval(f64::NAN).is_err());
    }

    #[test]
    fn overlapping_training_sets_widen_the_error() {
        // Differences 1 and 3, two thirds for training: the variance of the mean is 2 (1/2 + 1/2).
        let test = PairedT::new(&[2.0, 4.0], &[1.0, 1.0], 0.5).unwrap();
        assert!((test.standard_error - 2.0_f64.sqrt()).abs() < 1e-15);
        assert!((test.t - 2.0_f64.sqrt()).abs() < 1e-15);
        assert!(PairedT::new(&[2.0, 4.0], &[1.0, 1.0], f64::INFINITY).is_err());
    }

    #[test]
    fn bad_samples_are_refused() {
        let expected = Mismatch {
            what: "values of the second sample",
            expected: 1,
            given: 0,
        };
        assert_eq!(
            PairedT::new(&[1.0], &[], 0.0),
            Err(StatsError::Mismatch(expected))
        );
        let expected = StatsError::TooFew(TooFew {
            what: "pairs",
            needed: 2,
            given: 1,
        });
        assert_eq!(PairedT::new(&[1.0], &[2.0], 0.0), Err(expected));
        let found = PairedT::new(&[1.0, f64::INFINITY], &[2.0, 1.0], 0.0);
        let expected = StatsError::NonFinite {
            index: 1,
            value: f64::INFINITY,
        };
        assert_eq!(found, Err(expected));
    }
}
