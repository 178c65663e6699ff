//! Penalties on the weights of regressions, and their units.

use std::fmt;
use std::ops::Mul;
use std::str::FromStr;

use rpo_core::{Domain, Mismatch};

use super::{Moments, Rows};
use crate::ProjectionError;

/// Fraction of nonzero values from which on features are treated as measurements on individual scales.
const DENSE_SHARE: f64 = 0.25;

/// A penalty on the weights of linear regressions on X (n x p), in units of the data.
///
/// As text: a number, λ of [`Relative`](Self::Relative), or `variance:ALPHA`.
///
/// ```
/// use rpo_projections::Penalty;
/// assert_eq!("1e-3".parse(), Ok(Penalty::Relative(1e-3)));
/// assert_eq!("variance:0.3".parse(), Ok(Penalty::Variance(0.3)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// λ tr(XᵀX)/p on every weight, in units of the mean diagonal of XᵀX, as in Karampatziakis and Mineiro (2015). The
    /// right value depends on n and p: for a fixed λ, weights have less freedom the more samples there are.
    Relative(f64),
    /// α Σⱼ vⱼ on every weight, with the variances vⱼ of the features: α times the mean squared distance of a row to
    /// the mean row. As a prior, it lets activations deviate from the intercept with variance 1/α (times that of the
    /// noise, for the squared loss), for any n, p and units of X, so that one α suits data sets of any shape.
    ///
    /// If at least a quarter of all values are nonzero, features are treated as measurements, each on its own scale,
    /// and weight j has the penalty α p vⱼ: that for features divided by their standard deviations. A constant feature,
    /// which the intercept makes superfluous, counts as one of mean variance.
    Variance(f64),
}

/// The penalty of each weight: the diagonal Λ in ‖B - X Z‖² + ‖Λ^{1/2} Z‖². The intercept is free of penalty.
#[derive(Debug, Clone, PartialEq)]
pub enum PenaltyDiagonal {
    /// The same penalty for all weights.
    Uniform(f64),
    /// One penalty per feature.
    PerFeature(Vec<f64>),
}

impl Penalty {
    /// Returns λ or α.
    pub const fn strength(self) -> f64 {
        match self {
            Self::Relative(strength) | Self::Variance(strength) => strength,
        }
    }

    /// Refuses a penalty that is negative or not finite.
    ///
    /// # Errors
    /// [`ProjectionError::Parameter`].
    pub(crate) fn check(self) -> Result<(), ProjectionError> {
        Ok(Domain::NotNegative.check("lambda", self.strength())?)
    }

    /// Computes the penalties for the features of samples, which may have weights: a sample of weight 2 counts as if it
    /// occurred twice.
    ///
    /// # Panics
    /// If there are fewer weights than rows.
    pub fn on(self, x: &impl Rows, weights: Option<&[f32]>) -> PenaltyDiagonal {
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row].into());
        match self {
            Self::Relative(lambda) => PenaltyDiagonal::Uniform(lambda * mean_diagonal(x, weight)),
            Self::Variance(alpha) => variance_penalty(Moments::of(x, weight), alpha),
        }
    }
}

impl Mul<f64> for Penalty {
    type Output = Self;

    /// Scales the penalty by `ratio`, in the same units.
    fn mul(self, ratio: f64) -> Self {
        match self {
            Self::Relative(lambda) => Self::Relative(lambda * ratio),
            Self::Variance(alpha) => Self::Variance(alpha * ratio),
        }
    }
}

impl PenaltyDiagonal {
    /// Returns the penalty of a weight; 0 for columns beyond the features, such as the intercept.
    pub fn of(&self, column: usize, n_features: usize) -> f64 {
        match self {
            _ if column >= n_features => 0.0,
            Self::Uniform(penalty) => *penalty,
            Self::PerFeature(penalties) => penalties.get(column).copied().unwrap_or(0.0),
        }
    }

    pub(super) fn check(&self, n_features: usize) -> Result<(), ProjectionError> {
        match self {
            Self::Uniform(penalty) => Ok(Domain::NotNegative.check("lambda", *penalty)?),
            Self::PerFeature(penalties) => {
                Mismatch::check("penalties of a regression", n_features, penalties.len())?;
                let mut penalties = penalties.iter();
                Ok(penalties.try_for_each(|&penalty| Domain::NotNegative.check("lambda", penalty))?)
            }
        }
    }
}

