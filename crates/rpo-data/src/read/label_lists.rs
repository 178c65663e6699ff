//! Columns that list the labels of each sample.

use super::error::{ReadError, ReadErrorKind};
use super::options::{LabelList, ReadOptions, Targets};
use super::quoted_text::utf8;
use super::typed::{Field, MOST_CATEGORIES};
use crate::builder::MatrixBuilder;
use crate::dataset::{Dataset, LabelColumn, LeftOut, Task};
use crate::names::Names;
use std::collections::BTreeMap;

/// The labels of the samples so far.
pub(super) struct LabelLists {
    list: LabelList,
    task: Option<Task>,
    /// The index of each label, in the order of the given labels, or else of first appearance.
    numbers: BTreeMap<String, u32>,
    ends: Vec<usize>,
    labels: Vec<u32>,
    others: LeftOut,
}

impl LabelLists {
    /// # Panics
    /// If the targets are not a list.
    pub(super) fn new(options: &ReadOptions) -> Self {
        let Targets::List(list) = &options.targets else {
            unreachable!("the targets are a list")
        };
        let given = list.labels.iter().flatten().zip(0..);
        Self {
            list: list.clone(),
            task: options.task,
            numbers: given.map(|(label, number)| (label.clone(), number)).collect(),
            ends: Vec::new(),
            labels: Vec::new(),
            others: LeftOut::default(),
        }
    }

    /// Adds the labels of the next sample.
    pub(super) fn push(&mut self, field: Field<'_>) -> Result<(), ReadErrorKind> {
        let start = self.labels.len();
        match field {
            Field::Missing => {}
            Field::List { items, start, end } => {
                for index in start..end {
                    match items.item(index) {
                        Field::Missing => {}
                        item => self.add(&text_of(item)?)?,
                    }
                }
            }
            field => {
                let separator = self.list.separator;
                text_of(field)?
                    .split(separator)
                    .try_for_each(|label| self.add(label))?;
            }
        }
        let sample = &mut self.labels[start..];
        sample.sort_unstable();
        // A label that is listed twice counts once.
        let mut kept = start;
        for i in start..self.labels.len() {
            if i == start || self.labels[i] != self.labels[i - 1] {
                self.labels[kept] = self.labels[i];
                kept += 1;
            }
        }
        self.labels.truncate(kept);
        self.ends.push(kept);
        Ok(())
    }

    fn add(&mut self, label: &str) -> Result<(), ReadErrorKind> {
        let label = label.trim();
        if label.is_empty() {
            return Ok(());
        }
        let number = match self.numbers.get(label) {
            Some(&number) => number,
            None if self.list.labels.is_some() => {
                self.others.add(self.ends.len(), label);
                return Ok(());
            }
            None if self.numbers.len() == MOST_CATEGORIES => {
                let (column, limit) = (self.list.column.clone(), MOST_CATEGORIES);
                return Err(ReadErrorKind::TooManyCategories { column, limit });
            }
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(label.to_owned(), number);
                number
            }
        };
        self.labels.push(number);
        Ok(())
    }

    /// Returns the set with these labels as its outputs.
    pub(super) fn finish(self, data: Dataset) -> Result<Dataset, ReadError> {
        if self.task == Some(Task::Regression) {
            return Err(ReadErrorKind::WrongTarget {
                name: self.list.column,
                found: "a column of labels".to_owned(),
                expected: "regression needs numeric targets",
            }
            .into());
        }
        let mut places: Vec<u32> = (0..self.numbers.len() as u32).collect();
        let column = LabelColumn {
            name: self.list.column,
            separator: self.list.separator,
        };
        let names = match self.list.labels {
            Some(given) => given,
            None => {
                let sorted = self.numbers.into_iter().zip(0..);
                sorted
                    .map(|((label, number), place)| {
                        places[number as usize] = place;
                        label
                    })
                    .collect()
            }
        };
        let mut builder = MatrixBuilder::sparse(names.len());
        let (mut start, mut row) = (0, Vec::new());
        for end in self.ends {
            row.extend(
                self.labels[start..end]
                    .iter()
                    .map(|&number| places[number as usize]),
            );
            row.sort_unstable();
            row.drain(..).for_each(|label| builder.push(label, 1.0));
            builder.end_row();
            start = end;
        }
        let data = data.with_labels(builder.finish(), Names::Given(names), column, self.others);
        data.map_err(|e| ReadErrorKind::from(e).into())
    }
}

fn text_of(field: Field<'_>) -> Result<String, ReadErrorKind> {
    utf8(&field.text(), 0).map_err(|(_, kind)| kind)
}
