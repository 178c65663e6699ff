//! Metrics by name, and the trait that custom metrics implement.

use crate::{
    Average, Baseline, Curve, Deviance, EmptySamples, Evaluation, Gain, Mean, MetricError, OutputMetric,
    Ranking, SetMetric, TweediePower, at_k, ranking,
};
use rpo_core::ParameterError;
use std::fmt;
use std::str::FromStr;

/// A number computed from an evaluation: a [`Metric`] or a custom one.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::{Average, Evaluation, EvaluationOptions, Metric, MetricError, PredictionForm, Score, SetMetric, ZeroDivision};
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
///     fn needs(&self) -> PredictionForm {
///         PredictionForm::LabelSets
///     }
///     fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
///         let sets = evaluation.sets()?;
///         let precision = sets.average(Average::Micro, SetMetric::Precision(ZeroDivision::Zero));
///         let recall = sets.average(Average::Micro, SetMetric::Recall(ZeroDivision::Zero));
///         Ok(5.0 * precision * recall / (4.0 * precision + recall))
///     }
/// }
///
/// let truth = array![[1.0_f32, 0.0], [1.0, 1.0]];
/// let scores = array![[0.9_f32, 0.2], [0.6, 0.1]];
/// let evaluation = Evaluation::new((&truth).into(), scores.view(), EvaluationOptions::default());
/// let metrics: [&dyn Score; 2] = [&Metric::MicroF1, &F2];
/// let values = evaluation.evaluate(&metrics)?;
/// assert!((values[0] - 0.8).abs() < 1e-12 && (values[1] - 5.0 / 7.0).abs() < 1e-12);
/// # Ok::<(), MetricError>(())
/// ```
pub trait Score: fmt::Debug + Send + Sync {
    /// Returns the name shown in reports.
    fn name(&self) -> String;

    /// Returns true if a larger value is better.
    fn higher_is_better(&self) -> bool;

    /// Returns the form of a prediction that the metric reads.
    fn needs(&self) -> PredictionForm;

    /// Returns true if the metric weighs labels by inverse propensities, which need the label counts of the training
    /// set.
    fn needs_propensities(&self) -> bool {
        false
    }

    /// Returns the built-in metric, or `None` for a custom one. The means over samples of built-in metrics are computed in
    /// blocks of samples where memory is limited.
    fn built_in(&self) -> Option<Metric> {
        None
    }

    /// Returns the value; NaN if the metric is undefined.
    ///
    /// # Errors
    /// As for [`Evaluation::evaluate`].
    fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError>;
}

impl<S: Score + ?Sized> Score for &S {
    fn name(&self) -> String {
        (**self).name()
    }

    fn higher_is_better(&self) -> bool {
        (**self).higher_is_better()
    }

    fn needs(&self) -> PredictionForm {
        (**self).needs()
    }

    fn needs_propensities(&self) -> bool {
        (**self).needs_propensities()
    }

    fn built_in(&self) -> Option<Metric> {
        (**self).built_in()
    }

    fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
        (**self).evaluate(evaluation)
    }
}