impl From<f64> for PenaltyDiagonal {
    fn from(penalty: f64) -> Self {
        Self::Uniform(penalty)
    }
}

/// tr(XᵀWX) / p; 0 for a matrix without columns.
fn mean_diagonal(x: &impl Rows, weight: impl Fn(usize) -> f64) -> f64 {
    let mut trace = 0.0;
    (0..x.row_count()).for_each(|i| x.for_each_stored(i, |_, v| trace += weight(i) * (v * v)));
    trace / x.column_count().max(1) as f64
}

fn variance_penalty(moments: Moments, alpha: f64) -> PenaltyDiagonal {
    let (variances, p) = (moments.variances, moments.means.len() as f64);
    let total: f64 = variances.iter().sum();
    if moments.density < DENSE_SHARE || total <= 0.0 {
        // Features that do not vary explain nothing, whatever the penalty.
        return PenaltyDiagonal::Uniform(if total > 0.0 { alpha * total } else { alpha });
    }
    let penalty = |variance: f64, scale: f64| alpha * p * if variance > 0.0 { variance } else { scale };
    let mean = total / p;
    PenaltyDiagonal::PerFeature(variances.into_iter().map(|v| penalty(v, mean)).collect())
}

impl fmt::Display for Penalty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(lambda) => write!(f, "{lambda:?}"),
            Self::Variance(alpha) => write!(f, "variance:{alpha:?}"),
        }
    }
}

impl FromStr for Penalty {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        let (number, variance) = match text.strip_prefix("variance:") {
            Some(number) => (number, true),
            None => (text, false),
        };
        let strength = number
            .parse()
            .map_err(|_| ProjectionError::UnknownPenalty(text.to_owned()))?;
        let penalty = if variance {
            Self::Variance(strength)
        } else {
            Self::Relative(strength)
        };
        penalty.check()?;
        Ok(penalty)
    }
}

rpo_core::impl_text_serde!(Penalty, ["number", "string"]);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn variances_are_those_of_the_columns() {
        // Variances 1, 0, 4.
        let x = array![[1.0, 5.0, 0.0], [3.0, 5.0, 4.0]];
        let found = Penalty::Variance(0.5).on(&x.view(), None);
        let mean = 5.0 / 3.0;
        let PenaltyDiagonal::PerFeature(found) = found else {
            panic!("{found:?}")
        };
        for (found, expected) in found.iter().zip([1.5, 1.5 * mean, 6.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let mut sparse = Array2::zeros((10, 4));
        sparse[[0, 0]] = 2.0;
        sparse[[3, 2]] = -1.0;
        // E x² - (E x)²: 0.4 - 0.04 and 0.1 - 0.01.
        let PenaltyDiagonal::Uniform(found) = Penalty::Variance(2.0).on(&sparse.view(), None) else {
            panic!("not uniform")
        };
        assert!((found - 0.9).abs() < 1e-12, "{found}");
        assert_eq!(
            Penalty::Relative(2.0).on(&sparse.view(), None),
            (2.0 * 5.0 / 4.0).into()
        );
    }

    #[test]
    fn what_does_not_vary_is_penalised() {
        for x in [
            Array2::zeros((3, 2)),
            Array2::ones((3, 2)),
            Array2::zeros((3, 0)),
            Array2::zeros((0, 2)),
        ] {
            assert_eq!(Penalty::Variance(0.3).on(&x.view(), None), 0.3.into());
        }
    }

    #[test]
    fn texts_round_trip_and_nonsense_is_refused() {
        for penalty in [
            Penalty::Relative(0.0),
            Penalty::Relative(1e-3),
            Penalty::Variance(0.3),
        ] {
            assert_eq!(penalty.to_string().parse(), Ok(penalty));
        }
        for text in ["", "variance", "variance:", "rows:1"] {
            assert_eq!(
                text.parse::<Penalty>(),
                Err(ProjectionError::UnknownPenalty(text.to_owned()))
            );
        }
        for text in ["-1", "NaN", "variance:inf", "variance:-0.5"] {
            assert!(matches!(
                text.parse::<Penalty>(),
                Err(ProjectionError::Parameter(_))
            ));
        }
        let short = PenaltyDiagonal::PerFeature(vec![1.0]);
        assert!(short.check(1).is_ok());
        assert!(short.check(2).is_err());
        assert!(PenaltyDiagonal::PerFeature(vec![1.0, f64::NAN]).check(2).is_err());
    }
}
