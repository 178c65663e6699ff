//! Converts the columns of a table to features and outputs.

use super::arff::{ArffReader, Attribute, AttributeKind};
use super::columns::{ColumnUse, declared, infer};
#[cfg(feature = "arrow")]
use super::container::{self, Container};
use super::csv::CsvReader;
use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use super::label_file::LabelFile;
use super::line::LineReader;
use super::options::{ColumnType, Missing, ReadOptions, Targets};
use super::pattern::matching;
use super::row::Row;
use super::samples::narrow;
use super::typed::{Fields, Finished, TypedReader};
use crate::builder::MatrixBuilder;
use crate::dataset::{Columns, Dataset, Task};
use crate::names::{Names, nearest};
use rpo_core::{CheckParams, Matrix};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

pub(super) fn read_arff(reader: impl BufRead, options: &ReadOptions) -> Result<Dataset, ReadError> {
    if matches!(options.targets, Targets::List(_)) {
        let (option, format) = ("label_list", Format::Arff);
        return Err(ReadErrorKind::Option { option, format }.into());
    }
    let mut reader = ArffReader::from_lines(LineReader::with_longest(reader, options.longest_line))?;
    let columns = reader.header.attributes.clone();
    let is_target = target_columns(&columns, true, options)?;
    let roles = Roles::new(&columns, &is_target, true, options)?;
    let name = reader.header.relation.clone();
    let parts = assemble(&columns, &roles, options, |row| {
        Ok((reader.read_row(row)?, reader.line()))
    })?;
    let mut data = dataset(columns, &roles, parts, options)?;
    data.name = name;
    Ok(data)
}

/// Reads a CSV file, opened by `open`: once if all columns are numbers, otherwise again for the types and once more for
/// the values.
pub(super) fn read_csv<'a>(
    open: impl Fn() -> Result<Box<dyn BufRead + 'a>, ReadError>,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let delimiter = delimiter_of_options(options)?;
    let open = || CsvReader::from_lines(LineReader::with_longest(open()?, options.longest_line), delimiter);
    let mut reader = open()?;
    let columns: Vec<Attribute> = reader.columns().iter().map(numeric).collect();
    let is_target = target_columns(&columns, false, options)?;
    let declared = declared(reader.columns(), &is_target, options)?;
    let number = Some(ColumnUse::Value(ColumnType::Number));
    if declared
        .iter()
        .all(|column| column.is_none() || *column == number)
    {
        let roles = Roles::new(&columns, &is_target, false, options)?;
        let numbers = assemble(&columns, &roles, options, |row| {
            Ok((reader.read_row(row)?, reader.line()))
        });
        match numbers {
            Err(e) if matches!(e.kind, ReadErrorKind::NotANumber { .. }) => {}
            numbers => return dataset(columns, &roles, numbers?, options),
        }
    }
    let uses = infer(open()?, &declared)?;
    read_typed(open()?, &columns, &is_target, &uses, options)
}

/// Reads rows of columns with types; columns without a type are not read.
pub(super) fn read_rows(rows: impl Fields, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let columns: Vec<Attribute> = rows.columns().iter().map(numeric).collect();
    let is_target = target_columns(&columns, false, options)?;
    let declared = declared(rows.columns(), &is_target, options)?;
    let number = |target| match target {
        true => ColumnUse::Value(ColumnType::Number),
        false => ColumnUse::Ignored,
    };
    let uses = declared.into_iter().zip(&is_target);
    let uses: Vec<ColumnUse> = uses
        .map(|(given, &target)| given.unwrap_or(number(target)))
        .collect();
    read_typed(rows, &columns, &is_target, &uses, options)
}

