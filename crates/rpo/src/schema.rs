//! The inputs that a model expects and the outputs that it predicts.

use crate::ModelError;
use rpo_core::{Domain, ParameterError};
use rpo_data::read::{ColumnType, FirstFeature, ReadOptions};
use rpo_data::text::TextColumn;
use rpo_data::{ClassColumn, Dataset, DatasetError, DateColumn, LabelColumn, Names, TargetOutputs, Task};
use rpo_ensemble::List;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The task and columns that a model was trained on: names of features and outputs, and values of nominal features.
///
/// Numbered columns have the implied names "0", "1", ..., which take no memory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// The task.
    pub task: Task,
    /// Names of the features.
    pub feature_names: Names,
    /// The nominal features and their values; a feature's value is a position in its list.
    pub nominal: BTreeMap<usize, Arc<[String]>>,
    /// The columns of texts, indexed by the feature of their first term.
    pub texts: BTreeMap<usize, Arc<TextColumn>>,
    /// The columns of dates, indexed by the feature of their first part.
    pub dates: BTreeMap<usize, DateColumn>,
    /// Names of the outputs.
    pub output_names: Names,
    /// The index of the first feature in the training file, if it was an svmlight file; other svmlight files are read with
    /// it.
    pub first_feature: Option<FirstFeature>,
    /// The texts that stand for missing values in the training file, if it was a CSV file and some were given; they do in
    /// other CSV files.
    pub missing_values: Vec<String>,
    /// The column of the training file in which labels were listed, if there was one; labels are read from this column
    /// in other files.
    pub label_column: Option<LabelColumn>,
    /// The columns of classes, whose classes are outputs; they are read with these classes in other files.
    pub class_columns: Vec<ClassColumn>,
    /// The outputs that are labels in a model of numbers, besides those of class columns
    /// ([`Dataset::labels_beside_numbers`]).
    pub labels_beside_numbers: Vec<usize>,
    /// The levels of the predicted quantiles, in increasing order; empty if the outputs are not quantiles. With several
    /// levels, each target of the data has one output per level, `price@0.1`, `price@0.9`.
    pub levels: Vec<f64>,
    /// The names of the targets of the data, if there are several levels of each.
    targets: Option<Names>,
}

/// Takes the schema of a data set.
impl From<&Dataset> for Schema {
    fn from(data: &Dataset) -> Self {
        Self {
            task: data.task(),
            feature_names: data.feature_names().clone(),
            nominal: data.nominal().clone(),
            texts: data.texts().clone(),
            dates: data.dates().clone(),
            output_names: data.output_names().clone(),
            label_column: data.label_column().cloned(),
            first_feature: data.first_feature,
            missing_values: data.missing_values.clone(),
            class_columns: data.class_columns().to_vec(),
            labels_beside_numbers: data.labels_beside_numbers().to_vec(),
            levels: Vec::new(),
            targets: None,
        }
    }
}

impl Schema {
    /// Sets the levels of the predicted quantiles. Several replace each output by one output per level, in the order of
    /// the outputs.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] for levels that do not increase or are not between 0 and 1.
    pub(crate) fn with_levels(self, levels: &[f64]) -> Result<Self, ModelError> {
        levels
            .iter()
            .try_for_each(|level| Domain::Level.check("levels", *level))?;
        let is_sorted = levels.windows(2).all(|pair| pair[0] < pair[1]);
        let given = List::<f64>::from(levels.to_vec());
        ParameterError::unless(is_sorted, "levels", given, "in increasing order")?;
        let of_each = Self {
            levels: levels.to_vec(),
            ..self
        };
        if levels.len() < 2 {
            return Ok(of_each);
        }
        let mut names = Vec::new();
        for name in of_each.output_names.iter() {
            names.extend(levels.iter().map(|level| format!("{name}@{level}")));
        }
        Ok(Self {
            output_names: Names::Given(names),
            targets: Some(of_each.output_names),
            class_columns: Vec::new(),
            labels_beside_numbers: Vec::new(),
            ..of_each
        })
    }

