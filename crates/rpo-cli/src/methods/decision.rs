//! Label sets: thresholds found while training.

use super::{FitContext, Groups, Recipe, Show};
use crate::error::CliError;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::thresholds::ThresholdRule;
use serde_json::{Map, Value, json};

/// From which score on a label is predicted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Decisions")]
pub struct DecisionOptions {
    /// Find decision thresholds on out-of-bag predictions and keep them in the model: macro-f, for each label that of the
    /// largest F-measure; micro-f, one for all labels; rate, for each label that which predicts it as often as it
    /// occurs. Without, labels are predicted from 0.5 on.
    #[arg(long, value_enum, value_name = "RULE")]
    thresholds: Option<RuleName>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum RuleName {
    MacroF,
    MicroF,
    Rate,
}

impl From<RuleName> for ThresholdRule {
    fn from(name: RuleName) -> Self {
        match name {
            RuleName::MacroF => Self::MacroF,
            RuleName::MicroF => Self::MicroF,
            RuleName::Rate => Self::Rate,
        }
    }
}

/// The recipe, and after it the thresholds that the options ask for.
pub(super) fn decided(recipe: Box<dyn Recipe>, groups: &Groups) -> Result<Box<dyn Recipe>, CliError> {
    let Some(rule) = groups.decision.thresholds else {
        return Ok(recipe);
    };
    if !recipe.has_oob() {
        let message = "--thresholds needs samples out of the trees' bags, and every tree sees every sample";
        return Err(CliError::Usage(message.to_owned()));
    }
    Ok(Box::new(Decided { recipe, rule }))
}

/// Fits, then finds thresholds.
struct Decided {
    recipe: Box<dyn Recipe>,
    rule: RuleName,
}

impl Recipe for Decided {
    fn n_steps(&self) -> usize {
        self.recipe.n_steps()
    }

    fn record(&self) -> Map<String, Value> {
        let mut record = self.recipe.record();
        record.insert("thresholds".to_owned(), json!(super::name(&self.rule)));
        record
    }

    fn has_oob(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        let model = self.recipe.fit(data, context)?;
        self.decide(model, data, context)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        let mut show_decided =
            |step: usize, model: &Model| show(step, &self.decide(model.clone(), data, context)?);
        let model = self
            .recipe
            .fit_in_parts(data, context, steps, &mut show_decided)?;
        self.decide(model, data, context)
    }
}

impl Decided {
    /// A model with the thresholds that its out-of-bag scores give.
    fn decide(&self, model: Model, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        let decided = model.with_oob_thresholds(self.rule.into(), data);
        let decided = decided.map_err(|e| context.error(data, e))?;
        Ok(decided.with_parameters(self.record()))
    }
}
