//! The role of each column: a feature or an output, and of which kind.

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
    /// True if the file declares its columns.
    pub(super) typed: bool,
}

/// A column's index among the features or among the outputs.
#[derive(Clone, Copy)]
pub(super) struct Role {
    pub(super) output: bool,
    pub(super) index: u32,
    /// True for a label whose declaration has the value that means 1 first.
    pub(super) flipped: bool,
    /// True for a target whose values are positions of words.
    pub(super) words: bool,
}

impl Roles {
    /// `is_words` is true for targets whose values are positions of words, other than those that a file declares to be
    /// labels; `typed` is true if the file declares its columns, and thereby which are labels and which are numbers.
    pub(super) fn new(
        columns: &[Attribute],
        is_target: &[bool],
        is_words: &[bool],
        typed: bool,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let mut counts = [0, 0];
        let roles = columns.iter().zip(is_target).zip(is_words);
        let roles = roles.map(|((column, &output), &words)| {
            let count: &mut u32 = &mut counts[usize::from(output)];
            *count += 1;
            Role {
                output,
                index: *count - 1,
                flipped: output && !words && positive(column) == Some(0),
                words,
            }
        });
        let roles: Vec<Role> = roles.collect();
        let [n_features, n_outputs] = counts.map(|count| count as usize);
        // The classes of words are counted once all rows are read.
        let n_counted = match is_words.contains(&true) {
            true => options.n_outputs.unwrap_or(n_outputs),
            false => n_outputs,
        };
        let checked = options.check_columns(n_features, n_counted);
        checked.map_err(ReadErrorKind::from)?;
        let targets = || {
            let targets = columns.iter().zip(is_words).zip(is_target);
            targets
                .filter(|(_, is_target)| **is_target)
                .map(|(target, _)| target)
        };
        Ok(Self {
            columns: roles,
            n_features,
            n_outputs,
            task: decide_task(targets, typed, options)?,
            typed,
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
