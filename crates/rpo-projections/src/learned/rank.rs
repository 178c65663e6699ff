//! The number of dimensions of an embedding.

use std::fmt;
use std::str::FromStr;

use ndarray::{Array1, Array2, ArrayView2, s};
use rpo_core::{CheckParams, Domain, Seed};

use super::Embedding;
use crate::least_squares::{Rows, by_panels, gram, panel_product};
use crate::linalg::{orthonormal, standard_normal, symmetric_eigen, thin_gram};
use crate::{ProjectionError, memory};

/// Up to this number of outputs all eigenvalues of YᵀY are computed.
const EXACT_OUTPUTS: usize = 512;
/// Number of directions probed at first if there are more outputs.
const FIRST_PROBES: usize = 64;
/// Fractions within this rounding error of the requested one count as reached.
const ROUNDING: f64 = 1e-12;

/// A rule for the number of dimensions k of a label embedding.
///
/// As text, on a command line or in a file: a whole number, `auto:AT_MOST`, `labels:FRACTION`, `labels:FRACTION:AT_MOST`
/// or `captured:FRACTION:AT_MOST`.
///
/// ```
/// use rpo_projections::Rank;
/// assert_eq!("25".parse(), Ok(Rank::Exact(25)));
/// assert_eq!("labels:0.9".parse(), Ok(Rank::LabelShare { share: 0.9, at_most: None }));
/// assert_eq!("captured:0.99:200".parse(), Ok(Rank::CapturedShare { share: 0.99, at_most: 200 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rank {
    /// The given number.
    Exact(usize),
    /// As many as [`LabelShare`](Self::LabelShare) of 0.9; if the mean of the outputs makes up more than half of the trace
    /// of YᵀY, also as many as make up 80 % of that of the centred YᵀY, and one more for the mean. If each of 20 labels
    /// is in 90 % of the samples, a single dimension, the mean, reaches 90 % of the trace, but the link has an intercept
    /// anyway.
    Auto {
        /// The maximum number of dimensions; never more than the number of outputs.
        at_most: usize,
    },
    /// The fewest dimensions whose eigenvalues of YᵀY (not centred) make up this fraction, in (0, 1], of its trace.
    /// Above 512 outputs the eigenvalues come from a randomized range finder that grows until the fraction is reached,
    /// which may need a few more directions. At most `at_most` dimensions: each takes a least squares solve, and if
    /// label frequencies follow a power law, no small number of directions makes up most of the trace.
    ///
    /// Source: Karampatziakis, Mineiro, 2015, section 7.1: 0.9, without a bound.
    LabelShare {
        /// The fraction.
        share: f64,
        /// The maximum number of dimensions, if there is a bound; never more than the number of outputs.
        at_most: Option<usize>,
    },
    /// The fewest dimensions whose eigenvalues make up this fraction, in (0, 1], of the sum of the eigenvalues of an
    /// embedding with `at_most` dimensions.
    CapturedShare {
        /// The fraction.
        share: f64,
        /// The maximum number of dimensions, all of which are computed.
        at_most: usize,
    },
}

impl Default for Rank {
    /// [`Auto`](Self::Auto), the rule of the paper unless the mean makes up most of the trace, with at most 256 dimensions.
    fn default() -> Self {
        Self::Auto { at_most: 256 }
    }
}

impl CheckParams for Rank {
    type Error = ProjectionError;

    /// Refuses 0 dimensions ([`ProjectionError::NoComponents`]) and fractions outside (0, 1].
    fn check(&self) -> Result<(), ProjectionError> {
        match *self {
            Self::Exact(0)
            | Self::Auto { at_most: 0 }
            | Self::LabelShare { at_most: Some(0), .. }
            | Self::CapturedShare { at_most: 0, .. } => Err(ProjectionError::NoComponents),
            Self::LabelShare { share, .. } | Self::CapturedShare { share, .. } => {
                Ok(Domain::Fraction.check("rank", share)?)
            }
            Self::Exact(_) | Self::Auto { .. } => Ok(()),
        }
    }
}

impl Rank {
    /// Returns the maximum number of dimensions that the rule can give for `n_outputs` outputs.
    pub fn at_most(self, n_outputs: usize) -> usize {
        match self {
            Self::Exact(k) => k,
            Self::LabelShare { at_most, .. } => at_most.map_or(n_outputs, |k| k.min(n_outputs)),
            Self::Auto { at_most } | Self::CapturedShare { at_most, .. } => at_most.min(n_outputs),
        }
    }

