//! Columns of classes, of which each sample has one.

use super::select::select_columns;
use super::{Dataset, DatasetError, check_range};
use crate::Task;
use rpo_core::Matrix;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// A column of a table whose words are classes. It is represented by one label per class, `column=class`, of which each
/// sample has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassColumn {
    /// Its name.
    pub name: String,
    /// The output of its first class; those of the others follow.
    pub first: usize,
    /// The classes, in the order of their outputs.
    pub classes: Vec<String>,
}

/// The outputs of a target of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetOutputs<'a> {
    /// The output that the target is.
    One(usize),
    /// The outputs of the classes of a column.
    Classes(&'a ClassColumn),
}

impl ClassColumn {
    /// Returns the targets of a table with `n_outputs` outputs and these [checked](Self::check) columns of classes, in the
    /// order of the outputs.
    pub fn targets(columns: &[Self], n_outputs: usize) -> Vec<TargetOutputs<'_>> {
        let (mut targets, mut output) = (Vec::new(), 0);
        for column in columns {
            targets.extend((output..column.first).map(TargetOutputs::One));
            targets.push(TargetOutputs::Classes(column));
            output = column.outputs().end;
        }
        targets.extend((output..n_outputs).map(TargetOutputs::One));
        targets
    }

    /// Returns true if an output is a class of one of the columns.
    pub fn have_output(columns: &[Self], output: usize) -> bool {
        columns.iter().any(|column| column.outputs().contains(&output))
    }

    /// The outputs of the classes.
    pub fn outputs(&self) -> Range<usize> {
        self.first..self.first + self.classes.len()
    }

    /// Names of the outputs of the classes: `column=class`.
    pub(crate) fn output_names(&self) -> impl Iterator<Item = String> + '_ {
        self.classes.iter().map(|class| format!("{}={class}", self.name))
    }

    /// Checks that columns have classes, all different, and outputs below `n_outputs` that increase from column to
    /// column.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`], [`DatasetError::NoClasses`], [`DatasetError::DuplicateName`].
    pub fn check(columns: &[Self], n_outputs: usize) -> Result<(), DatasetError> {
        let mut end = 0;
        for column in columns {
            let last = column.first.checked_add(column.classes.len());
            let Some(last) = last
                .and_then(|end| end.checked_sub(1))
                .filter(|_| !column.classes.is_empty())
            else {
                return Err(DatasetError::NoClasses(column.name.clone()));
            };
            check_range("output", &[last], n_outputs)?;
            if column.first < end {
                let (what, name) = ("class column", column.name.clone());
                return Err(DatasetError::DuplicateName { what, name });
            }
            end = last + 1;
            let mut classes: Vec<&String> = column.classes.iter().collect();
            classes.sort_unstable();
            if let Some(pair) = classes.windows(2).find(|pair| pair[0] == pair[1]) {
                let (what, name) = ("class", pair[0].clone());
                return Err(DatasetError::DuplicateName { what, name });
            }
        }
        Ok(())
    }
}

impl Dataset {
    /// The columns of classes, by their outputs.
    pub fn class_columns(&self) -> &[ClassColumn] {
        &self.class_columns
    }

    /// The labels among the outputs of a set of numbers, in increasing order: outputs for which a table holds words such as
    /// no and yes, and unless its task is given, those that are 0 and 1. Empty for a set of labels.
    pub fn labels_beside_numbers(&self) -> &[usize] {
        &self.labels_beside
    }

    /// Returns true if some targets are classes, or labels beside numbers.
    pub fn has_declared_labels(&self) -> bool {
        !self.class_columns.is_empty() || !self.labels_beside.is_empty()
    }

    /// Returns true if some outputs are labels or classes.
    pub fn has_labels(&self) -> bool {
        self.task() == Task::MultiLabel || self.has_declared_labels()
    }

    /// Returns true if an output is a label or a class.
    pub fn is_label(&self, output: usize) -> bool {
        self.task() == Task::MultiLabel
            || self.labels_beside.binary_search(&output).is_ok()
            || ClassColumn::have_output(&self.class_columns, output)
    }

