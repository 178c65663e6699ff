//! Options of the propensity model and of ranking by it.

use crate::error::CliError;
use clap::{Args, ValueEnum};
use rpo::Method;
use rpo::core::{CheckParams, Propensity};
use rpo::metrics::{Metric, Score};

/// The propensity model of labels.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PropensityOptions {
    /// Exponent A of the propensity model of psp@K, psndcg@K, --rerank and weights of outputs (0.5 for Wikipedia, 0.6
    /// for Amazon); 0.55 by default.
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    propensity_a: Option<f64>,

    /// Offset B of the propensity model (0.4 for Wikipedia, 2.6 for Amazon); 1.5 by default.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    propensity_b: Option<f64>,
}

impl PropensityOptions {
    /// The model.
    pub(crate) fn model(self) -> Propensity {
        let usual = Propensity::default();
        Propensity {
            a: self.propensity_a.unwrap_or(usual.a),
            b: self.propensity_b.unwrap_or(usual.b),
        }
    }

    /// Passes the given options to a method that has them as parameters.
    pub(crate) fn of_method(self, mut method: Method) -> Result<Method, CliError> {
        let given = [
            ("propensity_a", self.propensity_a),
            ("propensity_b", self.propensity_b),
        ];
        for (name, value) in given {
            let is_parameter = method.entry().parameters().iter().any(|info| info.name == name);
            if let Some(value) = value.filter(|_| is_parameter) {
                method = method.with(name, &value.to_string())?;
            }
        }
        Ok(method)
    }

    /// Refuses options without effect on metrics or anything else, and values that are not allowed.
    pub(crate) fn check_effect(self, metrics: &[Metric], is_heeded: bool) -> Result<(), CliError> {
        let given = self.propensity_a.or(self.propensity_b).is_some();
        if given && !is_heeded && !metrics.iter().any(Score::needs_propensities) {
            let message = "--propensity-a and --propensity-b are for psp@K, psndcg@K, --rerank, --output-weights propensity and \
                 --propensity-weights, none of which was requested";
            return Err(CliError::Usage(message.to_owned()));
        }
        let checked = self.model().check();
        checked.map_err(|e| CliError::Model(e.into()))
    }
}

/// Selects how the best labels are ranked.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RerankOptions {
    /// Rank labels by score / p instead of the score, which must be a probability, with p the propensity of the label
    /// by its frequency in training (Jain et al. 2016): of labels that are about equally likely, rare ones come first,
    /// and the expected psp@K is largest. Ranks all labels, or those that the beam of a label tree reaches.
    #[arg(long, value_enum, value_name = "RULE")]
    rerank: Option<Rerank>,

    #[command(flatten)]
    pub(crate) propensity: PropensityOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rerank {
    Propensity,
}

impl RerankOptions {
    /// The propensities to rank by, if requested.
    pub(crate) fn model(self) -> Option<Propensity> {
        self.rerank.map(|Rerank::Propensity| self.propensity.model())
    }

    /// Refuses a propensity model that affects neither the ranking nor metrics.
    pub(crate) fn check_effect(self, metrics: &[Metric]) -> Result<(), CliError> {
        self.propensity.check_effect(metrics, self.rerank.is_some())
    }
}
