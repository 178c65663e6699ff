//! The columns that are targets.

use super::task::{LABEL, is_label, wrong_target};
use crate::dataset::Task;
use crate::names::{duplicate, nearest};
use crate::read::arff::Attribute;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::label_file::LabelFile;
use crate::read::options::{ReadOptions, Targets};
use crate::read::pattern::matching;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns for each column whether it is a target.
pub(super) fn target_columns(
    columns: &[Attribute],
    typed: bool,
    options: &ReadOptions,
) -> Result<Vec<bool>, ReadError> {
    let n = columns.len();
    let count = |asked: usize| {
        let too_many = ReadErrorKind::TooManyTargets { asked, columns: n };
        if asked <= n { Ok(asked) } else { Err(too_many) }
    };
    match &options.targets {
        Targets::None => Ok(vec![false; n]),
        Targets::Last(asked) => {
            let first = n - count(*asked)?;
            Ok((0..n).map(|j| j >= first).collect())
        }
        Targets::First(asked) => {
            let asked = count(*asked)?;
            Ok((0..n).map(|j| j < asked).collect())
        }
        Targets::Names(names) => {
            if let Some(name) = duplicate(names) {
                return Err(ReadErrorKind::RepeatedTarget(name.to_owned()).into());
            }
            named_columns(columns, names, |i| Err(unknown_target(columns, &names[i]).into()))
        }
        Targets::NamesIfPresent(names) => named_columns(columns, names, |_| Ok(())),
        Targets::List(list) => named_columns(columns, std::slice::from_ref(&list.column), |_| {
            Err(unknown_target(columns, &list.column).into())
        }),
        Targets::LabelFile(path) => label_file_columns(columns, typed, path, options.task),
    }
}

/// Like [`target_columns`], for a table of which some columns are left out. These are no targets, and the first and last
/// columns are counted without them: pandas writes an index after the others, and other programs columns without names.
pub(super) fn target_columns_among(
    columns: &[Attribute],
    is_left_out: &[bool],
    options: &ReadOptions,
) -> Result<Vec<bool>, ReadError> {
    let others = columns.iter().zip(is_left_out);
    let others = others.filter(|(_, is_left_out)| !**is_left_out);
    let others: Vec<Attribute> = others.map(|(column, _)| column.clone()).collect();
    let mut targets = target_columns(&others, false, options)?.into_iter();
    let is_target = is_left_out
        .iter()
        .map(|is_left_out| !is_left_out && targets.next() == Some(true));
    Ok(is_target.collect())
}

/// Returns the columns that are targets.
pub(super) fn targets_of<'a>(
    columns: &'a [Attribute],
    is_target: &'a [bool],
) -> impl Iterator<Item = &'a Attribute> {
    let targets = columns.iter().zip(is_target).filter(|(_, target)| **target);
    targets.map(|(column, _)| column)
}

fn unknown_target(columns: &[Attribute], name: &str) -> ReadErrorKind {
    ReadErrorKind::UnknownTarget {
        name: name.to_owned(),
        nearest: nearest(name, columns.iter().map(|column| column.name.as_str())),
        columns: columns.iter().map(|column| column.name.clone()).collect(),
    }
}

fn label_file_columns(
    columns: &[Attribute],
    typed: bool,
    path: &Path,
    task: Option<Task>,
) -> Result<Vec<bool>, ReadError> {
    let file = LabelFile::open(path)?;
    let error = |i: usize, kind: ReadErrorKind| kind.at(file.lines[i]).in_file(path);
    let is_target = named_columns(columns, &file.labels, |i| {
        Err(error(i, unknown_target(columns, &file.labels[i])))
    })?;
    if typed && task.is_none() {
        let lines: BTreeMap<&str, usize> = file
            .labels
            .iter()
            .enumerate()
            .map(|(i, l)| (l.as_str(), i))
            .collect();
        if let Some(column) = targets_of(columns, &is_target).find(|column| !is_label(column)) {
            return Err(error(lines[column.name.as_str()], wrong_target(column, LABEL)));
        }
    }
    Ok(is_target)
}

/// Returns the columns that have one of the names, or match a name that is not that of a column; `absent` is called for
/// each name without a column.
fn named_columns(
    columns: &[Attribute],
    names: &[String],
    absent: impl Fn(usize) -> Result<(), ReadError>,
) -> Result<Vec<bool>, ReadError> {
    let positions: BTreeMap<&str, usize> = columns
        .iter()
        .enumerate()
        .map(|(j, c)| (c.name.as_str(), j))
        .collect();
    let mut is_target = vec![false; columns.len()];
    for (i, name) in names.iter().enumerate() {
        match positions.get(name.as_str()) {
            Some(&j) => is_target[j] = true,
            None => match matching(name, columns.iter().map(|c| c.name.as_str())) {
                found if found.is_empty() => absent(i)?,
                found => found.into_iter().for_each(|j| is_target[j] = true),
            },
        }
    }
    Ok(is_target)
}