    /// Returns the number of dimensions to compute for outputs Y; the maximum, if the fraction is applied later.
    ///
    /// # Errors
    /// As for [`check`](CheckParams::check), and [`ProjectionError::OutOfMemory`].
    pub fn resolve(self, y: &(impl Rows + Sync), seed: Seed) -> Result<usize, ProjectionError> {
        self.resolve_weighted(y, None, seed)
    }

    /// Like [`resolve`](Self::resolve), for outputs whose rows were multiplied by factors, the square roots of weights.
    pub(super) fn resolve_weighted(
        self,
        y: &(impl Rows + Sync),
        factors: Option<&[f64]>,
        seed: Seed,
    ) -> Result<usize, ProjectionError> {
        self.check()?;
        let at_most = self.at_most(y.column_count());
        let found = match self {
            Self::Exact(_) | Self::CapturedShare { .. } => return Ok(at_most),
            Self::LabelShare { share, .. } => label_rank(y, share, at_most, None, seed.purpose("rank"))?,
            Self::Auto { .. } => {
                let found = label_rank(y, 0.9, at_most, None, seed.purpose("rank"))?;
                let centre = centre(y, factors)?;
                // Otherwise these dimensions have 80 % of the variance as well.
                match centre.dot(&centre) > 0.5 * trace(y) {
                    true => {
                        let varying = label_rank(y, 0.8, at_most, Some(&centre), seed.purpose("rank"))?;
                        found.max(varying + 1)
                    }
                    false => found,
                }
            }
        };
        Ok(found.min(at_most.max(1)))
    }

    /// Truncates an embedding where its eigenvalues reach the fraction.
    pub(super) fn truncate(self, found: Embedding) -> Embedding {
        let Self::CapturedShare { share, .. } = self else {
            return found;
        };
        let k =
            reaching(&found.eigenvalues, share * found.eigenvalues.sum()).unwrap_or(found.eigenvalues.len());
        Embedding {
            directions: found.directions.slice_move(s![..k, ..]),
            eigenvalues: found.eigenvalues.slice_move(s![..k]),
        }
    }
}

/// Returns the number of eigenvalues, starting from the largest, that sum to a value; at least 1.
fn reaching(eigenvalues: &Array1<f64>, value: f64) -> Option<usize> {
    let mut sum = 0.0;
    let found = eigenvalues.iter().position(|v| {
        sum += v;
        sum >= value * (1.0 - ROUNDING)
    });
    found.map(|k| k + 1)
}

/// Returns the trace of YᵀY.
fn trace(y: &(impl Rows + Sync)) -> f64 {
    let mut trace = 0.0;
    (0..y.row_count()).for_each(|i| y.for_each_stored(i, |_, v| trace += v * v));
    trace
}

/// Returns the mean of the outputs times the root of n: centring subtracts its product with itself from YᵀY.
fn centre(y: &(impl Rows + Sync), factors: Option<&[f64]>) -> Result<Array1<f64>, ProjectionError> {
    let mut sums = memory::filled(0.0, y.column_count(), 1)?;
    let mut weight = 0.0;
    for row in 0..y.row_count() {
        let factor = factors.map_or(1.0, |factors| factors[row]);
        weight += factor * factor;
        y.for_each_stored(row, |j, v| sums[j] += factor * v);
    }
    let root = if weight > 0.0 { weight.sqrt() } else { 1.0 };
    Ok(sums.into_iter().map(|sum| sum / root).collect())
}