/// Reads a file with typed columns.
#[cfg(feature = "arrow")]
pub(super) fn read_container(
    container: Box<dyn Container>,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let column_names = container::names(container.schema());
    let names: Names = column_names.iter().map(String::as_str).collect();
    if let Some(name) = names.duplicate() {
        let (what, name) = ("column", name.to_owned());
        return Err(ReadErrorKind::DeclaredTwice { what, name }.into());
    }
    let columns: Vec<Attribute> = names.iter().map(numeric).collect();
    let is_target = target_columns(&columns, false, options)?;
    let declared = declared(&column_names, &is_target, options)?;
    let uses = container::uses(container.schema(), &declared)?;
    let rows = container::rows(container, &uses, options.memory_limit);
    read_typed(rows, &columns, &is_target, &uses, options).map_err(ReadError::of_row)
}

/// Returns a numeric column.
fn numeric(name: impl Into<String>) -> Attribute {
    Attribute {
        name: name.into(),
        kind: AttributeKind::Numeric,
    }
}

/// Reads a table whose columns have the given uses.
fn read_typed(
    source: impl Fields,
    columns: &[Attribute],
    is_target: &[bool],
    uses: &[ColumnUse],
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let checked = options.text.check();
    checked.map_err(|e| ReadErrorKind::Parameter(Box::new(e)))?;
    let mut reader = TypedReader::new(source, uses, options);
    // The columns of the file, and the columns of the rows made from each.
    let names = reader.names();
    for ((target, column), found) in is_target.iter().zip(columns).zip(uses) {
        let found = match found {
            ColumnUse::Value(ColumnType::Category) => "words",
            ColumnUse::Value(ColumnType::Date | ColumnType::DateTime) => "dates",
            ColumnUse::Value(ColumnType::Text) => "texts",
            _ => continue,
        };
        if *target {
            let name = column.name.clone();
            let found = found.to_owned();
            let expected = "a target is a number or, for a label, 0 or 1";
            return Err(ReadErrorKind::WrongTarget {
                name,
                found,
                expected,
            }
            .into());
        }
    }
    let is_target: Vec<bool> = names
        .iter()
        .zip(is_target)
        .flat_map(|(made, &target)| made.iter().map(move |_| target))
        .collect();
    let mut columns: Vec<Attribute> = names.iter().flatten().map(numeric).collect();
    // The features of texts and the labels of lists are counted once all rows are read.
    let has_texts = uses.contains(&ColumnUse::Value(ColumnType::Text));
    let counted = ReadOptions {
        n_features: options.n_features.filter(|_| !has_texts),
        n_outputs: options.n_outputs.filter(|_| !uses.contains(&ColumnUse::Labels)),
        ..options.clone()
    };
    let roles = Roles::new(&columns, &is_target, false, &counted)?;
    let n_values = columns.len();
    let (mut features, outputs, task) =
        assemble(&columns, &roles, options, |row| reader.read_row(n_values, row))?;
    let Finished {
        ids,
        categories,
        texts,
        labels,
    } = reader.finish(options)?;
    for (file_column, categories) in categories {
        let column = names[..file_column].iter().map(Vec::len).sum::<usize>();
        let values = categories.sort(&mut features, roles.columns[column].index as usize);
        if !values.is_empty() {
            columns[column].kind = AttributeKind::Nominal(values);
        }
    }
    let mut data = dataset(columns, &roles, (features, outputs, task), options)?;
    if !texts.is_empty() {
        data = data.with_texts(&texts).map_err(ReadErrorKind::from)?;
    }
    if let Some(labels) = labels {
        data = labels.finish(data)?;
    }
    if has_texts || uses.contains(&ColumnUse::Labels) {
        let checked = options.check_columns(data.n_features(), data.n_outputs());
        checked.map_err(ReadErrorKind::from)?;
    }
    if let Some(ids) = ids {
        data = data.with_ids(ids).map_err(ReadErrorKind::from)?;
    }
    Ok(data)
}

/// Returns the delimiter of the options, which must be a single byte that fields do not need.
pub(super) fn delimiter_of_options(options: &ReadOptions) -> Result<Option<u8>, ReadErrorKind> {
    let Some(delimiter) = options.delimiter else {
        return Ok(None);
    };
    let refused = |c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '\n' | '\r' | '.' | '-' | '+');
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !refused(delimiter) => Ok(Some(byte)),
        _ => Err(ReadErrorKind::Delimiter(delimiter)),
    }
}