    /// The outputs that are labels or classes, without numbers; `None` if all are numbers.
    pub(crate) fn labels(&self) -> Option<Cow<'_, Matrix>> {
        if self.task() == Task::MultiLabel {
            return Some(Cow::Borrowed(self.outputs()));
        }
        let labels: Vec<usize> = (0..self.n_outputs())
            .filter(|&output| self.is_label(output))
            .collect();
        let selected = || Cow::Owned(select_columns(self.outputs().view(), &labels));
        (!labels.is_empty()).then(selected)
    }

    /// The labels that are not classes of a column, in increasing order.
    pub fn single_labels(&self) -> Vec<usize> {
        let is_single = |output: &usize| {
            self.is_label(*output) && !ClassColumn::have_output(&self.class_columns, *output)
        };
        (0..self.n_outputs()).filter(is_single).collect()
    }

    /// Declares outputs of a set of numbers to be labels.
    pub(crate) fn with_labels_beside(self, labels_beside: Vec<usize>) -> Self {
        Self {
            labels_beside,
            ..self
        }
    }

    /// Declares groups of outputs to be the classes of columns: each sample has one of them (1 for it and 0 for the
    /// others), or none, if its class is not among them, or all of them are missing.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_data::{ClassColumn, Dataset, Task};
    /// let outputs = array![[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]];
    /// let data = Dataset::new(array![[0.5], [0.1]].into(), outputs.into(), Task::MultiLabel)?;
    /// let grade = ClassColumn { name: "grade".into(), first: 0, classes: vec!["bronze".into(), "gold".into()] };
    /// assert_eq!(data.with_class_columns(vec![grade])?.class_columns()[0].outputs(), 0..2);
    /// # Ok::<(), rpo_data::DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ClassColumn::check`], and [`DatasetError::NotOneClass`] for a sample with several classes of a column,
    /// or with other values.
    pub fn with_class_columns(mut self, columns: Vec<ClassColumn>) -> Result<Self, DatasetError> {
        ClassColumn::check(&columns, self.n_outputs())?;
        // By output, the column that it belongs to.
        let mut owner = vec![None; self.n_outputs()];
        for (j, column) in columns.iter().enumerate() {
            owner[column.outputs()].fill(Some(j));
        }
        let (mut n_ones, mut n_missing) = (vec![0; columns.len()], vec![0; columns.len()]);
        for sample in 0..self.n_samples() {
            n_ones.fill(0);
            n_missing.fill(0);
            let mut is_other = None;
            self.outputs.view().for_each_in_row(sample, |output, value| {
                match (owner[output as usize], value) {
                    (None, _) | (_, 0.0) => {}
                    (Some(j), 1.0) => n_ones[j] += 1,
                    (Some(j), value) if value.is_nan() => n_missing[j] += 1,
                    (j, _) => is_other = j,
                }
            });
            let is_one = |j: usize| match n_missing[j] {
                0 => n_ones[j] <= 1 && is_other != Some(j),
                n => n == columns[j].classes.len(),
            };
            if let Some(j) = (0..columns.len()).find(|&j| !is_one(j)) {
                let column = columns[j].name.clone();
                return Err(DatasetError::NotOneClass { sample, column });
            }
        }
        self.class_columns = columns;
        Ok(self)
    }

    /// The columns of classes of which all outputs are among the given ones, which increase.
    pub(super) fn class_columns_within(&self, outputs: &[usize]) -> Vec<ClassColumn> {
        let columns = self.class_columns.iter().filter_map(|column| {
            let first = outputs.binary_search(&column.first).ok()?;
            let last = outputs.get(first + column.classes.len() - 1)?;
            (*last == column.outputs().end - 1).then(|| ClassColumn {
                first,
                ..column.clone()
            })
        });
        columns.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Task;
    use ndarray::{Array2, array};

    fn column(name: &str, first: usize, classes: &[&str]) -> ClassColumn {
        ClassColumn {
            name: name.to_owned(),
            first,
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
        }
    }

    fn data(outputs: Array2<f32>) -> Dataset {
        let features = Array2::<f32>::zeros((outputs.nrows(), 1));
        Dataset::with_missing(features.into(), outputs.into(), Task::MultiLabel).unwrap()
    }

    #[test]
    fn columns_go_with_their_outputs() {
        const NAN: f32 = f32::NAN;
        let outputs = array![
            [1.0, 1.0, 0.0, 1.0, 0.0],
            [0.0, NAN, NAN, 0.0, 0.0],
            [1.0, 0.0, 1.0, 0.0, 1.0]
        ];
        let columns = vec![column("a", 1, &["x", "y"]), column("b", 3, &["x", "y"])];
        let data = data(outputs).with_class_columns(columns).unwrap();
        let kept = |outputs: &[usize]| {
            let part = data.select_outputs(outputs).unwrap();
            let columns = part.class_columns().iter();
            columns.map(|c| (c.name.clone(), c.outputs())).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[1, 2, 4]), [("a".to_owned(), 0..2)]);
        assert_eq!(kept(&[0, 3, 4]), [("b".to_owned(), 1..3)]);
        assert_eq!(kept(&[0, 2, 3]), []);
        assert_eq!(data.select_samples(&[2]).unwrap().class_columns().len(), 2);
    }

    #[test]
    fn samples_have_one_class() {
        let refused = |outputs: Array2<f32>, columns: Vec<ClassColumn>| {
            data(outputs).with_class_columns(columns).unwrap_err()
        };
        let one = || vec![column("a", 0, &["x", "y"])];
        let not_one = DatasetError::NotOneClass {
            sample: 1,
            column: "a".to_owned(),
        };
        assert_eq!(refused(array![[0.0, 1.0], [1.0, 1.0]], one()), not_one);
        assert_eq!(refused(array![[0.0, 0.0], [1.0, f32::NAN]], one()), not_one);
        let outputs = || array![[0.0, 1.0, 0.0]];
        assert!(matches!(
            refused(outputs(), vec![column("a", 2, &["x", "y"])]),
            DatasetError::OutOfRange { index: 3, .. }
        ));
        for columns in [
            vec![column("a", 0, &["x", "y"]), column("b", 1, &["x", "y"])],
            vec![column("a", 0, &["x", "x"])],
        ] {
            assert!(matches!(
                refused(outputs(), columns),
                DatasetError::DuplicateName { .. }
            ));
        }
        for empty in [column("a", 0, &[]), column("a", usize::MAX, &["x"])] {
            assert!(matches!(
                refused(outputs(), vec![empty]),
                DatasetError::NoClasses(_) | DatasetError::OutOfRange { .. }
            ));
        }
    }
}
