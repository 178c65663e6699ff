//! Tables whose columns have types.

use super::assemble::assemble;
use super::dataset::dataset;
use super::numeric;
use super::roles::Roles;
use crate::dataset::{Dataset, DateColumn, Rounded, Rounding};
use crate::read::arff::{Attribute, AttributeKind};
use crate::read::columns::ColumnUse;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::{ColumnType, ReadOptions};
use crate::read::typed::{Fields, Finished, TypedReader};
use std::collections::BTreeSet;

/// What a target of a table is.
const VALUE: &str = "a target is a number, a label (0 or 1), or a class";

/// Reads a table whose columns have the given uses.
pub(super) fn read_typed(
    source: impl Fields,
    columns: &[Attribute],
    is_target: &[bool],
    uses: &[ColumnUse],
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let is_text = |column: &&ColumnUse| **column == ColumnUse::Value(ColumnType::Text);
    let checked = options.text.check_columns(uses.iter().filter(is_text).count());
    checked.map_err(|e| ReadErrorKind::Parameter(Box::new(e)))?;
    let mut reader = TypedReader::new(source, uses, is_target, options);
    check_targets(columns, is_target, uses)?;
    let is_words = columns.iter().zip(uses).zip(is_target);
    let is_words = is_words.map(|((column, found), &is_target)| {
        let is_category = *found == ColumnUse::Value(ColumnType::Category);
        is_target && is_category && options.may_have_classes(&column.name)
    });
    let is_words: Vec<bool> = is_words.collect();
    // By column of the file, the columns of the rows that are made of it.
    let names = reader.names();
    let of_made = |of_file: &[bool]| -> Vec<bool> {
        let made = names.iter().zip(of_file);
        made.flat_map(|(made, &is)| made.iter().map(move |_| is))
            .collect()
    };
    let (is_target, is_words_made) = (of_made(is_target), of_made(&is_words));
    let mut columns: Vec<Attribute> = names.iter().flatten().map(numeric).collect();
    // The features of texts and the labels of lists are counted once all rows are read.
    let has_texts = uses.contains(&ColumnUse::Value(ColumnType::Text));
    let counted = ReadOptions {
        n_features: options.n_features.filter(|_| !has_texts),
        n_outputs: options.n_outputs.filter(|_| !uses.contains(&ColumnUse::Labels)),
        ..options.clone()
    };
    let roles = Roles::new(&columns, &is_target, &is_words_made, false, &counted)?;
    let n_values = columns.len();
    let mut parts = assemble(&columns, &roles, options, |row| reader.read_row(n_values, row))?;
    let Finished {
        ids,
        integer_ids,
        categories,
        dates,
        texts,
        labels,
    } = reader.finish(options)?;
    // By column of the file, the first column of the rows that is made of it.
    let first_of = names.iter().scan(0, |end, made| {
        let first = *end;
        *end += made.len();
        Some(first)
    });
    let first_of: Vec<usize> = first_of.collect();
    for (file_column, categories) in categories {
        let column = first_of[file_column];
        let values = match is_words[file_column] {
            true => categories.words().into(),
            false => categories.sort(&mut parts.features, roles.columns[column].index as usize),
        };
        if !values.is_empty() {
            columns[column].kind = AttributeKind::Nominal(values);
        }
    }
    // Nobody can subtract a constant from the days of a date, and its other parts tell the dates of a short time apart.
    let parts_of_dates: BTreeSet<String> = dates.values().flat_map(DateColumn::feature_names).collect();
    let is_kept = |rounded: &Rounded| {
        rounded.rounding != Rounding::Differences || !parts_of_dates.contains(&rounded.column)
    };
    parts.rounded.retain(is_kept);
    let dates = dates.into_iter();
    let dates = dates.map(|(j, column)| (roles.columns[first_of[j]].index as usize, column));
    let mut data = dataset(columns, &roles, parts, options)?.with_dates(dates.collect());
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
    data.notes.integer_ids = integer_ids;
    if let Some(ids) = ids {
        data.notes.id_column.clone_from(&options.id);
        data = data.with_ids(ids).map_err(ReadErrorKind::from)?;
    }
    Ok(data)
}

/// Refuses targets that are neither numbers nor words.
fn check_targets(columns: &[Attribute], is_target: &[bool], uses: &[ColumnUse]) -> Result<(), ReadErrorKind> {
    let targets = columns.iter().zip(uses).zip(is_target);
    for ((column, found), _) in targets.filter(|(_, is_target)| **is_target) {
        let found = match found {
            ColumnUse::Value(ColumnType::Date | ColumnType::DateTime) => "dates",
            ColumnUse::Value(ColumnType::Text) => "texts",
            _ => continue,
        };
        return Err(ReadErrorKind::WrongTarget {
            name: column.name.clone(),
            found: format!("a column of {found}"),
            expected: VALUE,
        });
    }
    Ok(())
}
