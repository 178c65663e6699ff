//! Sets with some of their values, columns or identifiers replaced.

use super::columns::check_names;
use super::{Dataset, DatasetError, DateColumn, LabelColumn, LeftOut, ReadNotes, Task};
use crate::builder::MatrixBuilder;
use crate::names::Names;
use crate::text::{Counts, TextColumn, Texts};
use rpo_core::{Matrix, Mismatch};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Dataset {
    /// Sets identifiers of the samples.
    pub(crate) fn with_ids(mut self, ids: Vec<String>) -> Result<Self, DatasetError> {
        Mismatch::check("identifiers", self.n_samples(), ids.len())?;
        self.ids = Some(ids.into());
        Ok(self)
    }

    /// Replaces the outputs by labels.
    pub(crate) fn with_labels(
        self,
        labels: Matrix,
        names: Names,
        column: LabelColumn,
        others: LeftOut,
    ) -> Result<Self, DatasetError> {
        check_names("output", &names, labels.n_cols())?;
        Ok(Self {
            task: Task::MultiLabel,
            outputs: labels,
            output_names: names,
            class_columns: Vec::new(),
            labels_beside: Vec::new(),
            label_column: Some(column),
            notes: ReadNotes {
                other_labels: others,
                ..self.notes
            },
            ..self
        })
    }

    /// Appends the features of texts to all others, which makes all features sparse.
    pub(crate) fn with_texts(self, texts: &[(Arc<TextColumn>, Counts)]) -> Result<Self, DatasetError> {
        let mut names: Vec<String> = self.feature_names.iter().map(Cow::into_owned).collect();
        let mut firsts = Texts::new();
        for (column, _) in texts {
            firsts.insert(names.len(), Arc::clone(column));
            names.extend(column.feature_names());
        }
        let mut builder = MatrixBuilder::sparse(names.len());
        for row in 0..self.n_samples() {
            let features = self.features.view();
            features.for_each_in_row(row, |j, v| builder.push(j, v));
            for (&first, (_, counts)) in firsts.keys().zip(texts) {
                let counts = counts.row(row);
                counts.for_each(|(term, count)| builder.push(first as u32 + term, count));
            }
            builder.end_row();
        }
        let (nominal, dates) = (self.nominal.clone(), self.dates.clone());
        self.replace_features(builder.finish(), Names::Given(names), nominal, firsts, dates)
    }

    /// Returns this set with other features from a transform, which are trusted except for their names.
    pub(crate) fn replace_features(
        &self,
        features: Matrix,
        feature_names: Names,
        nominal: BTreeMap<usize, Arc<[String]>>,
        texts: Texts,
        dates: BTreeMap<usize, DateColumn>,
    ) -> Result<Self, DatasetError> {
        debug_assert_eq!(features.n_rows(), self.n_samples());
        check_names("feature", &feature_names, features.n_cols())?;
        Ok(Self {
            features,
            outputs: self.outputs.clone(),
            feature_names,
            nominal,
            texts,
            dates,
            ..self.without_matrices()
        })
    }

    /// Returns this set with other output values.
    pub(crate) fn replace_outputs(&self, outputs: Matrix) -> Self {
        debug_assert_eq!(
            (outputs.n_rows(), outputs.n_cols()),
            (self.n_samples(), self.n_outputs())
        );
        Self {
            features: self.features.clone(),
            outputs,
            ..self.without_matrices()
        }
    }

    /// Returns everything except the matrices, for struct update syntax.
    pub(super) fn without_matrices(&self) -> Self {
        let empty = || Matrix::Dense(ndarray::Array2::zeros((0, 0)));
        Self {
            name: self.name.clone(),
            notes: self.notes.clone(),
            task: self.task,
            features: empty(),
            outputs: empty(),
            feature_names: self.feature_names.clone(),
            output_names: self.output_names.clone(),
            label_column: self.label_column.clone(),
            class_columns: self.class_columns.clone(),
            labels_beside: self.labels_beside.clone(),
            nominal: self.nominal.clone(),
            texts: self.texts.clone(),
            dates: self.dates.clone(),
            weights: self.weights.clone(),
            ids: self.ids.clone(),
            groups: self.groups.clone(),
            first_feature: self.first_feature,
            missing_values: self.missing_values.clone(),
        }
    }
}
