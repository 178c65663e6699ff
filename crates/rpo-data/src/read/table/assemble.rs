//! Makes features and outputs of rows.

use super::roles::{Role, Roles};
use crate::builder::MatrixBuilder;
use crate::dataset::{Rounded, Task};
use crate::read::arff::Attribute;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::narrow::Narrow;
use crate::read::options::{Missing, ReadOptions};
use crate::read::row::Row;
use rpo_core::Matrix;

/// The content of a table.
pub(super) struct Parts {
    pub(super) features: Matrix,
    pub(super) outputs: Matrix,
    pub(super) task: Task,
    /// The columns with numbers that were rounded.
    pub(super) rounded: Vec<Rounded>,
}

/// Reads all rows. `read_row` also returns the current line.
pub(super) fn assemble(
    columns: &[Attribute],
    roles: &Roles,
    options: &ReadOptions,
    mut read_row: impl FnMut(&mut Row) -> Result<(bool, u64), ReadError>,
) -> Result<Parts, ReadError> {
    let mut table = Table::new(columns, roles, options);
    let mut row = Row::default();
    loop {
        let (more, line) = read_row(&mut row)?;
        if !more {
            return Ok(table.finish());
        }
        table.push(&mut row).map_err(|kind| kind.at(line))?;
    }
}

/// The rows read so far.
struct Table<'a> {
    columns: &'a [Attribute],
    roles: &'a Roles,
    options: &'a ReadOptions,
    features: MatrixBuilder,
    outputs: MatrixBuilder,
    narrow: Narrow,
    /// The columns whose labels are flipped.
    flipped: Vec<u32>,
    /// True if there is a row, and every observed output is 0 or 1.
    all_labels: bool,
}

impl<'a> Table<'a> {
    fn new(columns: &'a [Attribute], roles: &'a Roles, options: &'a ReadOptions) -> Self {
        Self {
            columns,
            roles,
            options,
            features: MatrixBuilder::dense(roles.n_features),
            outputs: match roles.task {
                Some(Task::MultiLabel) => MatrixBuilder::sparse(roles.n_outputs),
                _ => MatrixBuilder::dense(roles.n_outputs),
            },
            narrow: Narrow::default(),
            flipped: roles.flipped(),
            all_labels: false,
        }
    }

    fn push(&mut self, row: &mut Row) -> Result<(), ReadErrorKind> {
        let is_sparse = row.is_sparse();
        if is_sparse {
            row.store_zeros(&self.flipped);
            self.features.make_sparse();
            self.outputs.make_sparse();
        }
        self.all_labels |= self.features.n_rows() == 0;
        for (&column, &value) in row.columns().iter().zip(row.values()) {
            let Role {
                output,
                index,
                flipped,
                words,
            } = self.roles.columns[column as usize];
            let value = if flipped { 1.0 - value } else { value };
            let name = || self.columns[column as usize].name.clone();
            let stored = match is_sparse {
                true => self.narrow.value(column, value, name)?,
                false => self.narrow.dense_value(column, value, name)?,
            };
            if output {
                self.all_labels &= words || is_label_value(value);
                self.check_output(value, words, name)?;
                self.outputs.push(index, stored);
                continue;
            }
            if value.is_nan() && self.options.missing == Missing::Refuse {
                return Err(ReadErrorKind::MissingFeature(name()));
            }
            self.features.push(index, stored);
        }
        self.features.end_row();
        self.outputs.end_row();
        Ok(())
    }

    #[inline]
    fn check_output(&self, value: f64, words: bool, name: impl Fn() -> String) -> Result<(), ReadErrorKind> {
        if value.is_nan() && self.options.missing_outputs != Some(Missing::Keep) {
            return Err(ReadErrorKind::MissingOutput(name()));
        }
        if self.roles.task == Some(Task::MultiLabel) && !words && !is_label_value(value) {
            return Err(ReadErrorKind::NotALabel { name: name(), value });
        }
        Ok(())
    }

    fn finish(self) -> Parts {
        let by_value = if self.all_labels {
            Task::MultiLabel
        } else {
            Task::Regression
        };
        Parts {
            features: self.features.finish(),
            outputs: self.outputs.finish(),
            task: self.roles.task.unwrap_or(by_value),
            rounded: self
                .narrow
                .finish(|column| self.columns[column as usize].name.clone()),
        }
    }
}

/// Returns true for 0, 1 and NaN.
fn is_label_value(value: f64) -> bool {
    value == 0.0 || value == 1.0 || value.is_nan()
}
