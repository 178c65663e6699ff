//! The metrics by name, and the trait that custom metrics implement.

use crate::{
    Average, Baseline, Confusion, EmptySamples, Evaluation, Mean, MetricError, SetComparison,
    UndefinedLabels, at_k, ranking,
};
use std::fmt;
use std::str::FromStr;

/// A number computed from an evaluation: a [`Metric`] or a custom one.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{Average, Evaluation, Metric, MetricError, Needs, Score, Scores, ZeroDivision};
///
/// /// F2, which weighs recall more than precision, over all entries.
/// #[derive(Debug)]
/// struct F2;
///
/// impl Score for F2 {
///     fn name(&self) -> String {
///         "f2".to_owned()
///     }
///     fn higher_is_better(&self) -> bool {
///         true
///     }
///     fn needs(&self) -> Needs {
///         Needs::LabelSets
///     }
///     fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
///         let sets = evaluation.sets()?;
///         let precision = sets.precision(Average::Micro, ZeroDivision::Zero);
///         let recall = sets.recall(Average::Micro, ZeroDivision::Zero);
///         Ok(5.0 * precision * recall / (4.0 * precision + recall))
///     }
/// }
///
/// let truth = array![[1.0_f32, 0.0], [1.0, 1.0]];
/// let scores = array![[0.9_f32, 0.2], [0.6, 0.1]];
/// let evaluation = Evaluation::new((&truth).into(), Scores::Dense(scores.view()));
/// let metrics: [&dyn Score; 2] = [&Metric::MicroF1, &F2];
/// let values = evaluation.evaluate(&metrics)?;
/// assert!((values[0] - 0.8).abs() < 1e-12 && (values[1] - 5.0 / 7.0).abs() < 1e-12);
/// # Ok::<(), MetricError>(())
/// ```
pub trait Score: fmt::Debug + Send + Sync {
    /// Returns the name that reports show.
    fn name(&self) -> String;

    /// Returns true if a larger value is better.
    fn higher_is_better(&self) -> bool;

    /// Returns the form of a prediction that the metric reads.
    fn needs(&self) -> Needs;

    /// Returns true if the metric weighs labels by inverse propensities, which need the label counts of the training
    /// set.
    fn needs_propensities(&self) -> bool {
        false
    }

    /// Returns the value; NaN where the metric is undefined.
    ///
    /// # Errors
    /// As [`Evaluation::evaluate`].
    fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError>;
}

impl<S: Score + ?Sized> Score for &S {
    fn name(&self) -> String {
        (**self).name()
    }

    fn higher_is_better(&self) -> bool {
        (**self).higher_is_better()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn needs_propensities(&self) -> bool {
        (**self).needs_propensities()
    }

    fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
        (**self).evaluate(evaluation)
    }
}

/// A metric by its name on the command line.
///
/// ```
/// use rpo_metrics::{Metric, Needs, Score};
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
    /// `lrap-all`: [`lrap`](crate::lrap) with samples without labels counted as 1, as scikit-learn does.
    LrapAll,
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
    /// `macro-p@K`: precision of the best K labels, the mean over labels: [`sets_at_k`](crate::sets_at_k).
    MacroPrecisionAt(usize),
    /// `macro-r@K`: recall of the best K labels, the mean over labels: [`sets_at_k`](crate::sets_at_k).
    MacroRecallAt(usize),
    /// `macro-f1@K`: F1 of the best K labels, the mean over labels: [`sets_at_k`](crate::sets_at_k).
    MacroF1At(usize),
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
    /// `mcc`, macro, undefined labels skipped: [`Confusion::mcc`].
    Mcc,
    /// `g-mean`, macro, undefined labels skipped: [`Confusion::g_mean`].
    GMean,
    /// `balanced-accuracy`, macro, undefined labels skipped: [`Confusion::balanced_accuracy`].
    BalancedAccuracy,
    /// `log-loss`, the mean over labels: [`ProbabilityErrors::log_loss`](crate::ProbabilityErrors::log_loss).
    LogLoss,
    /// `brier`, the mean over labels: [`ProbabilityErrors::brier`](crate::ProbabilityErrors::brier).
    Brier,
    /// `ece`, the mean over labels: [`ProbabilityErrors::calibration`](crate::ProbabilityErrors::calibration).
    Ece,
    /// `r2`: [`RegressionSums::macro_r2`](crate::RegressionSums::macro_r2).
    R2,
    /// `half-r2`: [`RegressionSums::half_macro_r2`](crate::RegressionSums::half_macro_r2).
    HalfR2,
    /// `arrmse`: [`RegressionSums::arrmse`](crate::RegressionSums::arrmse).
    Arrmse,
    /// `mse`: [`RegressionSums::mse`](crate::RegressionSums::mse).
    Mse,
    /// `rmse`: [`RegressionSums::mean_rmse`](crate::RegressionSums::mean_rmse).
    Rmse,
    /// `mae`: [`RegressionSums::mae`](crate::RegressionSums::mae).
    Mae,
    /// `pinball`, of quantiles: [`RegressionSums::pinball`](crate::RegressionSums::pinball).
    Pinball,
}

