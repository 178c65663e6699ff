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
    /// A or B out of range, fewer than 3 training samples (C would not be positive), a count above `n_train`.
    pub fn inverse(self, label_counts: &[usize], n_train: usize) -> Result<Vec<f64>, ParameterError> {
        self.check()?;
        ParameterError::unless(n_train >= 3, "n_train", n_train, "at least 3")?;
        let most = "at most the number of training samples";
        let c = (math::ln(n_train as f64) - 1.0) * math::powf(self.b + 1.0, self.a);
        let inverse = |&count: &usize| {
            ParameterError::unless(count <= n_train, "label_counts", count, most)?;
            Ok(1.0 + c * math::powf(count as f64 + self.b, -self.a))
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
