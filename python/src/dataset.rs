//! Data sets from arrays and from files.

use crate::error::{os_error, value_error};
use crate::matrix::{Borrowed, Handed, hand};
use crate::threads;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rpo::core::{MatrixError, Seed};
use rpo::data::read::{ReadErrorKind, ReadOptions, read};
use rpo::data::split::stratified_partitions;
use rpo::data::{ClassColumn, Columns, DatasetError, Names, Task};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Samples with features and outputs, their names and kinds, weights and groups.
#[pyclass(frozen, module = "rpo._native")]
pub(crate) struct Dataset(pub(crate) Arc<rpo::data::Dataset>);

#[pymethods]
impl Dataset {
    /// Creates a set from arrays, which are copied: a fit keeps them while the caller may change its own.
    #[staticmethod]
    #[pyo3(signature = (x, y, *, labels, missing_outputs=false, feature_names=None, output_names=None, class_columns=None, nominal=None, weights=None, cell_weights=None, groups=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn from_arrays(
        py: Python<'_>,
        x: Borrowed<'_>,
        y: Borrowed<'_>,
        labels: bool,
        missing_outputs: bool,
        feature_names: Option<Vec<String>>,
        output_names: Option<Vec<String>>,
        class_columns: Option<Vec<(String, usize, Vec<String>)>>,
        nominal: Option<BTreeMap<usize, Vec<String>>>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        cell_weights: Option<PyReadonlyArray2<'_, f32>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Self> {
        let (x, y) = (x.view()?, y.view()?);
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let cells = cell_weights.map(|cells| cells.as_array().to_owned());
        let groups = groups.map(|groups| groups.as_array().to_vec());
        let task = if labels {
            Task::MultiLabel
        } else {
            Task::Regression
        };
        let of = match missing_outputs {
            true => rpo::data::Dataset::with_missing,
            false => rpo::data::Dataset::new,
        };
        let data = py
            .detach(move || of(x.to_owned(), y.to_owned(), task))
            .map_err(|error| value_error(named(&error, feature_names.as_deref(), output_names.as_deref())))?;
        let complete = move || {
            let mut data = data;
            if let Some(names) = feature_names {
                data = data.with_names(Columns::Features, Names::Given(names))?;
            }
            if let Some(names) = output_names {
                data = data.with_names(Columns::Outputs, Names::Given(names))?;
            }
            if let Some(columns) = class_columns {
                let of = |(name, first, classes)| ClassColumn { name, first, classes };
                data = data.with_class_columns(columns.into_iter().map(of).collect())?;
            }
            if let Some(nominal) = nominal {
                // A category without an observed value is a feature that is always missing.
                let nominal = nominal.into_iter().filter(|(_, values)| !values.is_empty());
                let nominal = nominal.map(|(j, values)| (j, values.into()));
                data = data.with_nominal(nominal.collect())?;
            }
            if let Some(weights) = weights {
                data = data.with_weights(weights)?;
            }
            if let Some(cells) = cells {
                data = data.with_weights(cells)?;
            }
            match groups {
                None => Ok(data),
                Some(groups) => data.with_groups(groups),
            }
        };
        let data = py
            .detach(complete)
            .map_err(|error: DatasetError| value_error(error))?;
        Ok(Self(Arc::new(data)))
    }

    /// Reads a file, with the reading options of the crate as JSON.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, options: &str) -> PyResult<Self> {
        let options: ReadOptions = serde_json::from_str(options).map_err(value_error)?;
        let data = py.detach(|| read(&path, &options));
        let data = data.map_err(|error| match error.kind {
            ReadErrorKind::Io { kind, .. } => os_error(kind, error),
            _ => value_error(error),
        })?;
        Ok(Self(Arc::new(data)))
    }

    /// Features (n x p).
    fn features<'py>(&self, py: Python<'py>) -> Handed<'py> {
        hand(py, self.0.features().clone())
    }

    /// Outputs (n x d).
    fn outputs<'py>(&self, py: Python<'py>) -> Handed<'py> {
        hand(py, self.0.outputs().clone())
    }

    /// Names of the features; `None` if they are numbered.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        given(self.0.feature_names())
    }

    /// Names of the outputs; `None` if they are numbered.
    #[getter]
    fn output_names(&self) -> Option<Vec<String>> {
        given(self.0.output_names())
    }

    /// The values of nominal features by column.
    #[getter]
    fn nominal(&self) -> BTreeMap<usize, Vec<String>> {
        let all = self.0.nominal().iter();
        all.map(|(&j, values)| (j, values.to_vec())).collect()
    }

    /// True if the outputs are labels.
    #[getter]
    fn is_multilabel(&self) -> bool {
        self.0.task() == Task::MultiLabel
    }

    /// The name of the set.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The figures that describe the set, as a JSON list of names and values.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let pool = threads::pool(0)?;
        let summary = || json!(self.0.summary(&self.0.label_statistics())).to_string();
        Ok(py.detach(|| pool.install(summary)))
    }

    /// Numbers of samples, features and outputs.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        (self.0.n_samples(), self.0.n_features(), self.0.n_outputs())
    }
}

/// The message of an error, with the name of the column that it counts, if columns have names.
fn named(error: &DatasetError, features: Option<&[String]>, outputs: Option<&[String]>) -> String {
    let (names, column) = match error {
        DatasetError::InfiniteFeature { feature, .. } => (features, *feature),
        DatasetError::NotALabel { output, .. } => (outputs, *output),
        DatasetError::Output(MatrixError::NonFinite { column, .. }) => (outputs, *column),
        _ => (None, 0),
    };
    match names.and_then(|names| names.get(column)) {
        Some(name) => format!("{error} (column {name:?})"),
        None => error.to_string(),
    }
}

/// The names; `None` for numbered columns.
pub(crate) fn given(names: &Names) -> Option<Vec<String>> {
    match names {
        Names::Given(names) => Some(names.clone()),
        Names::Numbered(_) => None,
    }
}

/// Returns the samples of each of k folds that keep the frequency of every label.
#[pyfunction]
pub(crate) fn stratified_folds<'py>(
    py: Python<'py>,
    y: Borrowed<'py>,
    k: usize,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyArray1<usize>>>> {
    let y = y.view()?;
    let folds = py.detach(|| stratified_partitions(y, &vec![1.0; k], Seed::new(seed)));
    let folds = folds.map_err(value_error)?;
    Ok(folds.into_iter().map(|fold| fold.into_pyarray(py)).collect())
}