/// A metric, which can be parsed from its name on the command line.
///
/// ```
/// use rpo_metrics::{Metric, PredictionForm, Score};
/// let metric: Metric = "p@5".parse()?;
/// assert_eq!(metric, Metric::PrecisionAt(5));
/// assert_eq!(metric.needs(), PredictionForm::TopK(5));
/// assert_eq!(metric.to_string(), "p@5");
/// assert!("p@0".parse::<Metric>().is_err());
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Metric {
    /// `lrap`: [`Ranking::Lrap`].
    Lrap,
    /// `lrap-all`: [`Ranking::Lrap`], where samples without labels count as 1, as in scikit-learn.
    LrapAll,
    /// `coverage`: [`Ranking::Coverage`].
    Coverage,
    /// `ranking-loss`: [`Ranking::Loss`].
    RankingLoss,
    /// `one-error`: [`one_error`](crate::one_error).
    OneError,
    /// `p@K`: [`Gain::Precision`].
    PrecisionAt(usize),
    /// `ndcg@K`: [`Gain::Ndcg`].
    NdcgAt(usize),
    /// `psp@K`, normalised: [`Gain::Precision`], [propensity-scored](crate::propensity_scored_at_k).
    PspAt(usize),
    /// `psndcg@K`, normalised: [`Gain::Ndcg`], [propensity-scored](crate::propensity_scored_at_k).
    PsndcgAt(usize),
    /// `macro-p@K`: precision of the best K labels, the mean over labels: [`sets_at_k`](crate::sets_at_k).
    MacroPrecisionAt(usize),
    /// `macro-r@K`: recall of the best K labels, the mean over labels: [`sets_at_k`](crate::sets_at_k).
    MacroRecallAt(usize),
    /// `macro-f1@K`: F1 of the best K labels, the mean over labels: [`sets_at_k`](crate::sets_at_k).
    MacroF1At(usize),
    /// `macro-auc`: [`Curve::Roc`], the mean over labels, undefined ones skipped.
    MacroAuc,
    /// `micro-auc`: [`Curve::Roc`] of [all entries](crate::micro_area).
    MicroAuc,
    /// `average-precision`, macro, labels without positives skipped: [`Curve::PrecisionRecall`].
    AveragePrecision,
    /// `hamming`, over all entries: [`SetMetric::ErrorRate`].
    Hamming,
    /// `subset-accuracy`, over samples: [`SetMetric::Exact`].
    SubsetAccuracy,
    /// `jaccard`, over samples: [`SetMetric::Jaccard`].
    Jaccard,
    /// `micro-f1`: [`SetMetric::F1`].
    MicroF1,
    /// `macro-f1`: [`SetMetric::F1`].
    MacroF1,
    /// `example-f1`, over samples: [`SetMetric::F1`].
    ExampleF1,
    /// `mcc`, macro, undefined labels skipped: [`SetMetric::Mcc`].
    Mcc,
    /// `g-mean`, macro, undefined labels skipped: [`SetMetric::GMean`].
    GMean,
    /// `balanced-accuracy`, macro, undefined labels skipped: [`SetMetric::BalancedAccuracy`].
    BalancedAccuracy,
    /// `log-loss`, the mean over labels: [`ProbabilityErrors::log_loss`](crate::ProbabilityErrors::log_loss).
    LogLoss,
    /// `brier`, the mean over labels: [`ProbabilityErrors::brier`](crate::ProbabilityErrors::brier).
    Brier,
    /// `ece`, the mean over labels: [`ProbabilityErrors::calibration`](crate::ProbabilityErrors::calibration).
    Ece,
    /// `r2`: [`OutputMetric::R2`], the mean over outputs.
    R2,
    /// `half-r2`: [`OutputMetric::R2`], the mean over the first half of the outputs, ⌊d/2⌋ of them; NaN if there is one
    /// output. For problems whose second half is a random permutation of the first, pure noise that a good method
    /// should ignore. Source: Joly, Wehenkel, Geurts 2019, section 4.2.3.
    HalfR2,
    /// `arrmse`: [`OutputMetric::RelativeRmse`], the mean over outputs.
    Arrmse,
    /// `mse`: [`OutputMetric::Mse`], the mean over outputs.
    Mse,
    /// `rmse`: [`OutputMetric::Rmse`], the mean over outputs.
    Rmse,
    /// `mae`: [`OutputMetric::Mae`], the mean over outputs; of quantiles, over the medians alone, and NaN without any,
    /// as other quantiles are not meant to be close to the true values.
    Mae,
    /// `pinball`, of quantiles: [`OutputMetric::Pinball`], the mean over outputs.
    Pinball,
    /// `poisson-deviance`, of counts: [`Deviance::Poisson`], the mean over outputs; infinite if a prediction is below
    /// 0, or 0 where the true value is not.
    PoissonDeviance,
    /// `tweedie-deviance`, of amounts that are often 0: [`Deviance::Tweedie`], the mean over outputs; with another power
    /// than 1.5 `tweedie-deviance@P`, such as `tweedie-deviance@1.7`.
    TweedieDeviance(TweediePower),
    /// `interval-coverage`: [`IntervalSums::coverage`](crate::IntervalSums::coverage), the mean over outputs. It should
    /// be the level of the intervals.
    IntervalCoverage,
    /// `interval-width`: [`IntervalSums::width`](crate::IntervalSums::width), the mean over outputs. Of intervals of the
    /// same level, narrower ones are better.
    IntervalWidth,
}

