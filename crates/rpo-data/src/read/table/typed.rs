//! Tables whose columns have types.

use super::assemble::assemble;
use super::dataset::dataset;
use super::numeric;
use super::roles::Roles;
use super::task::NUMBER;
use crate::dataset::{Dataset, Task};
use crate::read::arff::{Attribute, AttributeKind};
use crate::read::columns::ColumnUse;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::{ColumnType, ReadOptions};
use crate::read::typed::{Fields, Finished, TypedReader};
use rpo_core::CheckParams;

/// What a target of a table is.
const VALUE: &str = "a target is a number or, for a label, 0 or 1";

/// Reads a table whose columns have the given uses.
pub(super) fn read_typed(
    source: impl Fields,
    columns: &[Attribute],
    is_target: &[bool],
    uses: &[ColumnUse],
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let checked = options.text.check();
    checked.map_err(|e| ReadErrorKind::Parameter(Box::new(e)))?;
    let mut reader = TypedReader::new(source, uses, is_target, options);
    check_targets(columns, is_target, uses, options.task)?;
    // By column of the file, the columns of the rows that are made of it.
    let names = reader.names();
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
    let mut parts = assemble(&columns, &roles, options, |row| reader.read_row(n_values, row))?;
    let Finished {
        ids,
        categories,
        texts,
        labels,
    } = reader.finish(options)?;
    for (file_column, categories) in categories {
        let column = names[..file_column].iter().map(Vec::len).sum::<usize>();
        let values = categories.sort(&mut parts.features, roles.columns[column].index as usize);
        if !values.is_empty() {
            columns[column].kind = AttributeKind::Nominal(values);
        }
    }
    let mut data = dataset(columns, &roles, parts, options)?;
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

/// Refuses targets that are neither numbers nor words. Words may be those of a label.
fn check_targets(
    columns: &[Attribute],
    is_target: &[bool],
    uses: &[ColumnUse],
    task: Option<Task>,
) -> Result<(), ReadErrorKind> {
    let targets = columns.iter().zip(uses).zip(is_target);
    for ((column, found), _) in targets.filter(|(_, is_target)| **is_target) {
        let (found, expected) = match found {
            ColumnUse::Value(ColumnType::Category) if task == Some(Task::Regression) => ("words", NUMBER),
            ColumnUse::Value(ColumnType::Date | ColumnType::DateTime) => ("dates", VALUE),
            ColumnUse::Value(ColumnType::Text) => ("texts", VALUE),
            _ => continue,
        };
        return Err(ReadErrorKind::WrongTarget {
            name: column.name.clone(),
            found: format!("a column of {found}"),
            expected,
        });
    }
    Ok(())
}
