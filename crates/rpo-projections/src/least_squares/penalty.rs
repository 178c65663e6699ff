//! Penalties on the weights of regressions, and their units.

use std::fmt;
use std::ops::Mul;
use std::str::FromStr;

use rpo_core::{Domain, Mismatch, Spread, measurements};

use super::{Moments, Rows};
use crate::ProjectionError;

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
    /// Features that do not vary, which the intercept makes superfluous, count for nothing here. If at least a quarter
    /// of the values of the p others are nonzero, features are treated as measurements, each on its own scale, and
    /// weight j has the penalty α p vⱼ: that for features divided by their standard deviations.
    ///
    /// Sparse features are in one unit, such as words or indicators, but [measurements] beside them need not be. With the
    /// fractions qⱼ of nonzero values, measurements have the penalty α (Σₖ qₖ) vⱼ/qⱼ, and all others
    /// α (Σₖ qₖ) Σᵢ vᵢ / Σᵢ qᵢ, with i over these others: without measurements this is α Σⱼ vⱼ, and if qⱼ = 1 for all,
    /// α p vⱼ.
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
            Self::Variance(alpha) => variance_penalty(&Moments::of(x, weight), alpha),
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

/// Σ v and Σ q of features.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    variance: f64,
    share: f64,
}

impl Total {
    fn of<'a>(spreads: impl Iterator<Item = &'a Spread>) -> Self {
        spreads.fold(Self::default(), |total, spread| Self {
            variance: total.variance + spread.variance,
            share: total.share + spread.share,
        })
    }
}

fn variance_penalty(moments: &Moments, alpha: f64) -> PenaltyDiagonal {
    let spreads = moments.spreads();
    let varying = || spreads.iter().filter(|spread| spread.variance > 0.0);
    let (p, total) = (varying().count() as f64, Total::of(varying()));
    if p == 0.0 {
        // Features that do not vary explain nothing, whatever the penalty.
        return PenaltyDiagonal::Uniform(alpha);
    }
    if total.share >= Spread::DENSE_SHARE * p {
        let variance = |spread: &Spread| {
            if spread.variance > 0.0 {
                spread.variance
            } else {
                total.variance / p
            }
        };
        return PenaltyDiagonal::PerFeature(
            spreads
                .iter()
                .map(|spread| alpha * p * variance(spread))
                .collect(),
        );
    }
    let is_measurement = measurements(&spreads);
    if !is_measurement.contains(&true) {
        return PenaltyDiagonal::Uniform(alpha * total.variance);
    }
    let marked = || spreads.iter().zip(&is_measurement);
    let others = marked().filter(|(spread, is_measurement)| spread.variance > 0.0 && !**is_measurement);
    let others = Total::of(others.map(|(spread, _)| spread));
    let unit = |(spread, is_measurement): (&Spread, &bool)| match is_measurement {
        true => spread.squared_unit(),
        false => others.variance / others.share,
    };
    PenaltyDiagonal::PerFeature(
        marked()
            .map(|marked| alpha * total.share * unit(marked))
            .collect(),
    )
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
        // Variances 1, 0, 4, of which the second does not count.
        let x = array![[1.0, 5.0, 0.0], [3.0, 5.0, 4.0]];
        let found = per_feature(&x);
        for (found, expected) in found.iter().zip([1.0, 2.5, 4.0]) {
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

    fn per_feature(x: &Array2<f64>) -> Vec<f64> {
        match Penalty::Variance(0.5).on(&x.view(), None) {
            PenaltyDiagonal::PerFeature(penalties) => penalties,
            PenaltyDiagonal::Uniform(penalty) => panic!("all {penalty}"),
        }
    }

    /// A number beside the indicators of a category with this many values, each for 3 of the samples.
    fn beside_indicators(n_values: usize, unit: f64) -> Array2<f64> {
        Array2::from_shape_fn((3 * n_values, 1 + n_values), |(i, j)| match j {
            0 => unit * (1.0 + (i % 3) as f64),
            _ => f64::from(u8::from(i / 3 == j - 1)),
        })
    }

    /// Neither the unit of a number nor the number of values of a category beside it decides how strongly either is
    /// penalized.
    #[test]
    fn numbers_beside_indicators_have_their_own_unit() {
        for n_values in [8, 30] {
            for unit in [1e-3, 1e3, 1e6] {
                let found = per_feature(&beside_indicators(n_values, unit));
                let indicator = 1.0 - (n_values as f64).recip();
                // Both are nonzero as often, so that Σ q = 2.
                let number = unit * unit * 2.0 / 3.0;
                assert!((found[0] / number - 1.0).abs() < 1e-12, "{found:?}");
                for found in &found[1..] {
                    assert!((found - indicator).abs() < 1e-12, "{found:?}");
                }
            }
        }
    }

    /// A number that is 0 in most samples, beside indicators as rare, is penalized in its own unit, and does not change
    /// the penalty of the indicators.
    #[test]
    fn numbers_that_are_mostly_zero_have_their_own_unit() {
        let indicators = beside_indicators(20, 0.0);
        let plain = match Penalty::Variance(0.5).on(&indicators.view(), None) {
            PenaltyDiagonal::Uniform(penalty) => penalty,
            PenaltyDiagonal::PerFeature(penalties) => panic!("{penalties:?}"),
        };
        for unit in [1e-3, 30.0, 1e6] {
            let mut x = indicators.clone();
            for (i, value) in x.column_mut(0).iter_mut().enumerate().step_by(10) {
                *value = unit * (1.0 + (i % 3) as f64);
            }
            let variance = x.column(0).var(0.0);
            // Σ q is 1.1 in place of 1.
            let found = per_feature(&x);
            assert!(
                (found[0] / (0.5 * 1.1 * variance / 0.1) - 1.0).abs() < 1e-9,
                "{found:?}"
            );
            for found in &found[1..] {
                assert!((found / (1.1 * plain) - 1.0).abs() < 1e-9, "{found} {plain}");
            }
        }
    }

    /// A word in most samples is in the unit of the others, however little it varies.
    #[test]
    fn frequent_words_share_the_penalty_of_rare_ones() {
        let mut x = beside_indicators(20, 0.0);
        x.column_mut(0).fill(1.0);
        x[[7, 0]] = 0.0;
        let variances = x.var_axis(ndarray::Axis(0), 0.0);
        let PenaltyDiagonal::Uniform(found) = Penalty::Variance(0.5).on(&x.view(), None) else {
            panic!("not uniform")
        };
        assert!((found - 0.5 * variances.sum()).abs() < 1e-12, "{found}");
    }

    /// Columns that do not vary change the penalty of no other.
    #[test]
    fn constant_columns_count_for_nothing() {
        for x in [beside_indicators(5, 10.0), beside_indicators(8, 10.0)] {
            let plain = per_feature(&x);
            for constant in [0.0, 7.0] {
                let constants = Array2::from_elem((x.nrows(), 40), constant);
                let both = ndarray::concatenate![ndarray::Axis(1), x, constants];
                assert_eq!(per_feature(&both)[..x.ncols()], plain);
            }
        }
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
