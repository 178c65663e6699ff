//! Makes a data set of features, outputs and the columns that they come from.

use super::assemble::Parts;
use super::roles::Roles;
use crate::dataset::{Columns, Dataset};
use crate::names::Names;
use crate::read::arff::{Attribute, AttributeKind};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::{Missing, ReadOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Creates the data set.
pub(super) fn dataset(
    columns: Vec<Attribute>,
    roles: &Roles,
    parts: Parts,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    let new = if options.missing_targets == Some(Missing::Keep) {
        Dataset::with_missing
    } else {
        Dataset::new
    };
    let names = ColumnNames::new(columns, roles);
    let data = new(parts.features, parts.outputs, parts.task)
        .and_then(|data| data.with_names(Columns::Features, Names::Given(names.features)))
        .and_then(|data| data.with_names(Columns::Outputs, Names::Given(names.outputs)))
        .and_then(|data| data.with_nominal(names.nominal));
    let mut data = data.map_err(ReadErrorKind::from)?;
    data.rounded = parts.rounded;
    Ok(data)
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
