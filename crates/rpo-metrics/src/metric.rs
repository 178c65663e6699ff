//! The metrics by name.

use crate::{Evaluation, MetricError};
use std::fmt;
use std::str::FromStr;

/// A metric, as named on a command line: one number per evaluation.
///
/// ```
/// use rpo_metrics::{Metric, Needs};
/// let metric: Metric = "p@5".parse()?;
/// assert_eq!(metric, Metric::PrecisionAt(5));
/// assert_eq!(metric.needs(), Needs::TopK(5));
/// assert_eq!(metric.to_string(), "p@5");
/// assert!("p@0".parse::<Metric>().is_err());
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Metric {
    /// `lrap`: [`lrap`](crate::lrap).
    Lrap,
    /// `coverage`: [`coverage_error`](crate::coverage_error).
    Coverage,
    /// `ranking-loss`: [`ranking_loss`](crate::ranking_loss).
    RankingLoss,
    /// `one-error`: [`one_error`](crate::one_error).
    OneError,
    /// `p@K`: [`precision_at_k`](crate::precision_at_k).
    PrecisionAt(usize),
    /// `ndcg@K`: [`ndcg_at_k`](crate::ndcg_at_k).
    NdcgAt(usize),
    /// `psp@K`, normalised: [`psp_at_k`](crate::psp_at_k).
    PspAt(usize),
    /// `psndcg@K`, normalised: [`psndcg_at_k`](crate::psndcg_at_k).
    PsndcgAt(usize),
    /// `macro-auc`: [`macro_roc_auc`](crate::macro_roc_auc), undefined labels skipped.
    MacroAuc,
    /// `micro-auc`: [`micro_roc_auc`](crate::micro_roc_auc).
    MicroAuc,
    /// `average-precision`, macro, labels without positives skipped:
    /// [`macro_average_precision`](crate::macro_average_precision).
    AveragePrecision,
    /// `hamming`: [`SetComparison::hamming_loss`](crate::SetComparison::hamming_loss).
    Hamming,
    /// `subset-accuracy`: [`SetComparison::subset_accuracy`](crate::SetComparison::subset_accuracy).
    SubsetAccuracy,
    /// `jaccard`, over samples: [`SetComparison::jaccard`](crate::SetComparison::jaccard).
    Jaccard,
    /// `micro-f1`: [`SetComparison::f1`](crate::SetComparison::f1).
    MicroF1,
    /// `macro-f1`: [`SetComparison::f1`](crate::SetComparison::f1).
    MacroF1,
    /// `example-f1`, over samples: [`SetComparison::f1`](crate::SetComparison::f1).
    ExampleF1,
    /// `r2`: [`RegressionSums::macro_r2`](crate::RegressionSums::macro_r2).
    R2,
    /// `half-r2`: [`RegressionSums::half_macro_r2`](crate::RegressionSums::half_macro_r2).
    HalfR2,
    /// `arrmse`: [`RegressionSums::arrmse`](crate::RegressionSums::arrmse).
    Arrmse,
    /// `mse`: [`RegressionSums::mse`](crate::RegressionSums::mse).
    Mse,
    /// `mae`: [`RegressionSums::mae`](crate::RegressionSums::mae).
    Mae,
}

/// Which form of a prediction a metric reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A score for every label of every row.
    Scores,
    /// The best k labels of every row; they can be selected from scores.
    TopK(usize),
    /// A set of labels per row; they can be had from scores by thresholds.
    LabelSets,
    /// A real value for every output of every row.
    Regression,
}

/// Metrics whose name is a word.
const WORDS: [(&str, Metric); 18] = [
    ("lrap", Metric::Lrap),
    ("coverage", Metric::Coverage),
    ("ranking-loss", Metric::RankingLoss),
    ("one-error", Metric::OneError),
    ("macro-auc", Metric::MacroAuc),
    ("micro-auc", Metric::MicroAuc),
    ("average-precision", Metric::AveragePrecision),
    ("hamming", Metric::Hamming),
    ("subset-accuracy", Metric::SubsetAccuracy),
    ("jaccard", Metric::Jaccard),
    ("micro-f1", Metric::MicroF1),
    ("macro-f1", Metric::MacroF1),
    ("example-f1", Metric::ExampleF1),
    ("r2", Metric::R2),
    ("half-r2", Metric::HalfR2),
    ("arrmse", Metric::Arrmse),
    ("mse", Metric::Mse),
    ("mae", Metric::Mae),
];

