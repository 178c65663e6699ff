//! `rpo inspect`.

use crate::error::CliError;
use crate::output::{Report, print};
use crate::predictions::model_columns::{features, features_in_words, targets, targets_in_words};
use clap::Args;
use rpo::combine::Ensemble;
use rpo::{Model, Predictor, TreeSize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show the contents of a model file.
///
/// Task, sizes, columns and targets, training parameters, statistics of the trees and the most important features. With
/// --json all columns with their types and values, and all targets with their classes.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Number of most important features to show. Importances are gains in training, which favour features of many
    /// different values: even a random number has some. The mean size of contributions (`rpo explain`) is less partial.
    /// Numbered features count from 0, also those of svmlight files.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top_features: usize,

    /// Print only the training parameters, as a JSON object that `rpo train --params` reads.
    #[arg(long, conflicts_with = "json")]
    params: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let model = Model::load(&self.model)?;
        let is_ensemble = model.predictor().downcast_ref::<Ensemble>().is_some();
        if self.params {
            if is_ensemble && model.parameters.is_empty() {
                let message =
                    "an ensemble made by `rpo combine` has no training parameters; its members have";
                return Err(CliError::Usage(message.to_owned()));
            }
            let parameters = serde_json::to_string_pretty(&model.parameters);
            return print(&format!("{}\n", parameters.unwrap_or_default()));
        }
        let mut report = Report::default();
        let method = model.parameters.get("method").cloned();
        report.set(
            "method",
            method.unwrap_or_else(|| json!(if is_ensemble { "ensemble" } else { "forest" })),
        );
        report.set("software", &*model.software);
        report.set("task", json!(model.schema().task));
        report.set("n_train", model.training().n_samples);
        report.set("n_features", model.n_features());
        if let Some(pipeline) = model.pipeline() {
            report.set("n_columns", pipeline.n_columns());
        }
        report.set("n_outputs", model.n_outputs());
        if self.json {
            report.set("features", features(&model));
            report.set("targets", targets(&model));
        } else {
            report.set_known("columns", features_in_words(&model));
            report.set("targets", targets_in_words(&model));
        }
        match &model.schema().missing_values[..] {
            [] => {}
            texts if self.json => report.set("missing_values", texts),
            texts => report.set("missing_values", texts.join(", ")),
        }
        if let Some(counts) = model.training().label_counts() {
            let cardinality = counts.iter().sum::<usize>() as f64 / model.training().n_samples.max(1) as f64;
            report.set("label_cardinality", cardinality);
        }
        report.set("has_thresholds", model.thresholds().is_some());
        if let Some(intervals) = model.intervals() {
            report.set("interval_level", intervals.level());
        }
        if self.json {
            report.set("parameters", model.parameters.clone());
        } else {
            for (key, value) in model.parameters.iter().filter(|(key, _)| *key != "method") {
                // A parameter without a value has its default, which may be a step that takes place.
                let shown = if value.is_null() {
                    json!("default")
                } else {
                    value.clone()
                };
                report.set(format!("parameter {key}"), shown);
            }
        }
        let predictor = model.predictor();
        for (key, value) in predictor.summary() {
            match self.json {
                true => report.set(key, value),
                false => in_lines(key, value, &mut report),
            }
        }
        trees(&predictor.tree_sizes(), &mut report);
        self.top_features(&predictor.importances(), &model, &mut report);
        report.print(self.json)
    }

    fn top_features(&self, importances: &[(u32, f64)], model: &Model, report: &mut Report) {
        if importances.is_empty() {
            return;
        }
        let important = importances
            .iter()
            .take(self.top_features)
            .map(|&(j, importance)| {
                let name = model.column_name(j as usize).unwrap_or_default();
                (name, importance)
            });
        if self.json {
            let list =
                important.map(|(feature, importance)| json!({"feature": feature, "importance": importance}));
            report.set("top_features", list.collect::<Vec<Value>>());
        } else {
            important
                .for_each(|(feature, importance)| report.set(format!("importance {feature}"), importance));
        }
    }
}

/// Reports lists of objects with a line for each object.
fn in_lines(key: &str, value: Value, report: &mut Report) {
    match value {
        Value::Array(items) if items.iter().all(Value::is_object) => {
            let one = key.strip_suffix('s').unwrap_or(key);
            let items = items.into_iter().enumerate();
            items.for_each(|(index, item)| report.set(format!("{one} {index}"), item));
        }
        Value::Object(entries) if entries.values().any(Value::is_array) => {
            let entries = entries.into_iter();
            entries.for_each(|(name, value)| in_lines(&format!("{key} {name}"), value, report));
        }
        value => report.set(key, value),
    }
}

/// Reports statistics of the trees.
fn trees(sizes: &[TreeSize], report: &mut Report) {
    if sizes.is_empty() {
        return;
    }
    let nodes = sizes.iter().map(|size| size.nodes);
    let leaves = sizes.iter().map(|size| size.leaves);
    report.set("trees", sizes.len());
    report.set("nodes", nodes.clone().sum::<usize>());
    report.set("leaves", leaves.clone().sum::<usize>());
    report.set("nodes_per_tree", TreeSize::spread(nodes));
    report.set("leaves_per_tree", TreeSize::spread(leaves));
    report.set("depth", TreeSize::spread(sizes.iter().map(|size| size.depth)));
}
