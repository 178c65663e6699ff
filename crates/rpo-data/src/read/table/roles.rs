//! The role of each column: a feature or an output, and of which kind.

use super::targets::targets_of;
use super::task::{decide_task, positive};
use crate::dataset::Task;
use crate::read::arff::Attribute;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::ReadOptions;

/// The role of each column.
pub(super) struct Roles {
    pub(super) columns: Vec<Role>,
    pub(super) n_features: usize,
    pub(super) n_outputs: usize,
    /// `None` if the values decide.
    pub(super) task: Option<Task>,
}

/// A column's index among the features or among the outputs.
#[derive(Clone, Copy)]
pub(super) struct Role {
    pub(super) output: bool,
    pub(super) index: u32,
    /// True for a label whose declaration has the value that means 1 first.
    pub(super) flipped: bool,
}

impl Roles {
    /// `typed` is true if the file declares its columns, and thereby which are labels and which are numbers.
    pub(super) fn new(
        columns: &[Attribute],
        is_target: &[bool],
        typed: bool,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let mut counts = [0, 0];
        let roles = columns.iter().zip(is_target).map(|(column, &output)| {
            let count: &mut u32 = &mut counts[usize::from(output)];
            *count += 1;
            Role {
                output,
                index: *count - 1,
                flipped: output && positive(column) == Some(0),
            }
        });
        let roles: Vec<Role> = roles.collect();
        let [n_features, n_outputs] = counts.map(|count| count as usize);
        options
            .check_columns(n_features, n_outputs)
            .map_err(ReadErrorKind::from)?;
        let targets = || targets_of(columns, is_target);
        Ok(Self {
            columns: roles,
            n_features,
            n_outputs,
            task: decide_task(targets, typed, options)?,
        })
    }

    /// The columns whose labels are flipped.
    pub(super) fn flipped(&self) -> Vec<u32> {
        let columns = (0..).zip(&self.columns);
        columns
            .filter(|(_, role)| role.flipped)
            .map(|(column, _)| column)
            .collect()
    }
}