    /// The outputs of a model of numbers that the data declare to be labels: classes of columns, and labels beside
    /// numbers. In increasing order.
    pub(crate) fn declared_labels(&self) -> Vec<usize> {
        let classes = self.class_columns.iter().flat_map(ClassColumn::outputs);
        let mut labels: Vec<usize> = classes
            .chain(self.labels_beside_numbers.iter().copied())
            .collect();
        labels.sort_unstable();
        labels
    }

    /// The number of outputs of each target.
    pub(crate) fn outputs_per_target(&self) -> usize {
        self.levels.len().max(1)
    }

    /// Creates a schema from the parts stored in a model file.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NoSuchFeature`].
    pub(crate) fn new(
        task: Task,
        feature_names: Names,
        nominal: BTreeMap<usize, Arc<[String]>>,
        texts: BTreeMap<usize, Arc<TextColumn>>,
        output_names: Names,
    ) -> Result<Self, ModelError> {
        for (what, names) in [("feature", &feature_names), ("output", &output_names)] {
            if let Some(name) = names.duplicate() {
                let name = name.to_owned();
                return Err(ModelError::DuplicateName { what, name });
            }
        }
        let n_features = feature_names.iter().len();
        if let Some((&feature, _)) = nominal.last_key_value().filter(|(j, _)| **j >= n_features) {
            return Err(ModelError::NoSuchFeature { feature, n_features });
        }
        Ok(Self {
            task,
            feature_names,
            nominal,
            texts,
            dates: BTreeMap::new(),
            output_names,
            first_feature: None,
            missing_values: Vec::new(),
            label_column: None,
            class_columns: Vec::new(),
            labels_beside_numbers: Vec::new(),
            levels: Vec::new(),
            targets: None,
        })
    }

    /// Sets the columns of dates.
    ///
    /// # Errors
    /// [`ModelError::Dates`] for a column whose features are not its parts.
    pub(crate) fn with_dates(self, dates: BTreeMap<usize, DateColumn>) -> Result<Self, ModelError> {
        let names = &self.feature_names;
        let other = dates.iter();
        let mut other = other.filter(|(first, column)| !names.are_at(**first, column.feature_names()));
        if let Some((_, column)) = other.next() {
            let name = column.name.clone();
            return Err(ModelError::Dates { name });
        }
        Ok(Self { dates, ..self })
    }

    /// Sets how other files than the training file are read: the index of the first feature, and the texts that stand for
    /// missing values.
    pub(crate) fn with_reading(
        self,
        first_feature: Option<FirstFeature>,
        missing_values: Vec<String>,
    ) -> Self {
        Self {
            first_feature,
            missing_values,
            ..self
        }
    }

    /// Sets the column in which labels were listed.
    pub(crate) fn with_label_column(self, label_column: Option<LabelColumn>) -> Self {
        Self { label_column, ..self }
    }

    /// Sets the columns of classes, and the labels beside numbers.
    ///
    /// # Errors
    /// [`ModelError::Dataset`] for columns or labels that do not fit the outputs.
    pub(crate) fn with_labels(
        self,
        class_columns: Vec<ClassColumn>,
        labels_beside_numbers: Vec<usize>,
    ) -> Result<Self, ModelError> {
        let count = self.output_names.iter().len();
        ClassColumn::check(&class_columns, count)?;
        if let Some(&index) = labels_beside_numbers.iter().find(|&&label| label >= count) {
            let what = "output";
            return Err(DatasetError::OutOfRange { what, index, count }.into());
        }
        Ok(Self {
            class_columns,
            labels_beside_numbers,
            ..self
        })
    }

    /// Replaces the features by those of a data set.
    pub(crate) fn with_features_of(self, data: &Dataset) -> Self {
        Self {
            feature_names: data.feature_names().clone(),
            nominal: data.nominal().clone(),
            texts: data.texts().clone(),
            dates: data.dates().clone(),
            ..self
        }
    }

    /// Returns true if data of the other schema have the same columns, whatever stands for missing values in their files.
    pub(crate) fn has_columns_of(&self, other: &Self) -> bool {
        let other = Self {
            missing_values: self.missing_values.clone(),
            ..other.clone()
        };
        *self == other
    }