/// The form of a prediction that a metric reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A score for every label of every sample.
    Scores,
    /// The best k labels of every sample; they can be selected from scores.
    TopK(usize),
    /// A set of labels per sample; scores and thresholds give them.
    LabelSets,
    /// A real value for every output of every sample.
    Regression,
}

impl Needs {
    /// Returns the k of [`Needs::TopK`].
    pub(crate) fn top_k(self) -> Option<usize> {
        match self {
            Self::TopK(k) => Some(k),
            _ => None,
        }
    }
}

/// Metrics whose name is a word.
const WORDS: [(&str, Metric); 27] = [
    ("lrap", Metric::Lrap),
    ("lrap-all", Metric::LrapAll),
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
    ("mcc", Metric::Mcc),
    ("g-mean", Metric::GMean),
    ("balanced-accuracy", Metric::BalancedAccuracy),
    ("log-loss", Metric::LogLoss),
    ("brier", Metric::Brier),
    ("ece", Metric::Ece),
    ("r2", Metric::R2),
    ("half-r2", Metric::HalfR2),
    ("arrmse", Metric::Arrmse),
    ("mse", Metric::Mse),
    ("rmse", Metric::Rmse),
    ("mae", Metric::Mae),
    ("pinball", Metric::Pinball),
];

/// A metric from its k.
type AtK = fn(usize) -> Metric;

/// Metrics whose name is a word, `@` and k.
const AT_K: [(&str, AtK); 7] = [
    ("p", Metric::PrecisionAt),
    ("ndcg", Metric::NdcgAt),
    ("psp", Metric::PspAt),
    ("psndcg", Metric::PsndcgAt),
    ("macro-p", Metric::MacroPrecisionAt),
    ("macro-r", Metric::MacroRecallAt),
    ("macro-f1", Metric::MacroF1At),
];

impl Metric {
    /// Returns every name, with `K` where a number belongs.
    pub fn names() -> impl Iterator<Item = String> {
        let at_k = AT_K.iter().map(|(prefix, _)| format!("{prefix}@K"));
        at_k.chain(WORDS.iter().map(|(word, _)| (*word).to_owned()))
    }

    fn value(self, on: &Evaluation<'_>) -> Result<f64, MetricError> {
        let (empty, zero) = (on.options.empty_samples, on.options.zero_division);
        Ok(match self {
            Self::Lrap => ranking::lrap(on.labels()?, on.dense_scores()?, empty)?.value,
            Self::LrapAll => ranking::lrap(on.labels()?, on.dense_scores()?, EmptySamples::One)?.value,
            Self::Coverage => ranking::coverage_error(on.labels()?, on.dense_scores()?)?,
            Self::RankingLoss => ranking::ranking_loss(on.labels()?, on.dense_scores()?)?,
            Self::OneError => at_k::one_error(on.labels()?, &*on.top_k(1)?, empty)?.value,
            Self::PrecisionAt(k) => at_k::precision_at_k(on.labels()?, &*on.top_k(k)?, k)?,
            Self::NdcgAt(k) => at_k::ndcg_at_k(on.labels()?, &*on.top_k(k)?, k)?,
            Self::PspAt(k) => {
                at_k::psp_at_k(on.labels()?, &*on.top_k(k)?, on.inverse_propensities()?, k)?.value
            }
            Self::PsndcgAt(k) => {
                at_k::psndcg_at_k(on.labels()?, &*on.top_k(k)?, on.inverse_propensities()?, k)?.value
            }
            Self::MacroPrecisionAt(k) => sets_at_k(on, k)?.precision(Average::Macro, zero),
            Self::MacroRecallAt(k) => sets_at_k(on, k)?.recall(Average::Macro, zero),
            Self::MacroF1At(k) => sets_at_k(on, k)?.f1(Average::Macro, zero),
            Self::MacroAuc => ranking::macro_roc_auc(on.labels()?, on.dense_scores()?)?.value,
            Self::MicroAuc => ranking::micro_roc_auc(on.labels()?, on.dense_scores()?)?,
            Self::AveragePrecision => {
                let skip = UndefinedLabels::Skip;
                ranking::macro_average_precision(on.labels()?, on.dense_scores()?, skip)?.value
            }
            Self::Hamming => on.sets()?.hamming_loss(),
            Self::SubsetAccuracy => on.sets()?.subset_accuracy(),
            Self::Jaccard => on.sets()?.jaccard(Average::Samples, zero),
            Self::MicroF1 => on.sets()?.f1(Average::Micro, zero),
            Self::MacroF1 => on.sets()?.f1(Average::Macro, zero),
            Self::ExampleF1 => on.sets()?.f1(Average::Samples, zero),
            Self::Mcc => over_labels(on, Confusion::mcc)?,
            Self::GMean => over_labels(on, Confusion::g_mean)?,
            Self::BalancedAccuracy => over_labels(on, Confusion::balanced_accuracy)?,
            Self::LogLoss => mean(&on.probabilities()?.log_loss),
            Self::Brier => mean(&on.probabilities()?.brier),
            Self::Ece => mean(&on.probabilities()?.calibration),
            Self::R2 => on.sums()?.macro_r2(),
            Self::HalfR2 => on.sums()?.half_macro_r2(),
            Self::Arrmse => {
                let baseline = on.options.train_means.map_or(Baseline::TestMean, Baseline::Given);
                on.sums()?.arrmse(baseline)?.value
            }
            Self::Mse => on.sums()?.mse(),
            Self::Rmse => on.sums()?.mean_rmse(),
            Self::Mae => on.sums()?.mae(),
            Self::Pinball => on.sums()?.pinball(on.options.quantile_levels)?,
        })
    }
}

