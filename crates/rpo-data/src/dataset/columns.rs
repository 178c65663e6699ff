//! The names and kinds of columns.

use super::{Dataset, DatasetError, check_range};
use crate::names::Names;
use rpo_core::{MatrixView, Mismatch};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A group of columns of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// The features.
    Features,
    /// The outputs.
    Outputs,
}

impl Dataset {
    /// Sets the names of features or outputs. The terms of a text, and the parts of a date, become plain numbers if
    /// their names change.
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`], [`DatasetError::DuplicateName`].
    pub fn with_names(mut self, of: Columns, names: Names) -> Result<Self, DatasetError> {
        match of {
            Columns::Features => {
                check_names("feature", &names, self.n_features())?;
                self.texts
                    .retain(|&first, column| names.are_at(first, column.feature_names()));
                self.dates
                    .retain(|&first, column| names.are_at(first, column.feature_names()));
                self.feature_names = names;
            }
            Columns::Outputs => {
                check_names("output", &names, self.n_outputs())?;
                self.output_names = names;
            }
        }
        Ok(self)
    }

    /// Declares the nominal features and their values; all other features are numeric.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`] for a feature that does not exist, [`DatasetError::NoValues`] for a feature with an
    /// empty list, [`DatasetError::NotAPosition`] for a value that is not a position in the feature's list.
    pub fn with_nominal(mut self, nominal: BTreeMap<usize, Arc<[String]>>) -> Result<Self, DatasetError> {
        if let Some((&index, _)) = nominal.last_key_value() {
            check_range("feature", &[index], self.n_features())?;
            if let Some((&j, _)) = nominal.iter().find(|(_, values)| values.is_empty()) {
                return Err(DatasetError::NoValues(j));
            }
            check_positions(self.features.view(), &nominal)?;
        }
        self.nominal = nominal;
        Ok(self)
    }
}

/// Refuses values of nominal features that are neither positions in the feature's list nor missing. A feature that there
/// is no column for has no values.
///
/// # Errors
/// [`DatasetError::NotAPosition`] with the first such value.
pub fn check_positions(
    features: MatrixView<'_>,
    nominal: &BTreeMap<usize, Arc<[String]>>,
) -> Result<(), DatasetError> {
    if nominal.is_empty() {
        return Ok(());
    }
    let mut limits = vec![f32::INFINITY; features.n_cols()];
    for (&j, values) in nominal {
        if let Some(limit) = limits.get_mut(j) {
            *limit = values.len() as f32;
        }
    }
    let found = features.find(|j, v| {
        limits[j].is_finite() && !(v.is_nan() || (v >= 0.0 && v < limits[j] && v.fract() == 0.0))
    });
    found.map_or(Ok(()), |(sample, feature, value)| {
        Err(DatasetError::NotAPosition {
            sample,
            feature,
            value,
            n_values: nominal[&feature].len(),
        })
    })
}

pub(super) fn check_names(what: &'static str, names: &Names, columns: usize) -> Result<(), DatasetError> {
    let names_of = match what {
        "feature" => "feature names",
        _ => "output names",
    };
    Mismatch::check(names_of, columns, names.len())?;
    names.duplicate().map_or(Ok(()), |name| {
        let name = name.to_owned();
        Err(DatasetError::DuplicateName { what, name })
    })
}
