//! The JSON description in a model file: everything that is not an array.

use super::error::ModelFileErrorKind as Kind;
use crate::{Decision, ModelError, Schema, TrainingSummary};
use rpo_core::{DEFAULT_MEMORY_LIMIT, MemoryLimit, Mismatch};
use rpo_data::read::FirstFeature;
use rpo_data::text::{TextColumn, TextOptions};
use rpo_data::{ClassColumn, DateColumn, LabelColumn, Names, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the format.
const FORMAT: &str = "rpo-model";
/// Version of the format. Every change that an older reader would misread raises it.
pub const FORMAT_VERSION: u64 = 2;

/// The fields that begin the description in every version.
#[derive(Deserialize)]
struct Preamble {
    format: String,
    version: u64,
}

/// The description of version 2. The order of the fields is that of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// CRC-32 of the file, in hexadecimal; must come first, see [`super::container`].
    pub(super) checksum: String,
    format: String,
    version: u64,
    /// The kind of model, which determines how it is restored.
    pub(super) kind: String,
    pub(super) software: String,
    task: Task,
    pub(super) n_train: usize,
    pub(super) n_features: usize,
    pub(super) n_outputs: usize,
    /// Absent if features are numbered; those of hashed terms are left out, as they follow from `texts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_names: Option<Vec<String>>,
    /// The index of the first feature in the svmlight file of training; absent for other formats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_feature: Option<FirstFeature>,
    /// The texts that stand for missing values in the CSV file of training; absent if none were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing_values: Vec<String>,
    /// The column in which labels were listed; absent if each label was a column or the format has no such column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_column: Option<LabelColumn>,
    /// The columns of classes; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    class_columns: Vec<ClassColumn>,
    /// Outputs of a model of numbers that are labels; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels_beside_numbers: Vec<usize>,
    /// Levels of the quantiles of each target, absent if outputs are no quantiles; several have outputs named
    /// `target@level`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<f64>,
    /// Values of nominal features, by feature.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    nominal: BTreeMap<usize, Vec<String>>,
    /// Columns of texts, by the feature of their first term.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    texts: BTreeMap<usize, TextDescription>,
    /// Columns of dates, by the feature of their first part.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    dates: BTreeMap<usize, DateColumn>,
    /// Absent if labels are decided by thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Decision>,
    /// Level of the prediction intervals; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) interval_level: Option<f64>,
    /// Fields that the model and its pipeline store in addition to their arrays.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) fields: Map<String, Value>,
    pub(super) parameters: Map<String, Value>,
}

/// A column of texts; its terms are in the names of its features.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextDescription {
    column: String,
    n_features: usize,
    options: TextOptions,
}

impl Description {
    pub(super) fn new(
        kind: &str,
        schema: &Schema,
        training: &TrainingSummary,
        software: &str,
        parameters: &Map<String, Value>,
        fields: Map<String, Value>,
    ) -> Self {
        let given = |names: &Names| match names {
            Names::Given(names) => Some(names.clone()),
            Names::Numbered(_) => None,
        };
        let mut feature_names = given(&schema.feature_names);
        // From the last column on, so that positions hold.
        for (&first, column) in schema.texts.iter().rev().filter(|(_, column)| is_hashed(column)) {
            feature_names
                .as_mut()
                .map(|names| names.drain(first..first + column.n_features()));
        }
        Self {
            checksum: super::container::BLANK.to_owned(),
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            kind: kind.to_owned(),
            software: software.to_owned(),
            task: schema.task,
            n_train: training.n_samples,
            n_features: schema.feature_names.iter().len(),
            n_outputs: schema.output_names.iter().len(),
            feature_names,
            output_names: given(schema.target_names()),
            first_feature: schema.first_feature,
            missing_values: schema.missing_values.clone(),
            label_column: schema.label_column.clone(),
            class_columns: schema.class_columns.clone(),
            labels_beside_numbers: schema.labels_beside_numbers.clone(),
            levels: schema.levels.clone(),
            nominal: schema.nominal.iter().map(|(&j, v)| (j, v.to_vec())).collect(),
            texts: schema
                .texts
                .iter()
                .map(|(&j, column)| (j, text(column)))
                .collect(),
            dates: schema.dates.clone(),
            decision: None,
            interval_level: None,
            fields,
            parameters: parameters.clone(),
        }
    }

    /// Sets how labels are decided.
    pub(super) fn set_decision(&mut self, decision: Decision) {
        self.decision = Some(decision).filter(|decision| *decision != Decision::default());
    }

    /// Refuses other formats and versions by name, before reading anything else.
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