/// The role of each column.
struct Roles {
    columns: Vec<Role>,
    n_features: usize,
    n_outputs: usize,
    /// `None` if the values decide.
    task: Option<Task>,
}

/// A column's index among the features or among the outputs.
#[derive(Clone, Copy)]
struct Role {
    output: bool,
    index: u32,
}

impl Roles {
    /// `typed` is true if the file declares its columns, and thereby which are labels and which are numbers.
    fn new(
        columns: &[Attribute],
        is_target: &[bool],
        typed: bool,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let mut counts = [0, 0];
        let roles = is_target.iter().map(|&output| {
            let count: &mut u32 = &mut counts[usize::from(output)];
            *count += 1;
            Role {
                output,
                index: *count - 1,
            }
        });
        let roles: Vec<Role> = roles.collect();
        let [n_features, n_outputs] = counts.map(|count| count as usize);
        options
            .check_columns(n_features, n_outputs)
            .map_err(ReadErrorKind::from)?;
        let targets = || {
            columns
                .iter()
                .zip(is_target)
                .filter(|(_, target)| **target)
                .map(|(c, _)| c)
        };
        Ok(Self {
            columns: roles,
            n_features,
            n_outputs,
            task: decide_task(targets, typed, options)?,
        })
    }
}

fn target_columns(columns: &[Attribute], typed: bool, options: &ReadOptions) -> Result<Vec<bool>, ReadError> {
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
            named_columns(columns, names, |i| Err(unknown_target(columns, &names[i]).into()))
        }
        Targets::NamesIfPresent(names) => named_columns(columns, names, |_| Ok(())),
        Targets::List(list) => named_columns(columns, std::slice::from_ref(&list.column), |_| {
            Err(unknown_target(columns, &list.column).into())
        }),
        Targets::LabelFile(path) => label_file_columns(columns, typed, path, options.task),
    }
}