/// The form of a prediction that a metric reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionForm {
    /// A score for every label of every sample.
    Scores,
    /// The best k labels of every sample, which can be selected from scores.
    TopK(usize),
    /// A set of labels per sample, which can be derived from scores and thresholds.
    LabelSets,
    /// A real value for every output of every sample.
    Regression,
    /// A prediction interval for every output of every sample
    /// ([`EvaluationOptions::intervals`](crate::EvaluationOptions::intervals)).
    Intervals,
}

impl PredictionForm {
    /// Returns the k of [`PredictionForm::TopK`].
    pub fn top_k(self) -> Option<usize> {
        match self {
            Self::TopK(k) => Some(k),
            _ => None,
        }
    }
}

/// Returns the largest number of best labels that one of the metrics needs; `None` if none compares best labels.
pub fn largest_k<S: Score>(metrics: &[S]) -> Option<usize> {
    let ks = metrics.iter().filter_map(|metric| metric.needs().top_k());
    ks.max()
}

/// The name of the Tweedie deviance, before the power if that is not the default.
const TWEEDIE_DEVIANCE: &str = "tweedie-deviance";

/// Metrics whose name is a single word.
const WORDS: [(&str, Metric); 31] = [
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
    ("poisson-deviance", Metric::PoissonDeviance),
    (TWEEDIE_DEVIANCE, Metric::TweedieDeviance(TweediePower::MIDDLE)),
    ("interval-coverage", Metric::IntervalCoverage),
    ("interval-width", Metric::IntervalWidth),
];

