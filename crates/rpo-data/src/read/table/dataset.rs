//! Makes a data set of features, outputs and the columns that they come from.

use super::assemble::Parts;
use super::outputs::{Outputs, Target};
use super::roles::Roles;
use crate::dataset::{Columns, Dataset, Task};
use crate::names::Names;
use crate::read::arff::{Attribute, AttributeKind};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::{Missing, ReadOptions};
use rpo_core::Mismatch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Creates the data set.
pub(super) fn dataset(
    columns: Vec<Attribute>,
    roles: &Roles,
    parts: Parts,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let new = if options.missing_outputs == Some(Missing::Keep) {
        Dataset::with_missing
    } else {
        Dataset::new
    };
    let names = ColumnNames::new(columns, roles, options);
    let are_numbers = options.task == Some(Task::Regression);
    let outputs = Outputs::new(parts.outputs, names.targets, parts.task, are_numbers);
    if !outputs.class_columns.is_empty()
        && let Some(asked) = options.n_outputs
    {
        Mismatch::check("outputs", asked, outputs.names.len()).map_err(ReadErrorKind::from)?;
    }
    let data = new(parts.features, outputs.values, parts.task)
        .and_then(|data| data.with_names(Columns::Features, Names::Given(names.features)))
        .and_then(|data| data.with_names(Columns::Outputs, Names::Given(outputs.names)))
        .and_then(|data| data.with_class_columns(outputs.class_columns))
        .and_then(|data| data.with_nominal(names.nominal));
    let mut data = data.map_err(ReadErrorKind::from)?;
    data.missing_values.clone_from(&options.missing_values);
    data.notes.rounded = parts.rounded;
    data.notes.other_labels = outputs.others;
    Ok(data.with_labels_beside(outputs.labels_beside))
}

/// The names of features and targets, and the values of those that are words.
struct ColumnNames {
    features: Vec<String>,
    targets: Vec<(String, Target)>,
    nominal: BTreeMap<usize, Arc<[String]>>,
}

impl ColumnNames {
    fn new(columns: Vec<Attribute>, roles: &Roles, options: &ReadOptions) -> Self {
        let mut names = Self {
            features: Vec::with_capacity(roles.n_features),
            targets: Vec::with_capacity(roles.n_outputs),
            nominal: BTreeMap::new(),
        };
        for (column, role) in columns.into_iter().zip(&roles.columns) {
            match (role.output, column.kind) {
                (true, AttributeKind::Nominal(words)) if role.words => {
                    let known = options.class_columns.as_deref();
                    let target = Target::of_words(&column.name, &words, roles.typed, known);
                    names.targets.push((column.name, target));
                }
                (true, _) => names.targets.push((column.name, Target::Value)),
                (false, kind) => {
                    if let AttributeKind::Nominal(values) = kind {
                        names.nominal.insert(names.features.len(), values);
                    }
                    names.features.push(column.name);
                }
            }
        }
        names
    }
}
