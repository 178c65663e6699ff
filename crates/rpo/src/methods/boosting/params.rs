//! Parameters of boosting: those of the algorithm, and when it stops.

use rpo_core::{Domain, ParameterError};
use rpo_ensemble::boosting::BoostingParams;
use rpo_metrics::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Boosting that may stop by the score on withheld samples, or after a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Boosting {
    #[serde(flatten)]
    pub(super) params: BoostingParams,
    /// Stops after a number of seconds, but not before the first step; the model then depends on the machine.
    pub(super) time_limit: Option<f64>,
    /// Fraction of the samples to withhold and score every step on, between 0 and 1; the model ends with the best step.
    /// With `early_stopping` it is 0.2 by default, otherwise no samples are withheld. A search scores steps on the samples
    /// that it withholds itself.
    pub(super) validation: Option<f64>,
    /// Stops after a number of steps without a better score on the withheld samples.
    #[schemars(range(min = 1))]
    pub(super) early_stopping: Option<usize>,
    /// The score on withheld samples; lrap for labels and r2 for numbers by default.
    #[schemars(with = "Option<String>")]
    #[serde(with = "metric_name")]
    pub(super) validation_metric: Option<Metric>,
    /// After withholding samples, fits again to all samples with as many steps as were best.
    pub(super) refit_all: bool,
    /// Finds the number of steps: withholds a fifth of the samples, stops after 50 steps without a better score, at the
    /// latest after 1000 or `iterations`, and fits again to all samples with as many steps as were best.
    ///
    /// Off by default: a fixed number of steps scores better on most sets of labels, where fitting to four fifths of few
    /// samples finds a number that is too small for all (docs/performance.md).
    pub(super) find_iterations: bool,
}

/// Samples to withhold to choose the number of steps.
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

    /// Checks the parameters beside those of the algorithm.
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

    /// The samples to withhold, if any.
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

/// Metrics under their names.
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
