//! Features before a method sees them: missing values filled in, nominal ones as indicators, numbers standardized.

use super::{FitContext, Groups, Method, Recipe, Show, name};
use crate::error::CliError;
use crate::options::Switch;
use crate::output::note;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::data::preprocess::{Fill, Pipeline, Steps, Transform};
use serde_json::{Map, Value, json};

/// What happens to features before a method sees them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct FeatureOptions {
    /// Fill missing features with what is typical of them in training; of nominal ones that is always the most frequent
    /// value. Without, forests and boosting send missing values to a side of each split, other methods refuse them.
    #[arg(long, value_enum, value_name = "FILL")]
    impute: Option<FillName>,

    /// What nominal features (of ARFF) of three or more values are: one-hot, a column of 0 and 1 for each value; or
    /// codes, the value's place in the attribute's list as a number. One-hot by default for ridge, logistic-regression
    /// and label-embedding, codes for the others.
    #[arg(long, value_enum)]
    nominal: Option<NominalName>,

    /// Bring numeric features to mean 0 and variance 1 of the training samples; they are dense then.
    #[arg(long, switch())]
    standardize: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum FillName {
    /// They stay missing, as by default.
    None,
    Median,
    Mean,
    /// Of several the smallest.
    MostFrequent,
}

impl FillName {
    fn fill(self) -> Option<Fill> {
        match self {
            Self::None => None,
            Self::Median => Some(Fill::Median),
            Self::Mean => Some(Fill::Mean),
            Self::MostFrequent => Some(Fill::MostFrequent),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum NominalName {
    OneHot,
    Codes,
}

/// The recipe of what a pipeline makes of the data, if there are steps that may change them.
pub(super) fn prepared(recipe: Box<dyn Recipe>, method: Method, groups: &Groups) -> Box<dyn Recipe> {
    let FeatureOptions {
        impute,
        nominal,
        standardize,
    } = groups.features;
    let usual = if matches!(
        method,
        Method::Ridge | Method::LogisticRegression | Method::LabelEmbedding
    ) {
        NominalName::OneHot
    } else {
        NominalName::Codes
    };
    let steps = Steps {
        impute: impute.and_then(FillName::fill),
        one_hot: nominal.unwrap_or(usual) == NominalName::OneHot,
        standardize: standardize.unwrap_or(false),
    };
    let given = [
        ("impute", impute.map(|fill| json!(name(&fill)))),
        ("nominal", nominal.map(|nominal| json!(name(&nominal)))),
        ("standardize", standardize.map(|yes| json!(yes))),
    ];
    let given: Map<String, Value> = given
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
    if steps == Steps::default() && given.is_empty() {
        return recipe;
    }
    Box::new(Prepared { recipe, steps, given })
}

/// Says of which features nothing could be learned to fill them with.
pub(crate) fn note_unknown(model: &Model) {
    let Some(imputer) = model.pipeline().and_then(Pipeline::imputer) else {
        return;
    };
    let mut unknown = imputer.unobserved();
    if let Some(first) = unknown.next() {
        let name = model.schema().feature_names().get(first).unwrap_or_default();
        let others = match unknown.count() {
            0 => String::new(),
            1 => ", nor has 1 other".to_owned(),
            n => format!(", nor have {n} others"),
        };
        note(&format!(
            "feature {name:?} has no value in any training sample{others}: 0 is filled in"
        ));
    }
}

/// Prepares features, and fits to those.
struct Prepared {
    recipe: Box<dyn Recipe>,
    steps: Steps,
    /// The options given, for the record.
    given: Map<String, Value>,
}

impl Recipe for Prepared {
    fn n_steps(&self) -> usize {
        self.recipe.n_steps()
    }

    fn record(&self) -> Map<String, Value> {
        let mut record = self.recipe.record();
        record.extend(self.given.clone());
        record
    }

    fn has_oob(&self) -> bool {
        self.recipe.has_oob()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        self.with_pipeline(data, context, |pipeline, prepared, context| {
            let model = self.recipe.fit(prepared, context)?;
            self.whole(model, pipeline, data)
        })
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        self.with_pipeline(data, context, |pipeline, prepared, context| {
            let mut show_whole =
                |step: usize, model: &Model| show(step, &self.whole(model.clone(), pipeline, data)?);
            let model = self
                .recipe
                .fit_in_parts(prepared, context, steps, &mut show_whole)?;
            self.whole(model, pipeline, data)
        })
    }
}

impl Prepared {
    /// Calls `fit` with the pipeline that the data give, and with data and context as it leaves them.
    fn with_pipeline(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        fit: impl FnOnce(&Pipeline, &Dataset, &FitContext<'_>) -> Result<Model, CliError>,
    ) -> Result<Model, CliError> {
        let pipeline = self.steps.fit(data).map_err(|e| context.error(data, e))?;
        if pipeline.is_identity() {
            return fit(&pipeline, data, context);
        }
        let apply = |data: &Dataset| pipeline.apply(data).map_err(|e| context.error(data, e));
        let prepared = apply(data)?;
        let validation = context.validation.map(apply).transpose()?;
        let context = FitContext {
            validation: validation.as_ref(),
            ..*context
        };
        fit(&pipeline, &prepared, &context)
    }

    /// The model of the data as they were, with the record of what happened to them.
    fn whole(&self, model: Model, pipeline: &Pipeline, data: &Dataset) -> Result<Model, CliError> {
        let mut record = model.parameters().clone();
        if pipeline.one_hot().is_some() {
            record.insert("nominal".to_owned(), json!(name(&NominalName::OneHot)));
        }
        record.extend(self.given.clone());
        Ok(model
            .with_pipeline(pipeline.clone(), data)?
            .with_parameters(record))
    }
}
