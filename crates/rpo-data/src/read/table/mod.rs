//! Converts the columns of a table to features and outputs.

mod assemble;
mod codes;
#[cfg(feature = "arrow")]
mod container;
mod dataset;
mod outputs;
mod roles;
#[cfg(feature = "arrow")]
mod stored_as_text;
mod targets;
mod task;
mod typed;

use super::arff::{ArffReader, Attribute, AttributeKind};
use super::columns::{ColumnUse, check_unique, declared, infer, untyped};
use super::csv::{CsvReader, Delimiter, FieldTexts};
use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use super::line::LineReader;
use super::options::{ColumnType, ReadOptions, Targets};
use super::typed::Fields;
use crate::dataset::{Dataset, IntegerIds, IntegerTypes};
use assemble::assemble;
use codes::codes;
#[cfg(feature = "arrow")]
pub(super) use container::read_container;
use dataset::dataset;
use roles::Roles;
use std::io::BufRead;
use targets::{target_columns, target_columns_among};
use task::is_label;
use typed::read_typed;

pub(super) fn read_arff(reader: impl BufRead, options: &ReadOptions) -> Result<Dataset, ReadError> {
    if matches!(options.targets, Targets::List(_)) {
        let (option, format) = ("label_list", Format::Arff);
        return Err(ReadErrorKind::Option { option, format }.into());
    }
    let mut reader = ArffReader::from_lines(LineReader::with_longest(reader, options.longest_line))?;
    let all = reader.header.attributes.clone();
    let is_target = target_columns(&all, true, options)?;
    let is_left_out = left_out(&all, &is_target, options)?;
    reader.leave_out(&is_left_out)?;
    let kept = all.into_iter().zip(is_target).zip(is_left_out);
    let kept = kept.filter_map(|(column, is_left_out)| (!is_left_out).then_some(column));
    let (columns, is_target): (Vec<Attribute>, Vec<bool>) = kept.unzip();
    let is_words = columns.iter().zip(&is_target);
    let is_words = is_words.map(|(column, is_target)| {
        let is_nominal = matches!(column.kind, AttributeKind::Nominal(_));
        let is_declared_label = is_label(column) && !options.has_known_classes(&column.name);
        *is_target && is_nominal && !is_declared_label && options.may_have_classes(&column.name)
    });
    let is_words: Vec<bool> = is_words.collect();
    let roles = Roles::new(&columns, &is_target, &is_words, true, options)?;
    let name = reader.header.relation.clone();
    let parts = assemble(&columns, &roles, options, |row| {
        Ok((reader.read_row(row)?, reader.line()))
    })?;
    let mut data = dataset(columns, &roles, parts, options)?;
    data.name = name;
    Ok(data)
}

/// Returns, for each attribute of an ARFF file, true if it is left out: because the options ignore it, or because it
/// cannot be read in a file for a model, which does not need it.
fn left_out(
    columns: &[Attribute],
    is_target: &[bool],
    options: &ReadOptions,
) -> Result<Vec<bool>, ReadErrorKind> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let ignore_alone = ReadOptions {
        ignore: options.ignore.clone(),
        targets: options.targets.clone(),
        ..ReadOptions::default()
    };
    let declared = declared(&names, is_target, &ignore_alone)?;
    let ignored = declared.iter().map(|column| *column == Some(ColumnUse::Ignored));
    let is_other = |column: &Attribute| matches!(column.kind, AttributeKind::Other(_));
    let unread = columns.iter().zip(is_target);
    let unread = unread.map(|(column, is_target)| options.ignore_untyped && !is_target && is_other(column));
    Ok(ignored
        .zip(unread)
        .map(|(ignored, unread)| ignored || unread)
        .collect())
}

/// Reads a CSV file, opened by `open`: once if all columns are numbers, otherwise again for the types and once more for
/// the values.
pub(super) fn read_csv<'a>(
    open: impl Fn() -> Result<Box<dyn BufRead + 'a>, ReadError>,
    delimiter: Delimiter,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let open = || {
        let lines = LineReader::with_longest(open()?, options.longest_line);
        Ok::<_, ReadError>(CsvReader::from_lines(lines, delimiter)?.with_texts(FieldTexts::of(options)))
    };
    let mut reader = open()?;
    let columns: Vec<Attribute> = reader.columns().iter().map(numeric).collect();
    let is_blank = blank(reader.columns(), open, options)?;
    let is_target = target_columns_among(&columns, &is_blank, options)?;
    let mut declared = declared(reader.columns(), &is_target, options)?;
    let blank = declared
        .iter_mut()
        .zip(&is_blank)
        .filter(|(_, is_blank)| **is_blank);
    let blank = blank.map(|(column, _)| column.replace(ColumnUse::Ignored));
    // Columns that are not read in any case are not worth a note.
    let n_blank = blank.filter(|column| *column != Some(ColumnUse::Ignored)).count();
    check_unique(reader.columns(), &declared).map_err(|kind| kind.at(reader.line()))?;
    let number = Some(ColumnUse::Value(ColumnType::Number));
    if declared
        .iter()
        .all(|column| column.is_none() || *column == number)
    {
        let is_words = vec![false; columns.len()];
        let roles = Roles::new(&columns, &is_target, &is_words, false, options)?;
        let numbers = assemble(&columns, &roles, options, |row| {
            Ok((reader.read_row(row)?, reader.line()))
        });
        match numbers {
            Err(e) if matches!(e.kind, ReadErrorKind::NotANumber { .. }) => {}
            numbers => {
                let mut data = dataset(columns, &roles, numbers?, options)?;
                data.notes.codes = codes(open()?)?;
                data.notes.numbers_as_names = reader.numbers_as_names();
                return Ok(data);
            }
        }
    }
    let uses = infer(open()?, &declared)?;
    let untyped_columns = untyped(reader.columns(), &declared, options);
    let mut data = read_typed(open()?, &columns, &is_target, &uses, options)?;
    data.notes.codes = codes(open()?)?;
    data.notes.numbers_as_names = reader.numbers_as_names();
    data.notes.untyped_columns = untyped_columns;
    data.notes.n_blank_columns = n_blank;
    data.notes.integer_ids = data.ids().and_then(integer_ids);
    Ok(data)
}

/// Returns the type of integers as they are usually written, unlike 007, which is a text.
fn integer_ids(ids: &[String]) -> Option<IntegerIds> {
    let mut types = IntegerTypes::default();
    for id in ids {
        let value = id.parse::<i128>().ok();
        types.add(value.filter(|value| value.to_string() == *id));
    }
    types.common()
}

/// Returns, for each column, true if it has neither a name nor a value, as it stands behind delimiters at the ends of
/// lines.
fn blank<R: BufRead>(
    names: &[String],
    open: impl Fn() -> Result<CsvReader<R>, ReadError>,
    options: &ReadOptions,
) -> Result<Vec<bool>, ReadError> {
    let mut is_blank: Vec<bool> = match options.name_column("") {
        true => vec![false; names.len()],
        false => names.iter().map(String::is_empty).collect(),
    };
    if is_blank.contains(&true) {
        let mut reader = open()?;
        while is_blank.contains(&true)
            && reader.read_texts(|j, text| {
                is_blank[j] &= text.is_none();
                Ok(())
            })?
        {}
    }
    Ok(is_blank)
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

/// Returns a numeric column.
fn numeric(name: impl Into<String>) -> Attribute {
    Attribute {
        name: name.into(),
        kind: AttributeKind::Numeric,
    }
}
