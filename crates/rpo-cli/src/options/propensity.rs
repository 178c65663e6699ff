//! The propensity model.

use crate::error::CliError;
use clap::Args;
use rpo::core::Propensity;
use rpo::metrics::{Metric, Score};

/// The propensity model of labels.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PropensityOptions {
    /// Exponent A of the propensity model of psp@K, psndcg@K and weights of outputs (0.5 for Wikipedia, 0.6 for Amazon); 0.55
    /// by default.
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

    /// Refuses options that neither metrics nor weights of outputs heed.
    pub(crate) fn check_effect(self, metrics: &[Metric], of_weights: bool) -> Result<(), CliError> {
        let given = self.propensity_a.or(self.propensity_b).is_some();
        if given && !of_weights && !metrics.iter().any(Score::needs_propensities) {
            let message = "--propensity-a and --propensity-b are for psp@K, psndcg@K and --output-weights propensity, of which \
                none is asked for";
            return Err(CliError::Usage(message.to_owned()));
        }
        Ok(())
    }
}