fn unknown_target(columns: &[Attribute], name: &str) -> ReadErrorKind {
    ReadErrorKind::UnknownTarget {
        name: name.to_owned(),
        nearest: nearest(name, columns.iter().map(|column| column.name.as_str())),
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
        let mut targets = columns.iter().zip(&is_target).filter(|(_, target)| **target);
        if let Some((column, _)) = targets.find(|(column, _)| !is_label(column)) {
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

/// Returns the task of the options or, if it is not given, that of the declarations of the targets.
fn decide_task<'a, I: Iterator<Item = &'a Attribute>>(
    targets: impl Fn() -> I,
    typed: bool,
    options: &ReadOptions,
) -> Result<Option<Task>, ReadErrorKind> {
    let is_number = |c: &Attribute| matches!(c.kind, AttributeKind::Numeric);
    let neither = targets().find(|c| !is_label(c) && !is_number(c));
    let task = match (options.task, &options.targets) {
        (None, Targets::LabelFile(_)) => Some(Task::MultiLabel),
        (task, _) => task,
    };
    match (task, neither) {
        (Some(Task::Regression), Some(column)) => {
            Err(wrong_target(column, "regression needs numeric targets"))
        }
        (_, Some(column)) => Err(wrong_target(column, LABEL)),
        (Some(task), None) => Ok(Some(task)),
        (None, None) if !typed => Ok(None),
        (None, None) => match (targets().find(|c| is_label(c)), targets().find(|c| is_number(c))) {
            (Some(label), Some(number)) => Err(ReadErrorKind::MixedTargets {
                label: label.name.clone(),
                number: number.name.clone(),
            }),
            (None, Some(_)) => Ok(Some(Task::Regression)),
            (_, None) => Ok(Some(Task::MultiLabel)),
        },
    }
}

const LABEL: &str = "a label is declared {0,1}";

fn wrong_target(column: &Attribute, expected: &'static str) -> ReadErrorKind {
    let (name, found) = (column.name.clone(), column.declaration());
    ReadErrorKind::WrongTarget {
        name,
        found,
        expected,
    }
}

fn is_label(column: &Attribute) -> bool {
    matches!(&column.kind, AttributeKind::Nominal(values) if **values == ["0", "1"])
}

/// Reads all rows into features, outputs and the task. `read_row` also returns the current line.
fn assemble(
    columns: &[Attribute],
    roles: &Roles,
    options: &ReadOptions,
    mut read_row: impl FnMut(&mut Row) -> Result<(bool, u64), ReadError>,
) -> Result<(Matrix, Matrix, Task), ReadError> {
    let mut table = Table::new(columns, roles, options);
    let mut row = Row::default();
    loop {
        let (more, line) = read_row(&mut row)?;
        if !more {
            return Ok(table.finish());
        }
        table.push(&row).map_err(|kind| kind.at(line))?;
    }
}

/// Creates the data set.
fn dataset(
    columns: Vec<Attribute>,
    roles: &Roles,
    (features, outputs, task): (Matrix, Matrix, Task),
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let new = if options.missing_targets == Some(Missing::Keep) {
        Dataset::with_missing
    } else {
        Dataset::new
    };
    let names = ColumnNames::new(columns, roles);
    let data = new(features, outputs, task)
        .and_then(|data| data.with_names(Columns::Features, Names::Given(names.features)))
        .and_then(|data| data.with_names(Columns::Outputs, Names::Given(names.outputs)))
        .and_then(|data| data.with_nominal(names.nominal));
    data.map_err(|e| ReadErrorKind::from(e).into())
}

/// The rows read so far.
struct Table<'a> {
    columns: &'a [Attribute],
    roles: &'a Roles,
    options: &'a ReadOptions,
    features: MatrixBuilder,
    outputs: MatrixBuilder,
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
            all_labels: false,
        }
    }

    fn push(&mut self, row: &Row) -> Result<(), ReadErrorKind> {
        if row.is_sparse() {
            self.features.make_sparse();
            self.outputs.make_sparse();
        }
        self.all_labels |= self.features.n_rows() == 0;
        for (&column, &value) in row.columns().iter().zip(row.values()) {
            let Role { output, index } = self.roles.columns[column as usize];
            let name = || self.columns[column as usize].name.clone();
            let stored = narrow(value, name)?;
            if output {
                self.all_labels &= is_label_value(value);
                self.check_output(value, name)?;
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
    fn check_output(&self, value: f64, name: impl Fn() -> String) -> Result<(), ReadErrorKind> {
        if value.is_nan() && self.options.missing_targets != Some(Missing::Keep) {
            return Err(ReadErrorKind::MissingTarget(name()));
        }
        if self.roles.task == Some(Task::MultiLabel) && !is_label_value(value) {
            return Err(ReadErrorKind::NotALabel { name: name(), value });
        }
        Ok(())
    }

    /// Returns features, outputs and the task.
    fn finish(self) -> (Matrix, Matrix, Task) {
        let by_value = if self.all_labels {
            Task::MultiLabel
        } else {
            Task::Regression
        };
        let task = self.roles.task.unwrap_or(by_value);
        (self.features.finish(), self.outputs.finish(), task)
    }
}

/// Returns true for 0, 1 and NaN.
fn is_label_value(value: f64) -> bool {
    value == 0.0 || value == 1.0 || value.is_nan()
}

/// The names of features and outputs, and the values of nominal features.
struct ColumnNames {
    features: Vec<String>,
    outputs: Vec<String>,
    nominal: BTreeMap<usize, Arc<[String]>>,
}

impl ColumnNames {
    fn new(columns: Vec<Attribute>, roles: &Roles) -> Self {
        let mut names = Self {
            features: Vec::with_capacity(roles.n_features),
            outputs: Vec::with_capacity(roles.n_outputs),
            nominal: BTreeMap::new(),
        };
        for (column, role) in columns.into_iter().zip(&roles.columns) {
            if role.output {
                names.outputs.push(column.name);
                continue;
            }
            if let AttributeKind::Nominal(values) = column.kind {
                names.nominal.insert(names.features.len(), values);
            }
            names.features.push(column.name);
        }
        names
    }
}
