//! `rpo combine`.

use crate::error::CliError;
use crate::files;
use crate::options::{DataOptions, GroupOptions, ThreadOptions};
use crate::output::{Report, note};
use clap::Args;
use rpo::combine::{Candidate, CombineRule, Ensemble};
use rpo::data::Dataset;
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::{Decision, Model, ModelError, ThresholdSource};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Combine models of any methods, fitted to the same data, into one that predicts their weighted mean.
///
/// Scores of labels are first clamped to 0 to 1, as those of linear methods may lie outside. Ensembles, such as models of
/// auto and blend, cannot be combined again. Weights are given, or found on data that the models were not fitted to;
/// `rpo train --method auto` and `--method blend` fit and combine at once. Prints the weight of each file, 0 for a model
/// that is left out.
#[derive(Debug, Args)]
// Data is only needed to find weights or thresholds; without it, its name is empty.
#[command(mut_arg("data", |data| data.required(false).default_value("").hide_default_value(true)))]
#[command(mut_arg("group", |group| group.requires("data").conflicts_with("weights").help(GROUP)))]
pub(crate) struct Combine {
    /// Models to combine.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    models: Vec<PathBuf>,

    /// A positive weight for each model; equal by default, or found on the data.
    #[arg(long, value_name = "WEIGHT", num_args = 1.., value_delimiter = ',', allow_negative_numbers = true)]
    weights: Vec<f64>,

    /// Rule that finds the weights on the data: mean, greedy, greedy-mean, nnls or stack; greedy by default. Models
    /// without weight are left out. For models that predict quantiles: mean, greedy or greedy-mean, by the pinball
    /// loss.
    #[arg(long, value_name = "RULE", requires = "data", conflicts_with = "weights")]
    combine: Option<CombineRule>,

    /// Rule that finds decision thresholds on the data, as in `rpo train`: macro-f, label-f, micro-f or rate. Thresholds
    /// of the models apply to their own scores and are not kept; without the option labels are predicted from a score of
    /// 0.5.
    #[arg(long, value_name = "RULE", requires = "data")]
    thresholds: Option<ThresholdRule>,

    /// File to save the ensemble to.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    out: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataOptions,

    #[command(flatten)]
    groups: GroupOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

/// The help of `--group`, which differs from that of training.
const GROUP: &str = "Keep samples of the data together that have the same value in this column of a table, such as a \
customer: the printed score is that of weights found on other customers. The column is not a feature. With --id another \
column identifies the samples, for which the file is read once more";

impl Combine {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        let has_data = !self.data.name().is_empty();
        if has_data && !self.weights.is_empty() && self.thresholds.is_none() {
            let message = "--weights cannot be combined with --data, which finds the weights, unless --thresholds needs the data";
            return Err(CliError::Usage(message.to_owned()));
        }
        if !self.weights.is_empty() && self.weights.len() != self.models.len() {
            let (weights, models) = (self.weights.len(), self.models.len());
            let message = format!("--weights has {weights} numbers for {models} models");
            return Err(CliError::Usage(message));
        }
        let models = self.models.iter().map(|path| ("--models", Some(path.as_path())));
        files::check(
            models.chain(self.data.files()),
            [("--out", Some(self.out.as_path()))],
        )?;
        let models = self
            .models
            .iter()
            .map(Model::load)
            .collect::<Result<Vec<_>, _>>()?;
        let of_numbers = |model: &Model| model.labels().is_empty();
        if self.thresholds.is_some() && models.iter().any(of_numbers) {
            let message = "--thresholds is for labels; the models predict numbers";
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.thresholds.is_none() {
            self.note_decisions(&models);
        }
        let data = match models.first() {
            Some(first) if has_data => Some(self.groups.load_evaluation(&self.data, first.schema())?),
            _ => None,
        };
        let weighed_on = data.as_ref().filter(|_| self.weights.is_empty());
        let is_fitted = |model: &Model| weighed_on.is_some_and(|data| model.training().has_outputs_of(data));
        let files = self.models.iter().zip(&models);
        let fitted: Vec<_> = files
            .filter_map(|(file, model)| is_fitted(model).then_some(file))
            .collect();
        let model = self.combined(models, data.as_ref());
        let model = model.map_err(|e| self.failed(e))?;
        for file in fitted {
            note(&format!(
                "{}: fitted to the outputs of this data, by which its weight is too large; pass samples that no model was \
                 fitted to",
                file.display()
            ));
        }
        let mut report = Report::default();
        report.set("models", self.models.len());
        if let Some(ensemble) = model.predictor().downcast_ref::<Ensemble>() {
            report.set("weights", self.by_file(ensemble, |candidate| candidate.weight));
            if ensemble.label_weights().is_some() {
                let weights = self.by_file(ensemble, |candidate| candidate.label_weight);
                report.set("label_weights", weights);
            }
            if let Some(selection) = &ensemble.selection {
                // Each sample is scored with weights found on other samples.
                report.set_known(&format!("cross_fitted_{}", selection.metric), selection.score);
            }
        }
        report.set("model_bytes", model.save(&self.out)?);
        report.print(self.json)
    }