/// Returns the number of dimensions that reach a fraction of the trace of YᵀY, centred if there is a centre, or a number
/// above `at_most` if `at_most` dimensions do not.
fn label_rank(
    y: &(impl Rows + Sync),
    share: f64,
    at_most: usize,
    centre: Option<&Array1<f64>>,
    seed: Seed,
) -> Result<usize, ProjectionError> {
    let d = y.column_count();
    let mut trace = trace(y);
    if let Some(centre) = centre {
        let whole = trace;
        trace -= centre.dot(centre);
        // Constant outputs have no variance but for rounding.
        if trace <= ROUNDING * whole {
            return Ok(0);
        }
    }
    if d <= EXACT_OUTPUTS {
        let mut gram = gram(y)?;
        if let Some(centre) = centre {
            for (mut row, value) in gram.rows_mut().into_iter().zip(centre) {
                row.scaled_add(-value, centre);
            }
        }
        // The sums are in the lower triangle, which is above the diagonal of the transpose.
        let eigen = symmetric_eigen(gram.t())?;
        return Ok(reaching(&eigen.values, share * trace).unwrap_or(d).max(1));
    }
    let apply = |q: ArrayView2<'_, f64>| -> Result<Array2<f64>, ProjectionError> {
        let mut image = by_panels(q, d, |q| panel_product(y, y, q, |_, _| {}))?;
        if let Some(centre) = centre {
            let products = centre.dot(&q);
            for (mut row, value) in image.rows_mut().into_iter().zip(centre) {
                row.scaled_add(-value, &products);
            }
        }
        Ok(image)
    };
    let limit = d.min(y.row_count());
    let mut probes = FIRST_PROBES.min(limit);
    loop {
        let omega = standard_normal(d, probes, seed)?;
        let mut q = orthonormal(apply(omega.view())?.view())?;
        q = orthonormal(apply(q.view())?.view())?;
        let values = symmetric_eigen(thin_gram(q.view(), apply(q.view())?.view()).view())?.values;
        match reaching(&values, share * trace) {
            Some(k) => return Ok(k),
            None if probes == limit || probes >= at_most => return Ok(values.len().max(1)),
            None => probes = (2 * probes).min(limit),
        }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(k) => write!(f, "{k}"),
            Self::Auto { at_most } => write!(f, "auto:{at_most}"),
            Self::LabelShare { share, at_most: None } => write!(f, "labels:{share}"),
            Self::LabelShare {
                share,
                at_most: Some(k),
            } => write!(f, "labels:{share}:{k}"),
            Self::CapturedShare { share, at_most } => write!(f, "captured:{share}:{at_most}"),
        }
    }
}

impl FromStr for Rank {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        let parts: Vec<&str> = text.split(':').collect();
        let parsed = match parts[..] {
            [k] => k.parse().ok().map(Self::Exact),
            ["auto", at_most] => at_most.parse().ok().map(|at_most| Self::Auto { at_most }),
            ["labels", share] => {
                let share = share.parse().ok();
                share.map(|share| Self::LabelShare { share, at_most: None })
            }
            [kind, share, at_most] => {
                let bounds = share.parse().ok().zip(at_most.parse().ok());
                bounds.and_then(|(share, at_most)| match kind {
                    "labels" => Some(Self::LabelShare {
                        share,
                        at_most: Some(at_most),
                    }),
                    "captured" => Some(Self::CapturedShare { share, at_most }),
                    _ => None,
                })
            }
            _ => None,
        };
        parsed
            .filter(|rank| rank.check().is_ok())
            .ok_or_else(|| ProjectionError::UnknownRank(text.to_owned()))
    }
}

rpo_core::impl_text_serde!(Rank, ["integer", "string"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_nonsense_is_refused() {
        for (text, rank) in [
            ("7", Rank::Exact(7)),
            (
                "labels:1",
                Rank::LabelShare {
                    share: 1.0,
                    at_most: None,
                },
            ),
            ("auto:256", Rank::default()),
            (
                "labels:0.9:256",
                Rank::LabelShare {
                    share: 0.9,
                    at_most: Some(256),
                },
            ),
            (
                "captured:0.5:30",
                Rank::CapturedShare {
                    share: 0.5,
                    at_most: 30,
                },
            ),
        ] {
            assert_eq!(text.parse(), Ok(rank));
            assert_eq!(rank.to_string(), text);
            let json = serde_json::to_string(&rank).unwrap();
            assert_eq!(serde_json::from_str::<Rank>(&json).unwrap(), rank);
        }
        for text in [
            "0",
            "",
            "labels",
            "labels:0",
            "labels:1.1",
            "labels:NaN",
            "labels:0.5:0",
            "labels:0.5:x",
            "auto",
            "auto:0",
            "auto:0.5:9",
            "elsewhere:0.5:2",
            "captured:0.5",
            "captured:1:0",
        ] {
            assert_eq!(
                text.parse::<Rank>(),
                Err(ProjectionError::UnknownRank(text.to_owned()))
            );
        }
    }
}