    /// The features of this schema with the outputs of a data set.
    pub(crate) fn with_outputs_of(&self, data: &Dataset) -> Self {
        Self {
            feature_names: self.feature_names.clone(),
            nominal: self.nominal.clone(),
            texts: self.texts.clone(),
            dates: self.dates.clone(),
            first_feature: self.first_feature,
            missing_values: self.missing_values.clone(),
            ..Self::from(data)
        }
    }

    /// Options that read a table like the one the model was trained on, whatever its values look like; `None` if
    /// features are numbered. Columns that the model does not need are not read.
    pub fn read_options(&self) -> Option<ReadOptions> {
        Some(ReadOptions {
            task: Some(self.task),
            types: self.column_types()?,
            texts: self.texts.values().cloned().collect(),
            class_columns: Some(self.class_columns.clone()),
            ignore_untyped: true,
            ..ReadOptions::default()
        })
    }

    /// The columns of dates and of texts: their features, names and types.
    pub(crate) fn wide_columns(&self) -> impl Iterator<Item = (Range<usize>, &str, ColumnType)> {
        let dates = self.dates.iter();
        let dates = dates.map(|(&first, c)| (first..first + c.n_features(), &*c.name, c.kind()));
        let texts = self.texts.iter();
        let texts = texts.map(|(&first, c)| (first..first + c.n_features(), &*c.name, ColumnType::Text));
        dates.chain(texts)
    }

    /// The columns of a table with the features, in order: their features, and their names.
    pub fn columns(&self) -> Vec<(Range<usize>, String)> {
        let columns = self.typed_columns().into_iter();
        columns.map(|(features, name, _)| (features, name)).collect()
    }

    /// Types of the columns of a CSV file with the model's features; `None` if they are numbered.
    fn column_types(&self) -> Option<BTreeMap<String, ColumnType>> {
        let is_named = matches!(self.feature_names, Names::Given(_));
        let columns = is_named.then(|| self.typed_columns())?.into_iter();
        Some(columns.map(|(_, name, kind)| (name, kind)).collect())
    }

    /// The columns of a table with the features, in order: their features, names and types.
    fn typed_columns(&self) -> Vec<(Range<usize>, String, ColumnType)> {
        let wide = self.wide_columns().filter(|(features, ..)| !features.is_empty());
        let wide: BTreeMap<usize, (usize, &str, ColumnType)> = wide
            .map(|(features, name, kind)| (features.start, (features.end, name, kind)))
            .collect();
        let (mut columns, mut feature) = (Vec::new(), 0);
        while feature < self.feature_names.iter().len() {
            let (end, name, kind) = match wide.get(&feature) {
                Some(&(end, name, kind)) => (end, name.to_owned(), kind),
                None => {
                    let name = self.feature_names.get(feature).unwrap_or_default();
                    let kind = match self.nominal.get(&feature) {
                        Some(values) if !are_positions(values) => ColumnType::Category,
                        _ => ColumnType::Number,
                    };
                    (feature + 1, name.into_owned(), kind)
                }
            };
            columns.push((feature..end, name, kind));
            feature = end;
        }
        columns
    }

    /// Names of the columns that hold the targets in a table: one for the classes of a column, otherwise one per output of
    /// data.
    pub fn target_columns(&self) -> Vec<String> {
        let names = self.target_names();
        let name = |target: TargetOutputs<'_>| match target {
            TargetOutputs::One(output) => names.get(output).unwrap_or_default().into_owned(),
            TargetOutputs::Classes(column) => column.name.clone(),
        };
        let targets = ClassColumn::targets(&self.class_columns, names.iter().len());
        targets.into_iter().map(name).collect()
    }

    /// Names of the outputs in a file with named columns: [those of data](Self::target_names), but `output 0`, `output 1`,
    /// ... where features and outputs are numbered, as such a file is written ([`Names::beside`]).
    pub fn written_names(&self) -> Cow<'_, Names> {
        self.target_names().beside(&self.feature_names)
    }

    /// Names of the outputs of data: those of the model, unless the model has several levels of each.
    pub fn target_names(&self) -> &Names {
        self.targets.as_ref().unwrap_or(&self.output_names)
    }
}

/// Returns true if every value is its own position in the list, so that a number and the position it stands for are
/// equal.
pub(crate) fn are_positions(values: &[String]) -> bool {
    values.iter().enumerate().all(|(i, v)| *v == i.to_string())
}
