//! The targets of a table: outputs, of which those that are the classes of a column form one target of words.

use super::WriteError;
use crate::dataset::{ClassColumn, Dataset, TargetOutputs};
use crate::names::Names;
use std::borrow::Cow;

/// The targets of a set.
pub(super) struct Targets<'a> {
    data: &'a Dataset,
    /// The names of the outputs.
    outputs: Cow<'a, Names>,
    columns: Vec<TargetOutputs<'a>>,
    /// The outputs of a sample.
    row: Vec<f32>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(data: &'a Dataset) -> Self {
        Self {
            data,
            outputs: data.output_names().beside(data.feature_names()),
            columns: ClassColumn::targets(data.class_columns(), data.n_outputs()),
            row: vec![0.0; data.n_outputs()],
        }
    }

    /// The classes of each target; `None` for one that is an output.
    pub(super) fn classes(&self) -> impl Iterator<Item = Option<&'a [String]>> + '_ {
        self.columns.iter().map(|column| match column {
            TargetOutputs::One(_) => None,
            TargetOutputs::Classes(column) => Some(&column.classes[..]),
        })
    }

    /// Returns the names of features and targets, which must all differ.
    pub(super) fn column_names(&self) -> Result<Vec<Cow<'_, str>>, WriteError> {
        let targets = self.columns.iter().map(|column| match column {
            TargetOutputs::One(output) => self.outputs.get(*output).unwrap_or_default(),
            TargetOutputs::Classes(column) => Cow::Borrowed(column.name.as_str()),
        });
        let names: Vec<Cow<'_, str>> = self.data.feature_names().iter().chain(targets).collect();
        let given: Names = names.iter().map(Cow::as_ref).collect();
        match given.duplicate() {
            Some(name) => Err(WriteError::TwoColumns {
                name: name.to_owned(),
            }),
            None => Ok(names),
        }
    }

    /// Copies the targets of a sample: the value of an output, or the number of a class, which is NaN if it is missing or
    /// not among the classes.
    pub(super) fn copy_row(&mut self, sample: usize, to: &mut [f32]) {
        self.data.outputs().view().copy_row(sample, &mut self.row);
        for (column, value) in self.columns.iter().zip(to) {
            *value = match column {
                TargetOutputs::One(output) => self.row[*output],
                TargetOutputs::Classes(column) => {
                    let mut outputs = self.row[column.outputs()].iter();
                    outputs
                        .position(|value| *value == 1.0)
                        .map_or(f32::NAN, |class| class as f32)
                }
            };
        }
    }
}
