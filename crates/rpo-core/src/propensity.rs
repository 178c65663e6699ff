//! Propensities: probabilities that a relevant label is recorded.

use crate::math;
use crate::{CheckParams, Domain, ParameterError};

/// The propensity model of Jain, Prabhu and Varma, KDD 2016.
///
/// $1/p_l = 1 + C (N_l + B)^{-A}$ with $C = (\ln N - 1)(B + 1)^A$, where $N_l$ of N training samples have label l.
/// The defaults A = 0.55, B = 1.5 are those of the paper for other data; the paper fits A = 0.5, B = 0.4 to Wikipedia
/// and A = 0.6, B = 2.6 to Amazon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Propensity {
    /// Exponent A.
    pub a: f64,
    /// Offset B.
    pub b: f64,
}

impl Default for Propensity {
    fn default() -> Self {
        Self { a: 0.55, b: 1.5 }
    }
}

impl CheckParams for Propensity {
    type Error = ParameterError;

    fn check(&self) -> Result<(), ParameterError> {
        Domain::NotNegative.check("propensity_a", self.a)?;
        Domain::Positive.check("propensity_b", self.b)
    }
}

impl Propensity {
    /// Returns the inverse propensity of each label from its count in a training set of `n_train` samples.
    ///
    /// # Errors
    /// A or B out of range, fewer than 3 training samples (C would not be positive), a count above `n_train`, an inverse
    /// propensity beyond the range of `f64`, as of a label without samples where B is near 0 and A is large.
    pub fn inverse(self, label_counts: &[usize], n_train: usize) -> Result<Vec<f64>, ParameterError> {
        self.check()?;
        ParameterError::unless(n_train >= 3, "n_train", n_train, "at least 3")?;
        let most = "at most the number of training samples";
        let scale = math::ln(n_train as f64) - 1.0;
        let inverse = |&count: &usize| {
            ParameterError::unless(count <= n_train, "label_counts", count, most)?;
            // One power of the ratio, as the power of each term may be out of range.
            let ratio = (self.b + 1.0) / (count as f64 + self.b);
            let inverse = 1.0 + scale * math::powf(ratio, self.a);
            let reason = "makes the propensity of a label 0 with this `propensity_b`: use a smaller one";
            let error = || ParameterError::conflict("propensity_a", self.a, reason);
            inverse.is_finite().then_some(inverse).ok_or_else(error)
        };
        label_counts.iter().map(inverse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_labels_weigh_more() {
        // B + 1 = N_l + B for a label seen once, so 1 + C (B + 1)^-A = ln N.
        let inverse = Propensity::default().inverse(&[0, 1, 50, 100], 100).unwrap();
        assert!((inverse[1] - 100.0_f64.ln()).abs() < 1e-14);
        assert!(inverse.windows(2).all(|w| w[0] > w[1]) && inverse[3] > 1.0);
    }

    #[test]
    fn inverses_are_finite_or_refused() {
        // 101^200 has 401 digits, and 1100^-200 is 0.
        let steep = Propensity { a: 200.0, b: 100.0 };
        let inverse = steep.inverse(&[0, 1, 1000], 1000).unwrap();
        let scale = 1000.0_f64.ln() - 1.0;
        assert!((inverse[0] / (1.0 + scale * 1.01_f64.powi(200)) - 1.0).abs() < 1e-12);
        assert_eq!((inverse[1], inverse[2]), (1.0 + scale, 1.0));
        let beyond = Propensity { a: 2.0, b: 1e-200 };
        assert!(beyond.inverse(&[1], 10).is_ok());
        let error = beyond.inverse(&[0], 10).unwrap_err();
        assert_eq!(error.name(), "propensity_a");
    }

    #[test]
    fn bounds() {
        let model = |a, b| Propensity { a, b }.inverse(&[1], 3);
        assert!(model(0.0, f64::MIN_POSITIVE).is_ok());
        for (a, b) in [
            (-0.1, 1.5),
            (0.5, 0.0),
            (f64::INFINITY, 1.0),
            (0.5, f64::INFINITY),
        ] {
            assert!(model(a, b).is_err());
        }
        assert!(model(f64::NAN, 1.5).is_err() && model(0.5, f64::NAN).is_err());
        let few = Propensity::default().inverse(&[1], 2);
        let expected = ParameterError::out_of_range("n_train", 2, "at least 3");
        assert_eq!(few, Err(expected));
        let expected = "at most the number of training samples";
        let expected = ParameterError::out_of_range("label_counts", 4, expected);
        assert_eq!(Propensity::default().inverse(&[3, 4], 3), Err(expected));
    }
}
