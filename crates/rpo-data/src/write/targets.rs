//! The targets of a table: outputs, of which those that are the classes of a column form one target of words.

use super::WriteError;
use crate::dataset::{ClassColumn, Dataset, TargetOutputs};
use crate::names::Names;
use std::borrow::Cow;

/// The targets of a set.
pub(super) struct Targets<'a> {
    data: &'a Dataset,
    columns: Vec<TargetOutputs<'a>>,
    /// The outputs of a sample.
    outputs: Vec<f32>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(data: &'a Dataset) -> Self {
        Self {
            data,
            columns: ClassColumn::targets(data.class_columns(), data.n_outputs()),
            outputs: vec![0.0; data.n_outputs()],
        }
    }

    /// The classes of each target; `None` for one that is an output.
    pub(super) fn classes(&self) -> impl Iterator<Item = Option<&'a [String]>> + '_ {
        self.columns.iter().map(|column| match column {
            TargetOutputs::One(_) => None,
            TargetOutputs::Classes(column) => Some(&column.classes[..]),
        })
    }

    fn names(&self) -> impl Iterator<Item = Cow<'a, str>> + '_ {
        self.columns.iter().map(|column| match column {
            TargetOutputs::One(output) => self.data.output_names().get(*output).unwrap_or_default(),
            TargetOutputs::Classes(column) => Cow::Borrowed(column.name.as_str()),
        })
    }

    /// Returns the names of features and targets, which must all differ.
    pub(super) fn column_names(&self) -> Result<Vec<Cow<'a, str>>, WriteError> {
        let features = self.data.feature_names();
        let both_numbered = [features, self.data.output_names()]
            .iter()
            .all(|names| matches!(names, Names::Numbered(_)));
        let target = |name: Cow<'a, str>| match both_numbered {
            true => Cow::Owned(format!("output {name}")),
            false => name,
        };
        let names: Vec<Cow<'a, str>> = features.iter().chain(self.names().map(target)).collect();
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
        self.data.outputs().view().copy_row(sample, &mut self.outputs);
        for (column, value) in self.columns.iter().zip(to) {
            *value = match column {
                TargetOutputs::One(output) => self.outputs[*output],
                TargetOutputs::Classes(column) => {
                    let mut outputs = self.outputs[column.outputs()].iter();
                    outputs
                        .position(|value| *value == 1.0)
                        .map_or(f32::NAN, |class| class as f32)
                }
            };
        }
    }
}
