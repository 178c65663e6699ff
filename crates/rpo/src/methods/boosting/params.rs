//! Parameters of boosting: those of the algorithm, and those of stopping.

use rpo_core::{Domain, ParameterError};
use rpo_ensemble::boosting::BoostingParams;
use rpo_metrics::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Boosting that may stop early on the score of withheld samples, or after a time limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Boosting {
    #[serde(flatten)]
    pub(super) params: BoostingParams,
    /// Stops after this number of seconds, but not before the first step; the model then depends on the machine. Two fits
    /// share the time: the search for a number of steps and the fit to all samples, and fits for intervals or thresholds
    /// on withheld samples and the last one.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub(super) time_limit: Option<f64>,
    /// Fraction of the samples to withhold; every step is scored on them, and the model keeps the
    /// steps up to the best. Default 0.2 with `early_stopping`, otherwise no samples are withheld. A search scores
    /// steps on the samples that it withholds itself.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub(super) validation: Option<f64>,
    /// Stops after this number of steps without a better score on the withheld samples.
    #[schemars(range(min = 1))]
    pub(super) early_stopping: Option<usize>,
    /// The score on withheld samples. Default: log-loss for labels if their scores are probabilities, otherwise lrap, or
    /// macro-auc for up to four; r2 for numbers; pinball for quantiles, the deviance for the losses poisson and tweedie,
    /// and mae for absolute and huber. For labels and classes beside numbers, the mean over all outputs of r2 and of 1 - the
    /// log-loss relative to that of constant predictions.
    #[schemars(with = "Option<String>")]
    #[serde(with = "metric_name")]
    pub(super) validation_metric: Option<Metric>,
    /// After withholding samples, fits again to all samples with the best number of steps.
    pub(super) refit_all: bool,
    /// Finds the number of steps: withholds a fifth of the samples, stops after 50 steps without a better score, or
    /// after 1000 steps (or `iterations`, if larger), and fits again to all samples with the best number of steps.
    ///
    /// Off by default: over many sets a fixed number of steps ranks labels as well and predicts numbers better
    /// (docs/defaults.md), as four fifths of few samples yield a number that is too small for all of them.
    pub(super) find_iterations: bool,
}

/// How samples are withheld to choose the number of steps.
#[derive(Clone, Copy)]
pub(super) struct Withholding {
    pub(super) fraction: f64,
    pub(super) patience: Option<usize>,
    pub(super) metric: Option<Metric>,
    pub(super) refit: bool,
}

impl Boosting {
    pub(super) fn new(params: BoostingParams) -> Self {
        Self {
            params,
            time_limit: None,
            validation: None,
            early_stopping: None,
            validation_metric: None,
            refit_all: false,
            find_iterations: false,
        }
    }

    /// Checks the parameters that do not belong to the algorithm.
    pub(super) fn check_stopping(&self) -> Result<(), ParameterError> {
        Domain::Positive.check("time_limit", self.time_limit)?;
        Domain::Level.check("validation", self.validation)?;
        Domain::Count.check("early_stopping", self.early_stopping)?;
        if self.withholding().is_some() {
            return Ok(());
        }
        let reason = "needs samples withheld by `validation`, `early_stopping` or `find_iterations`";
        match (self.validation_metric, self.refit_all) {
            (Some(metric), _) => Err(ParameterError::conflict("validation_metric", metric, reason)),
            (None, true) => Err(ParameterError::conflict("refit_all", true, reason)),
            (None, false) => Ok(()),
        }
    }

    /// How samples are withheld, if at all.
    pub(super) fn withholding(&self) -> Option<Withholding> {
        let patience = self.early_stopping.or(self.find_iterations.then_some(50));
        let default = patience.map(|_| 0.2);
        self.validation.or(default).map(|fraction| Withholding {
            fraction,
            patience,
            metric: self.validation_metric,
            refit: self.refit_all || self.find_iterations,
        })
    }

    /// Largest number of steps.
    pub(super) fn most_steps(&self) -> usize {
        let least = if self.find_iterations { 1000 } else { 0 };
        self.params.iterations.max(least)
    }
}

/// Serializes metrics by name.
mod metric_name {
    use rpo_metrics::Metric;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        metric: &Option<Metric>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        metric.map(|metric| metric.to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Metric>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        name.map(|name| name.parse().map_err(de::Error::custom))
            .transpose()
    }
}