/// A metric from its k.
type AtK = fn(usize) -> Metric;

/// Metrics whose name is a word, `@` and k.
const AT_K: [(&str, AtK); 4] = [
    ("p", Metric::PrecisionAt),
    ("ndcg", Metric::NdcgAt),
    ("psp", Metric::PspAt),
    ("psndcg", Metric::PsndcgAt),
];

impl Metric {
    /// Every name, with `K` where a number belongs.
    pub fn names() -> impl Iterator<Item = String> {
        let at_k = AT_K.iter().map(|(prefix, _)| format!("{prefix}@K"));
        at_k.chain(WORDS.iter().map(|(word, _)| (*word).to_owned()))
    }

    /// Whether a larger value is a better one.
    pub fn higher_is_better(self) -> bool {
        !matches!(
            self,
            Self::Coverage
                | Self::RankingLoss
                | Self::OneError
                | Self::Hamming
                | Self::Arrmse
                | Self::Mse
                | Self::Mae
        )
    }

    /// Which form of a prediction it reads.
    pub fn needs(self) -> Needs {
        match self {
            Self::Lrap
            | Self::Coverage
            | Self::RankingLoss
            | Self::MacroAuc
            | Self::MicroAuc
            | Self::AveragePrecision => Needs::Scores,
            Self::OneError => Needs::TopK(1),
            Self::PrecisionAt(k) | Self::NdcgAt(k) | Self::PspAt(k) | Self::PsndcgAt(k) => Needs::TopK(k),
            Self::Hamming
            | Self::SubsetAccuracy
            | Self::Jaccard
            | Self::MicroF1
            | Self::MacroF1
            | Self::ExampleF1 => Needs::LabelSets,
            Self::R2 | Self::HalfR2 | Self::Arrmse | Self::Mse | Self::Mae => Needs::Regression,
        }
    }

    /// Whether it weighs labels by inverse propensities, for which the training set's label counts are needed.
    pub fn needs_propensities(self) -> bool {
        matches!(self, Self::PspAt(_) | Self::PsndcgAt(_))
    }

    /// Its value; NaN where its conventions leave it undefined. For several metrics of one prediction
    /// [`Evaluation::evaluate`] shares the work between them.
    ///
    /// # Errors
    /// As [`Evaluation::evaluate`].
    pub fn evaluate(self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
        Ok(evaluation.evaluate(&[self])?[0])
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, k) = match self {
            Self::PrecisionAt(k) => ("p@", k),
            Self::NdcgAt(k) => ("ndcg@", k),
            Self::PspAt(k) => ("psp@", k),
            Self::PsndcgAt(k) => ("psndcg@", k),
            word => {
                let name = WORDS.iter().find(|(_, m)| m == word).map_or("", |(name, _)| name);
                return f.pad(name);
            }
        };
        f.pad(&format!("{prefix}{k}"))
    }
}

impl FromStr for Metric {
    type Err = MetricError;

    /// # Errors
    /// A name that no metric has, among them every `@0`.
    fn from_str(name: &str) -> Result<Self, MetricError> {
        let found = match name.split_once('@') {
            None => WORDS
                .iter()
                .find(|(word, _)| *word == name)
                .map(|&(_, metric)| metric),
            Some((word, k)) => {
                let k = k.parse().ok().filter(|&k| k > 0);
                let metric = AT_K.iter().find(|(prefix, _)| *prefix == word);
                metric.zip(k).map(|((_, metric), k)| metric(k))
            }
        };
        found.ok_or_else(|| MetricError::UnknownMetric {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in Metric::names() {
            let name = name.replace('K', "13");
            let metric: Metric = name.parse().unwrap();
            assert_eq!(metric.to_string(), name);
        }
        assert_eq!(format!("{:>6}", Metric::PrecisionAt(1)), "   p@1");
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "", "LRAP", "p", "p@", "p@0", "p@-1", "p@1.5", "lrap@1", "@3", "q@1",
        ] {
            let expected = MetricError::UnknownMetric {
                name: name.to_owned(),
            };
            assert_eq!(name.parse::<Metric>(), Err(expected));
        }
    }
}
