//! The JSON description in a model file: everything that is not an array.

use super::error::ModelFileErrorKind as Kind;
use crate::{Decision, Model, ModelError, Schema, TrainingSummary};
use rpo_data::{Names, Task};
use rpo_ensemble::boosting::Link;
use rpo_linear::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the format.
const FORMAT: &str = "rpo-model";
/// Version of the format: raised by every change that a reader of the version before would misread.
pub const FORMAT_VERSION: u64 = 1;

/// What every version of the description begins with.
#[derive(Deserialize)]
struct Preamble {
    format: String,
    version: u64,
}

/// The description of version 1. The order of the fields is that of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// CRC-32 of the file, in hexadecimal; must come first, see [`super::container`].
    pub(super) checksum: String,
    format: String,
    version: u64,
    /// The kind of predictor: which arrays there are.
    pub(super) method: String,
    pub(super) software: String,
    task: Task,
    pub(super) n_train: usize,
    pub(super) n_features: usize,
    pub(super) n_outputs: usize,
    /// Absent: numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_names: Option<Vec<String>>,
    /// Values of nominal features, by feature.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    nominal: BTreeMap<usize, Vec<String>>,
    /// Whether nominal features of three or more values become indicators.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) one_hot: bool,
    /// Of forests: whether trees saw bootstraps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bootstrap: Option<bool>,
    /// Of boosted models: how scores become predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) link: Option<Link>,
    /// Of boosted models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trees_per_step: Option<usize>,
    /// Of label embeddings and linear models: what their scores are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Response>,
    /// Absent: labels are decided by thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Decision>,
    /// Of CRAFTML forests: the number of trees, each a part of arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) n_trees: Option<usize>,
    /// Of forests whose trees see a share of the samples: how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rows_per_tree: Option<usize>,
    /// Of structured forests: how much more a tree's answer counts for the labels it clustered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) label_weight: Option<f64>,
    pub(super) parameters: Map<String, Value>,
}

impl Description {
    pub(super) fn of(model: &Model, method: &str) -> Self {
        let description = Self::new(
            method,
            model.schema(),
            model.training(),
            model.software(),
            model.parameters(),
        );
        Self {
            decision: Some(model.decision()).filter(|d| *d != Decision::default()),
            one_hot: model
                .pipeline()
                .is_some_and(|pipeline| pipeline.one_hot().is_some()),
            ..description
        }
    }

    pub(super) fn new(
        method: &str,
        schema: &Schema,
        training: &TrainingSummary,
        software: &str,
        parameters: &Map<String, Value>,
    ) -> Self {
        let given = |names: &Names| match names {
            Names::Given(names) => Some(names.clone()),
            Names::Numbered(_) => None,
        };
        Self {
            checksum: super::container::BLANK.to_owned(),
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            method: method.to_owned(),
            software: software.to_owned(),
            task: schema.task(),
            n_train: training.n_samples(),
            n_features: schema.feature_names().len(),
            n_outputs: schema.output_names().len(),
            feature_names: given(schema.feature_names()),
            output_names: given(schema.output_names()),
            nominal: schema.nominal().iter().map(|(&j, v)| (j, v.to_vec())).collect(),
            one_hot: false,
            bootstrap: None,
            link: None,
            trees_per_step: None,
            rows_per_tree: None,
            label_weight: None,
            response: None,
            decision: None,
            n_trees: None,
            parameters: parameters.clone(),
        }
    }

    /// Refuses other formats and versions by name, before anything else is looked at.
    pub(super) fn check_version(text: &str) -> Result<(), Kind> {
        let preamble: Preamble = serde_json::from_str(text).map_err(|e| invalid(&e))?;
        if preamble.format != FORMAT {
            return Err(Kind::NotAModel {
                message: "its description is of another format",
            });
        }
        if preamble.version != FORMAT_VERSION {
            return Err(Kind::Version {
                found: preamble.version,
                supported: FORMAT_VERSION,
            });
        }
        Ok(())
    }

    pub(super) fn parse(text: &str) -> Result<Self, Kind> {
        serde_json::from_str(text).map_err(|e| invalid(&e))
    }

    /// The columns described, as many as there are.
    pub(super) fn schema(&mut self) -> Result<Schema, ModelError> {
        let names = |what, names: Option<Vec<String>>, expected: usize| match names {
            None => Ok(Names::Numbered(expected)),
            Some(names) if names.len() == expected => Ok(Names::Given(names)),
            Some(names) => Err(ModelError::Mismatch {
                what,
                expected,
                given: names.len(),
            }),
        };
        let feature_names = names("names of features", self.feature_names.take(), self.n_features)?;
        let output_names = names("names of outputs", self.output_names.take(), self.n_outputs)?;
        let nominal = std::mem::take(&mut self.nominal);
        let nominal = nominal.into_iter().map(|(j, values)| (j, Arc::from(values)));
        Schema::new(self.task, feature_names, nominal.collect(), output_names)
    }

    pub(super) fn task(&self) -> Task {
        self.task
    }
}

/// A field that models of the method have.
pub(super) fn required<T>(field: &str, value: Option<T>) -> Result<T, Kind> {
    value.ok_or_else(|| Kind::Description {
        message: format!("missing field `{field}`"),
    })
}

fn invalid(e: &serde_json::Error) -> Kind {
    Kind::Description {
        message: e.to_string(),
    }
}