    /// The schema of the described columns, with checked numbers of columns; outputs do not include levels yet.
    pub(super) fn schema(&mut self) -> Result<Schema, ModelError> {
        let names = |what, names: Option<Vec<String>>, expected: usize| -> Result<_, ModelError> {
            match names {
                None => Ok(Names::Numbered(expected)),
                Some(names) if names.len() == expected => Ok(Names::Given(names)),
                Some(names) => Err(Mismatch {
                    what,
                    expected,
                    given: names.len(),
                }
                .into()),
            }
        };
        let mut feature_names = self.feature_names.take();
        if let Some(names) = &mut feature_names {
            self.insert_hashed(names)?;
        }
        let feature_names = names("names of features", feature_names, self.n_features)?;
        let n_targets = self.n_outputs / self.levels.len().max(1);
        let output_names = names("names of outputs", self.output_names.take(), n_targets)?;
        let nominal = std::mem::take(&mut self.nominal);
        let nominal = nominal.into_iter().map(|(j, values)| (j, Arc::from(values)));
        let texts = std::mem::take(&mut self.texts);
        let texts = texts.into_iter().map(|(first, text)| {
            let name = text.column.clone();
            let restored = text.restore(first, &feature_names);
            restored
                .ok_or(ModelError::Text { name })
                .map(|column| (first, Arc::new(column)))
        });
        let texts = texts.collect::<Result<_, _>>()?;
        let schema = Schema::new(self.task, feature_names, nominal.collect(), texts, output_names)?;
        let class_columns = std::mem::take(&mut self.class_columns);
        schema
            .with_dates(std::mem::take(&mut self.dates))?
            .with_reading(
                self.first_feature.take(),
                std::mem::take(&mut self.missing_values),
            )
            .with_label_column(self.label_column.take())
            .with_labels(class_columns, std::mem::take(&mut self.labels_beside_numbers))
    }

    /// Inserts the names of hashed terms, which are not stored. They have a limit of memory, as the file merely
    /// declares how many there are.
    fn insert_hashed(&self, names: &mut Vec<String>) -> Result<(), ModelError> {
        let hashed = self.texts.iter().filter(|(_, text)| text.options.hash.is_some());
        let hashed: Vec<(&usize, &TextDescription)> = hashed.collect();
        let widths = hashed.iter().map(|(_, text)| text.n_features);
        let all = widths.fold(names.len(), usize::saturating_add);
        Mismatch::check("names of features", self.n_features, all)?;
        let bytes = |text: &TextDescription| {
            let of_name = size_of::<String>() + text.column.len() + "[#16777216]".len();
            text.n_features.saturating_mul(of_name)
        };
        let bytes = hashed.iter().map(|(_, text)| bytes(text));
        let what = || "the names of hashed terms";
        MemoryLimit::check(bytes.fold(0, usize::saturating_add), DEFAULT_MEMORY_LIMIT, what)?;
        let mut end = 0;
        for (&first, text) in hashed {
            let column = TextColumn::restore_hashed(&text.column, text.options);
            let column = column.filter(|column| column.n_features() == text.n_features);
            let fits = (end..=names.len()).contains(&first);
            let column = column.filter(|_| fits).ok_or_else(|| ModelError::Text {
                name: text.column.clone(),
            })?;
            names.splice(first..first, column.feature_names());
            end = first + text.n_features;
        }
        Ok(())
    }

    /// Adds the levels of the targets to the schema. This names every output, so the file must have that number of
    /// outputs.
    pub(super) fn with_levels(&self, schema: Schema) -> Result<Schema, ModelError> {
        let per_target = self.levels.len().max(1);
        let n_outputs = schema.target_names().iter().len().saturating_mul(per_target);
        Mismatch::check("outputs of the levels", n_outputs, self.n_outputs)?;
        schema.with_levels(&self.levels)
    }
}

fn is_hashed(column: &TextColumn) -> bool {
    column.options().hash.is_some()
}

fn text(column: &TextColumn) -> TextDescription {
    TextDescription {
        column: column.name.clone(),
        n_features: column.n_features(),
        options: *column.options(),
    }
}

impl TextDescription {
    /// Restores the column of texts whose first term is feature `first`; `None` if the features from there on do not
    /// match.
    fn restore(&self, first: usize, names: &Names) -> Option<TextColumn> {
        let Names::Given(names) = names else { return None };
        if self.options.hash.is_some() {
            return TextColumn::restore_hashed(&self.column, self.options);
        }
        let features = names.get(first..first.checked_add(self.n_features)?)?;
        TextColumn::restore(&self.column, self.options, features.iter().map(String::as_str))
    }
}

fn invalid(e: &serde_json::Error) -> Kind {
    Kind::Description {
        message: e.to_string(),
    }
}
