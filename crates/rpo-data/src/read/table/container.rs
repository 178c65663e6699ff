//! Tables in files with typed columns.

use super::numeric;
use super::stored_as_text::stored_as_text;
use super::targets::target_columns_among;
use super::typed::read_typed;
use crate::dataset::{Dataset, IntegerIds};
use crate::read::arff::Attribute;
use crate::read::columns::{ColumnUse, check_unique, declared, untyped};
use crate::read::container::{self, Container};
use crate::read::error::ReadError;
use crate::read::options::ReadOptions;
use std::collections::BTreeSet;

/// Reads a file with typed columns, except for those that hold the index of a data frame.
pub(in crate::read) fn read_container(
    container: Box<dyn Container>,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let column_names = container::names(container.schema());
    let columns: Vec<Attribute> = column_names.iter().map(numeric).collect();
    let is_index = container::is_index(container.schema())
        .into_iter()
        .zip(&column_names);
    let is_index = is_index.map(|(is_index, name)| is_index && !options.name_target(name));
    let is_index: Vec<bool> = is_index.collect();
    let is_target = target_columns_among(&columns, &is_index, options)?;
    let mut declared = declared(&column_names, &is_target, options)?;
    let mut index_columns = Vec::new();
    for (j, name) in column_names.iter().enumerate() {
        let is_left_out = is_index[j] && !options.name_column(name);
        if is_left_out && declared[j].replace(ColumnUse::Ignored) != Some(ColumnUse::Ignored) {
            index_columns.push(name.clone());
        }
    }
    check_unique(&column_names, &declared)?;
    let uses = container::uses(container.schema(), &declared)?;
    let is_text = container::are_texts(container.schema());
    let has_unsigned_ids = container::has_unsigned_ids(container.schema(), &uses);
    let rows = container::rows(container, &uses, options.memory_limit);
    let mut data = read_typed(rows, &columns, &is_target, &uses, options).map_err(ReadError::of_row)?;
    let texts = column_names.iter().zip(is_text).zip(&declared);
    let texts = texts.filter(|((_, is_text), declared)| *is_text && declared.is_none());
    let texts: BTreeSet<&str> = texts.map(|((name, _), _)| name.as_str()).collect();
    let categories = data.nominal().iter();
    let stored = categories.filter_map(|(&feature, values)| {
        let name = data.feature_names().get(feature)?;
        texts.contains(&*name).then(|| stored_as_text(&name, values))?
    });
    data.notes.stored_as_text = stored.collect();
    data.notes.index_columns = index_columns;
    if has_unsigned_ids {
        data.notes.integer_ids = Some(IntegerIds::Unsigned);
    }
    data.notes.untyped_columns = untyped(&column_names, &declared, options);
    Ok(data)
}