/// Creates a metric from its k.
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
    /// Returns all names, with `K` in place of a number; `tweedie-deviance` may have a power beside.
    pub fn names() -> impl Iterator<Item = String> {
        let at_k = AT_K.iter().map(|(prefix, _)| format!("{prefix}@K"));
        at_k.chain(WORDS.iter().map(|(word, _)| (*word).to_owned()))
    }

    fn value(self, on: &Evaluation<'_>) -> Result<f64, MetricError> {
        let (empty, zero) = (on.options().empty_samples, on.options().zero_division);
        Ok(match self {
            Self::Lrap => of_ranking(on, Ranking::Lrap(empty))?,
            Self::LrapAll => of_ranking(on, Ranking::Lrap(EmptySamples::One))?,
            Self::Coverage => of_ranking(on, Ranking::Coverage)?,
            Self::RankingLoss => of_ranking(on, Ranking::Loss)?,
            Self::OneError => at_k::one_error(on.labels()?, &*on.top_k(1)?, empty)?.value,
            Self::PrecisionAt(k) => at_k::gain_at_k(on.labels()?, &*on.top_k(k)?, Gain::Precision, k)?,
            Self::NdcgAt(k) => at_k::gain_at_k(on.labels()?, &*on.top_k(k)?, Gain::Ndcg, k)?,
            Self::PspAt(k) => propensity_scored(on, Gain::Precision, k)?,
            Self::PsndcgAt(k) => propensity_scored(on, Gain::Ndcg, k)?,
            Self::MacroPrecisionAt(k) => macro_at_k(on, SetMetric::Precision(zero), k)?,
            Self::MacroRecallAt(k) => macro_at_k(on, SetMetric::Recall(zero), k)?,
            Self::MacroF1At(k) => macro_at_k(on, SetMetric::F1(zero), k)?,
            Self::MacroAuc => macro_area(on, Curve::Roc)?,
            Self::MicroAuc => ranking::micro_area(on.labels()?, on.dense_scores()?, Curve::Roc)?,
            Self::AveragePrecision => macro_area(on, Curve::PrecisionRecall)?,
            Self::Hamming => on.sets()?.average(Average::Micro, SetMetric::ErrorRate),
            Self::SubsetAccuracy => on.sets()?.average(Average::Samples, SetMetric::Exact),
            Self::Jaccard => on.sets()?.average(Average::Samples, SetMetric::Jaccard(zero)),
            Self::MicroF1 => on.sets()?.average(Average::Micro, SetMetric::F1(zero)),
            Self::MacroF1 => on.sets()?.average(Average::Macro, SetMetric::F1(zero)),
            Self::ExampleF1 => on.sets()?.average(Average::Samples, SetMetric::F1(zero)),
            Self::Mcc => on.sets()?.average(Average::Macro, SetMetric::Mcc),
            Self::GMean => on.sets()?.average(Average::Macro, SetMetric::GMean),
            Self::BalancedAccuracy => on.sets()?.average(Average::Macro, SetMetric::BalancedAccuracy),
            Self::LogLoss => mean(&on.probabilities()?.log_loss),
            Self::Brier => mean(&on.probabilities()?.brier),
            Self::Ece => mean(&on.probabilities()?.calibration),
            Self::R2 => on.sums()?.mean(OutputMetric::R2)?.value,
            Self::HalfR2 => on.sums()?.half_r2(),
            Self::Arrmse => {
                let baseline = on
                    .options()
                    .train_means
                    .map_or(Baseline::TestMean, Baseline::Given);
                on.sums()?.mean(OutputMetric::RelativeRmse(baseline))?.value
            }
            Self::Mse => on.sums()?.mean(OutputMetric::Mse)?.value,
            Self::Rmse => on.sums()?.mean(OutputMetric::Rmse)?.value,
            Self::Mae => {
                let levels = on.options().quantile_levels;
                let errors = on.sums()?.per_output(OutputMetric::Mae)?;
                let of_points = errors.into_iter().enumerate();
                let of_points = of_points.filter(|(output, _)| is_point(levels, *output));
                Mean::from_iter(of_points.map(|(_, error)| error)).value
            }
            Self::Pinball => {
                let levels = on.options().quantile_levels;
                on.sums()?.mean(OutputMetric::Pinball(levels))?.value
            }
            Self::PoissonDeviance => mean(&on.deviances(Deviance::Poisson)?),
            Self::TweedieDeviance(power) => mean(&on.deviances(Deviance::Tweedie(power))?),
            Self::IntervalCoverage => mean(&on.intervals()?.coverage()),
            Self::IntervalWidth => mean(&on.intervals()?.width()),
        })
    }
}

fn of_ranking(on: &Evaluation<'_>, metric: Ranking) -> Result<f64, MetricError> {
    Ok(ranking::ranking(on.labels()?, on.dense_scores()?, metric)?.value)
}

fn propensity_scored(on: &Evaluation<'_>, gain: Gain, k: usize) -> Result<f64, MetricError> {
    let (truth, top, inverse) = (on.labels()?, on.top_k(k)?, on.inverse_propensities()?);
    Ok(at_k::propensity_scored_at_k(truth, &*top, gain, inverse, k)?.value)
}

fn macro_at_k(on: &Evaluation<'_>, metric: SetMetric, k: usize) -> Result<f64, MetricError> {
    let sets = at_k::sets_at_k(on.labels()?, &*on.top_k(k)?, k)?;
    Ok(sets.average(Average::Macro, metric))
}

fn macro_area(on: &Evaluation<'_>, curve: Curve) -> Result<f64, MetricError> {
    let areas = ranking::area_per_label(on.labels()?, on.dense_scores()?, curve)?;
    Ok(mean(&areas))
}

