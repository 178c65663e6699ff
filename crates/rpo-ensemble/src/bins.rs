//! Choice between trees on exact feature values and trees on bins.

use crate::error::EnsembleError;
use rpo_core::ParameterError;
use rpo_tree::histogram::{BinLimit, BinnedFeatures};
use std::fmt;
use std::str::FromStr;

/// The candidate thresholds of splits.
///
/// As text: `auto`, `exact`, or a number from 2 to 255.
///
/// ```
/// use rpo_ensemble::Bins;
/// assert_eq!("auto".parse(), Ok(Bins::Auto));
/// assert_eq!("exact".parse(), Ok(Bins::Exact));
/// assert_eq!("64".parse(), Ok(Bins::AtMost(64)));
/// assert!("256".parse::<Bins>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bins {
    /// 255 bins; for boosting of labels and classes alone, fewer for few samples: of more than 255 values of a feature other
    /// than 0, one bin per 16, or 63 if that is more. They learn as well from these, in half of the time, while numbers may
    /// hang on a few values.
    Auto,
    /// Thresholds between any two values of a node.
    Exact,
    /// Thresholds between bins of values, at most this many bins per feature, 2 to 255
    /// ([`histogram`](rpo_tree::histogram)). Much faster, and the trees are the same if no feature has more distinct values
    /// than bins.
    AtMost(usize),
}

impl Bins {
    /// The largest number of bins.
    pub const MOST: Self = Self::AtMost(BinnedFeatures::MOST_BINS);

    /// Returns the limit of bins, for boosting of labels and classes alone or anything else; `None` for exact thresholds.
    pub(crate) fn limit(self, is_of_labels: bool) -> Option<BinLimit> {
        match self {
            Self::Exact => None,
            Self::Auto if is_of_labels => Some(BinLimit::BySamples),
            Self::Auto => Some(BinnedFeatures::MOST_BINS.into()),
            Self::AtMost(bins) => Some(bins.into()),
        }
    }

    pub(crate) fn check(self) -> Result<(), ParameterError> {
        let in_range = match self {
            Self::Auto | Self::Exact => true,
            Self::AtMost(bins) => (2..=BinnedFeatures::MOST_BINS).contains(&bins),
        };
        ParameterError::unless(in_range, "bins", self, BINS)
    }
}

impl fmt::Display for Bins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exact => f.write_str("exact"),
            Self::AtMost(bins) => write!(f, "{bins}"),
        }
    }
}

impl FromStr for Bins {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        let bins = match text {
            "auto" => Some(Self::Auto),
            "exact" => Some(Self::Exact),
            _ => text.parse().map(Self::AtMost).ok(),
        };
        bins.filter(|bins| bins.check().is_ok())
            .ok_or_else(|| ParameterError::out_of_range("bins", text, BINS).into())
    }
}

rpo_core::impl_text_serde!(Bins, ["integer", "string"]);

const BINS: &str = "auto, exact, or a number from 2 to 255";
