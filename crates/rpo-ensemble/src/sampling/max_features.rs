//! Number of features drawn at a node.

use crate::error::EnsembleError;
use rpo_core::ParameterError;
use std::fmt;
use std::str::FromStr;

/// The number of features that a node draws.
///
/// As text: `all`, `sqrt`, `log2`, a whole number, a fraction such as `0.1`, or a fraction and the fewest features, such
/// as `0.1:4`.
///
/// ```
/// use rpo_ensemble::MaxFeatures;
/// assert_eq!("sqrt".parse(), Ok(MaxFeatures::Sqrt));
/// assert_eq!(MaxFeatures::Sqrt.resolve(500), 22);
/// assert_eq!(MaxFeatures::Share(0.1).resolve(5), 1);
/// assert_eq!([5, 100].map(|p| MaxFeatures::ShareAtLeast(0.1, 4).resolve(p)), [4, 10]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxFeatures {
    /// All features.
    All,
    /// ⌊√p⌋: the forest paper's k.
    Sqrt,
    /// ⌊log₂ p⌋.
    Log2,
    /// This many features, at most p.
    Count(usize),
    /// ⌊f · p⌋, with the fraction f in (0, 1].
    Share(f64),
    /// The same, but at least this many: of few features, a fraction would leave no choice.
    ShareAtLeast(f64, usize),
}

impl MaxFeatures {
    /// Returns the number of features to draw out of `n_features`, at least 1.
    pub fn resolve(self, n_features: usize) -> usize {
        let p = n_features as f64;
        let k = match self {
            Self::All => n_features,
            Self::Sqrt => p.sqrt() as usize,
            Self::Log2 => n_features.max(1).ilog2() as usize,
            Self::Count(k) => k,
            Self::Share(share) => (share * p) as usize,
            Self::ShareAtLeast(share, least) => ((share * p) as usize).max(least),
        };
        k.clamp(1, n_features.max(1))
    }

    fn is_valid(self) -> bool {
        match self {
            Self::All | Self::Sqrt | Self::Log2 => true,
            Self::Count(k) | Self::ShareAtLeast(_, k) if k == 0 => false,
            Self::Count(_) => true,
            Self::Share(share) | Self::ShareAtLeast(share, _) => share > 0.0 && share <= 1.0,
        }
    }

    pub(crate) fn check(self) -> Result<(), ParameterError> {
        ParameterError::unless(self.is_valid(), "max_features", self, MAX_FEATURES)
    }
}

impl fmt::Display for MaxFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Sqrt => f.write_str("sqrt"),
            Self::Log2 => f.write_str("log2"),
            Self::Count(k) => write!(f, "{k}"),
            // Always with a decimal point, so that a fraction of 1 is not read as one feature.
            Self::Share(share) => write!(f, "{share:?}"),
            Self::ShareAtLeast(share, least) => write!(f, "{share:?}:{least}"),
        }
    }
}

impl FromStr for MaxFeatures {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        let parsed = match text {
            "all" => Some(Self::All),
            "sqrt" => Some(Self::Sqrt),
            "log2" => Some(Self::Log2),
            _ => match text.split_once(':') {
                Some((share, least)) => {
                    let both = share.parse().ok().zip(least.parse().ok());
                    both.map(|(share, least)| Self::ShareAtLeast(share, least))
                }
                None => text
                    .parse()
                    .map(Self::Count)
                    .or_else(|_| text.parse().map(Self::Share))
                    .ok(),
            },
        };
        parsed
            .filter(|m| m.is_valid())
            .ok_or_else(|| ParameterError::out_of_range("max_features", text, MAX_FEATURES).into())
    }
}

rpo_core::impl_text_serde!(MaxFeatures, ["integer", "number", "string"]);

const MAX_FEATURES: &str =
    "all, sqrt, log2, a number of at least 1, a fraction in (0, 1] such as 0.1, or both such as 0.1:4";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_features_read_what_they_write() {
        for (text, expected) in [
            ("all", MaxFeatures::All),
            ("sqrt", MaxFeatures::Sqrt),
            ("log2", MaxFeatures::Log2),
            ("7", MaxFeatures::Count(7)),
            ("0.25", MaxFeatures::Share(0.25)),
            ("1.0", MaxFeatures::Share(1.0)),
            ("0.3:4", MaxFeatures::ShareAtLeast(0.3, 4)),
        ] {
            assert_eq!(text.parse(), Ok(expected));
            assert_eq!(expected.to_string(), text);
        }
        for bad in [
            "0", "-1", "0.0", "1.5", "nan", "sq", "", "0.3:0", "0.3:", "1.1:4", "4:0.3",
        ] {
            assert!(bad.parse::<MaxFeatures>().is_err(), "{bad}");
        }
    }
}