fn sets_at_k(on: &Evaluation<'_>, k: usize) -> Result<SetComparison, MetricError> {
    at_k::sets_at_k(on.labels()?, &*on.top_k(k)?, k)
}

/// The mean over the labels where a measure of their counts is defined.
fn over_labels(on: &Evaluation<'_>, value: fn(Confusion) -> f64) -> Result<f64, MetricError> {
    let values = on.sets()?.per_label().iter().map(|&label| value(label));
    Ok(Mean::of_defined(values).value)
}

fn mean(values: &[f64]) -> f64 {
    Mean::of_defined(values.iter().copied()).value
}

impl Score for Metric {
    fn name(&self) -> String {
        self.to_string()
    }

    fn higher_is_better(&self) -> bool {
        !matches!(
            self,
            Self::Coverage
                | Self::RankingLoss
                | Self::OneError
                | Self::Hamming
                | Self::LogLoss
                | Self::Brier
                | Self::Ece
                | Self::Arrmse
                | Self::Mse
                | Self::Rmse
                | Self::Mae
                | Self::Pinball
        )
    }

    fn needs(&self) -> Needs {
        match *self {
            Self::Lrap
            | Self::LrapAll
            | Self::Coverage
            | Self::RankingLoss
            | Self::MacroAuc
            | Self::MicroAuc
            | Self::AveragePrecision
            | Self::LogLoss
            | Self::Brier
            | Self::Ece => Needs::Scores,
            Self::OneError => Needs::TopK(1),
            Self::PrecisionAt(k)
            | Self::NdcgAt(k)
            | Self::PspAt(k)
            | Self::PsndcgAt(k)
            | Self::MacroPrecisionAt(k)
            | Self::MacroRecallAt(k)
            | Self::MacroF1At(k) => Needs::TopK(k),
            Self::Hamming
            | Self::SubsetAccuracy
            | Self::Jaccard
            | Self::MicroF1
            | Self::MacroF1
            | Self::ExampleF1
            | Self::Mcc
            | Self::GMean
            | Self::BalancedAccuracy => Needs::LabelSets,
            Self::R2 | Self::HalfR2 | Self::Arrmse | Self::Mse | Self::Rmse | Self::Mae | Self::Pinball => {
                Needs::Regression
            }
        }
    }

    fn needs_propensities(&self) -> bool {
        matches!(self, Self::PspAt(_) | Self::PsndcgAt(_))
    }

    fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
        self.value(evaluation).map_err(|e| match e {
            MetricError::Missing { needs, .. } => MetricError::Missing {
                metric: self.name(),
                needs,
            },
            other => other,
        })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, k) = match self {
            Self::PrecisionAt(k) => ("p@", k),
            Self::NdcgAt(k) => ("ndcg@", k),
            Self::PspAt(k) => ("psp@", k),
            Self::PsndcgAt(k) => ("psndcg@", k),
            Self::MacroPrecisionAt(k) => ("macro-p@", k),
            Self::MacroRecallAt(k) => ("macro-r@", k),
            Self::MacroF1At(k) => ("macro-f1@", k),
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
