//! The number of components of a projection.

use rpo_core::math;
use std::fmt;
use std::str::FromStr;

use crate::ProjectionError;

/// A rule for the number of components m.
///
/// As text, on a command line or in a file: a whole number, `ln`, or `d`.
///
/// ```
/// use rpo_projections::Components;
/// assert_eq!("25".parse(), Ok(Components::Exact(25)));
/// assert_eq!(Components::LnOutputs.resolve(983), Ok(7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// The given number.
    Exact(usize),
    /// The natural logarithm of the number of outputs, rounded: m = ⌊½ + ln d⌋, at least 1. The middle column of Table
    /// 1 of Joly, Geurts, Wehenkel (ECML-PKDD 2014), where it is already as good as no projection on most data sets.
    LnOutputs,
    /// The number of outputs: m = d. Only the coordinates change.
    Outputs,
}

impl Components {
    /// Returns the number of components for `n_outputs` outputs.
    ///
    /// # Errors
    /// [`ProjectionError::NoComponents`] for `Exact(0)`, [`ProjectionError::NoOutputs`] if there are no outputs.
    pub fn resolve(self, n_outputs: usize) -> Result<usize, ProjectionError> {
        match self {
            _ if n_outputs == 0 => Err(ProjectionError::NoOutputs),
            Self::Exact(0) => Err(ProjectionError::NoComponents),
            Self::Exact(m) => Ok(m),
            Self::LnOutputs => Ok(((0.5 + math::ln(n_outputs as f64)) as usize).max(1)),
            Self::Outputs => Ok(n_outputs),
        }
    }
}

impl fmt::Display for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(m) => write!(f, "{m}"),
            Self::LnOutputs => f.write_str("ln"),
            Self::Outputs => f.write_str("d"),
        }
    }
}

impl FromStr for Components {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        match text.parse() {
            _ if text == "ln" => Ok(Self::LnOutputs),
            _ if text == "d" => Ok(Self::Outputs),
            Ok(m) if m > 0 => Ok(Self::Exact(m)),
            _ => Err(ProjectionError::UnknownComponents(text.to_owned())),
        }
    }
}

rpo_core::impl_text_serde!(Components, ["integer", "string"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_is_the_column_of_the_paper() {
        // d and round(ln d); 1 and 2 are the smallest possible sets.
        for (d, m) in [
            (1, 1),
            (2, 1),
            (6, 2),
            (14, 3),
            (159, 5),
            (374, 6),
            (983, 7),
            (1862, 8),
            (100_000, 12),
        ] {
            assert_eq!(Components::LnOutputs.resolve(d), Ok(m), "d = {d}");
        }
    }

    #[test]
    fn text_round_trips_and_nonsense_is_refused() {
        for rule in [
            Components::Exact(1),
            Components::Exact(250),
            Components::LnOutputs,
        ] {
            assert_eq!(rule.to_string().parse(), Ok(rule));
            let json = serde_json::to_string(&rule).unwrap();
            assert_eq!(serde_json::from_str::<Components>(&json).unwrap(), rule);
        }
        for text in ["0", "-1", "", "2.5", "LN", "99999999999999999999999"] {
            assert_eq!(
                text.parse::<Components>(),
                Err(ProjectionError::UnknownComponents(text.to_owned()))
            );
        }
        assert_eq!(
            Components::Exact(0).resolve(3),
            Err(ProjectionError::NoComponents)
        );
        assert_eq!(Components::LnOutputs.resolve(0), Err(ProjectionError::NoOutputs));
    }
}
