//! Label sets: thresholds found while training.

use super::{DecisionName, FitContext, Groups, Recipe, Show};
use crate::error::CliError;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::core::Seed;
use rpo::data::{Dataset, Task};
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::tune::Holdout;
use serde_json::{Map, Value, json};

/// From which score on a label is predicted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Decisions")]
pub(crate) struct DecisionOptions {
    /// Find decision thresholds and keep them in the model: macro-f, for each label that of the largest F-measure;
    /// micro-f, one for all labels; rate, for each label that which predicts it as often as it occurs. They are found on
    /// out-of-bag predictions, or where a method has none by fitting twice: to a part of the samples, whose model's
    /// scores for the others the thresholds suit, and then to all. Without, labels are predicted from 0.5 on.
    #[arg(long, value_enum, value_name = "RULE")]
    thresholds: Option<RuleName>,

    /// Share of the samples that the first of those two fits withholds; 0.2 by default.
    #[arg(long, value_name = "SHARE")]
    threshold_share: Option<f64>,
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
pub(super) fn decided(
    recipe: Box<dyn Recipe>,
    groups: &Groups,
    seed: u64,
) -> Result<Box<dyn Recipe>, CliError> {
    let DecisionOptions {
        thresholds,
        threshold_share,
    } = groups.decision;
    let usage = |message: String| Err(CliError::Usage(message));
    let Some(rule) = thresholds else {
        return match threshold_share {
            None => Ok(recipe),
            Some(_) => usage("--threshold-share needs --thresholds".to_owned()),
        };
    };
    if groups.linear.decide == Some(DecisionName::F1) {
        return usage(
            "--decide f1 predicts labels without thresholds: --thresholds has nothing to do".to_owned(),
        );
    }
    let unseen = match (recipe.has_oob(), threshold_share.unwrap_or(0.2)) {
        (true, _) if threshold_share.is_some() => {
            return usage("--threshold-share is for methods that have no out-of-bag predictions".to_owned());
        }
        (true, _) => Unseen::OutOfBag,
        (false, share) if share > 0.0 && share < 1.0 => Unseen::Withheld { share, seed },
        (false, share) => {
            return usage(format!(
                "--threshold-share is {share}; expected a share between 0 and 1"
            ));
        }
    };
    Ok(Box::new(Decided { recipe, rule, unseen }))
}

/// Fits, and finds thresholds.
struct Decided {
    recipe: Box<dyn Recipe>,
    rule: RuleName,
    unseen: Unseen,
}

/// Samples that a model was not fitted to.
#[derive(Clone, Copy)]
enum Unseen {
    /// Each by the trees that did not see it.
    OutOfBag,
    /// A share of them, by a model that is fitted to the others.
    Withheld { share: f64, seed: u64 },
}

impl Recipe for Decided {
    fn n_steps(&self) -> usize {
        self.recipe.n_steps()
    }

    fn record(&self) -> Map<String, Value> {
        self.noted(self.recipe.record())
    }

    fn has_oob(&self) -> bool {
        self.recipe.has_oob()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        let known = self.before(data, context)?;
        let model = self.recipe.fit(data, context)?;
        self.decide(model, known.as_deref(), data, context)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        let known = self.before(data, context)?;
        let decide = |model| self.decide(model, known.as_deref(), data, context);
        let mut show_decided = |step: usize, model: &Model| show(step, &decide(model.clone())?);
        let model = self
            .recipe
            .fit_in_parts(data, context, steps, &mut show_decided)?;
        decide(model)
    }
}

impl Decided {
    /// Thresholds by a first fit, where the model itself will tell of no samples that it has not seen.
    fn before(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Option<Vec<f64>>, CliError> {
        if data.task() != Task::MultiLabel {
            let message = format!(
                "--thresholds is for labels; the outputs of {} are numbers",
                data.name()
            );
            return Err(CliError::Usage(message));
        }
        let Unseen::Withheld { share, seed } = self.unseen else {
            return Ok(None);
        };
        let parts = Holdout::new(data, share, Seed::new(seed).purpose("decision thresholds"));
        let parts = parts.map_err(|e| context.error(data, e))?;
        let first = FitContext {
            on_step: None,
            ..*context
        };
        let model = self.recipe.fit(&parts.train, &first)?;
        let (x, y) = (
            parts.validation.features().view(),
            parts.validation.outputs().view(),
        );
        let decided = model.with_withheld_thresholds(self.rule.into(), x, y);
        let decided = decided.map_err(|e| context.error(data, e))?;
        Ok(decided.thresholds().map(<[f64]>::to_vec))
    }

    /// The model with its thresholds: the known ones, or those that out-of-bag scores give.
    fn decide(
        &self,
        model: Model,
        known: Option<&[f64]>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<Model, CliError> {
        let record = self.noted(model.parameters().clone());
        let decided = match known {
            Some(known) => model.with_thresholds(Some(known.to_vec())),
            None => model.with_oob_thresholds(self.rule.into(), data),
        };
        let decided = decided.map_err(|e| context.error(data, e))?;
        Ok(decided.with_parameters(record))
    }

    /// A record of parameters with those of the thresholds.
    fn noted(&self, mut record: Map<String, Value>) -> Map<String, Value> {
        record.insert("thresholds".to_owned(), json!(super::name(&self.rule)));
        if let Unseen::Withheld { share, .. } = self.unseen {
            record.insert("threshold_share".to_owned(), json!(share));
        }
        record
    }
}