/// Returns true for an output whose predictions are meant to be close to the true values: any but a quantile other than
/// the median. `levels` are those of the outputs, in turn, if they are quantiles.
fn is_point(levels: &[f64], output: usize) -> bool {
    let level = levels.iter().cycle().nth(output % levels.len().max(1));
    level.is_none_or(|level| (level - 0.5).abs() < 1e-9)
}

fn mean(values: &[f64]) -> f64 {
    Mean::from_iter(values.iter().copied()).value
}

impl Score for Metric {
    fn built_in(&self) -> Option<Metric> {
        Some(*self)
    }

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
                | Self::PoissonDeviance
                | Self::TweedieDeviance(_)
                | Self::IntervalWidth
        )
    }

    fn needs(&self) -> PredictionForm {
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
            | Self::Ece => PredictionForm::Scores,
            Self::OneError => PredictionForm::TopK(1),
            Self::PrecisionAt(k)
            | Self::NdcgAt(k)
            | Self::PspAt(k)
            | Self::PsndcgAt(k)
            | Self::MacroPrecisionAt(k)
            | Self::MacroRecallAt(k)
            | Self::MacroF1At(k) => PredictionForm::TopK(k),
            Self::Hamming
            | Self::SubsetAccuracy
            | Self::Jaccard
            | Self::MicroF1
            | Self::MacroF1
            | Self::ExampleF1
            | Self::Mcc
            | Self::GMean
            | Self::BalancedAccuracy => PredictionForm::LabelSets,
            Self::R2
            | Self::HalfR2
            | Self::Arrmse
            | Self::Mse
            | Self::Rmse
            | Self::Mae
            | Self::Pinball
            | Self::PoissonDeviance
            | Self::TweedieDeviance(_) => PredictionForm::Regression,
            Self::IntervalCoverage | Self::IntervalWidth => PredictionForm::Intervals,
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
            Self::TweedieDeviance(power) if *power != TweediePower::default() => {
                return f.pad(&format!("{TWEEDIE_DEVIANCE}@{power}"));
            }
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
    /// [`MetricError::UnknownMetric`] for a name that does not belong to a metric, [`MetricError::Parameter`] if a k is
    /// no whole number from 1, or a power not between 1 and 2.
    fn from_str(name: &str) -> Result<Self, MetricError> {
        let unknown = || MetricError::UnknownMetric {
            name: name.to_owned(),
        };
        let Some((word, k)) = name.split_once('@') else {
            let found = WORDS.iter().find(|(word, _)| *word == name);
            return found.map(|&(_, metric)| metric).ok_or_else(unknown);
        };
        if word == TWEEDIE_DEVIANCE {
            return Ok(Self::TweedieDeviance(k.parse()?));
        }
        let (_, metric) = AT_K
            .iter()
            .find(|(prefix, _)| *prefix == word)
            .ok_or_else(unknown)?;
        match k.parse() {
            Ok(k) if k > 0 => Ok(metric(k)),
            _ => Err(ParameterError::out_of_range("K", k, "a whole number of at least 1").into()),
        }
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
        let power = |name: &str| name.parse::<Metric>().map(|metric| metric.to_string());
        assert_eq!(power("tweedie-deviance@1.7").unwrap(), "tweedie-deviance@1.7");
        assert_eq!(power("tweedie-deviance@1.5").unwrap(), "tweedie-deviance");
        assert!(power("tweedie-deviance@2").is_err() && power("poisson-deviance@1.5").is_err());
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "LRAP", "p", "lrap@1", "@3", "q@1"] {
            let expected = MetricError::UnknownMetric {
                name: name.to_owned(),
            };
            assert_eq!(name.parse::<Metric>(), Err(expected));
        }
        for k in ["", "0", "-1", "1.5", "K"] {
            let expected = ParameterError::out_of_range("K", k, "a whole number of at least 1");
            assert_eq!(format!("p@{k}").parse::<Metric>(), Err(expected.into()));
        }
    }
}