    /// Combines the models, with the weights and thresholds that are given or found on the data.
    fn combined(&self, models: Vec<Model>, data: Option<&Dataset>) -> Result<Model, ModelError> {
        let model = match data {
            Some(data) if self.weights.is_empty() => {
                Model::combine_on(&models, self.combine.unwrap_or_default(), data)?
            }
            _ => {
                let weights = self.weights.iter().copied().chain(std::iter::repeat(1.0));
                Model::combine(models.into_iter().zip(weights).collect())?
            }
        };
        match (self.thresholds, data) {
            (Some(rule), Some(data)) => model.with_thresholds(ThresholdSource::Withheld(rule, data)),
            _ => Ok(model),
        }
    }

    /// Names the file of a model that cannot be combined, or the data.
    fn failed(&self, error: ModelError) -> CliError {
        match error {
            ModelError::Combine { member, difference } => CliError::Data {
                data: self.models[member].display().to_string(),
                problem: format!(
                    "cannot be combined with {}, as it was fitted to different data: {difference}",
                    self.models[0].display()
                ),
            },
            error if self.data.name().is_empty() => CliError::Model(error),
            error => CliError::of_data(error, self.data.name()),
        }
    }

    /// The weight of each file; 0 if its model was left out, and the sum of its weights if it is given twice. `found` is
    /// the weight of a candidate, where weights were found on data.
    fn by_file(&self, ensemble: &Ensemble, found: fn(&Candidate) -> Option<f64>) -> Map<String, Value> {
        let weights: Vec<f64> = match &ensemble.selection {
            Some(selection) => {
                let candidates = selection.candidates.iter();
                candidates
                    .map(|candidate| found(candidate).unwrap_or(0.0))
                    .collect()
            }
            None => ensemble.members().map(|(_, weight)| weight).collect(),
        };
        let mut of_file = Map::new();
        for (path, weight) in self.models.iter().zip(weights) {
            let sum = of_file.entry(path.display().to_string()).or_insert(json!(0.0));
            *sum = json!(sum.as_f64().unwrap_or(0.0) + weight);
        }
        of_file
    }

    /// Notes that the models' own decision rules and intervals do not apply to the ensemble.
    fn note_decisions(&self, models: &[Model]) {
        let decides = |model: &Model| model.thresholds().is_some() || model.decision == Decision::ExpectedF1;
        let mut deciding = self.models.iter().zip(models).filter(|(_, model)| decides(model));
        if let Some((path, _)) = self
            .models
            .iter()
            .zip(models)
            .find(|(_, model)| model.intervals().is_some())
        {
            note(&format!(
                "{} has prediction intervals, which are not those of the ensemble: it has none",
                path.display()
            ));
        }
        if let Some((path, _)) = deciding.next() {
            let who = match deciding.count() {
                0 => format!("{} decides", path.display()),
                n => format!("{} and {n} more decide", path.display()),
            };
            note(&format!(
                "{who} on labels by a rule that does not apply to the scores of the ensemble, which predicts labels \
                 from a score of 0.5 on; --thresholds finds thresholds for the ensemble on --data"
            ));
        }
    }
}
