//! Creates a set from checked values.

use super::weights::Weights;
use super::{Dataset, DatasetError, ReadNotes, Task};
use crate::builder::MatrixBuilder;
use crate::names::Names;
use crate::text::Texts;
use rpo_core::{Matrix, Mismatch, finite_or_missing};
use std::collections::BTreeMap;

impl Dataset {
    /// Creates a set with numbered columns and numeric features. Labels are converted to CSR.
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`], [`DatasetError::InfiniteFeature`], [`DatasetError::NotALabel`],
    /// [`DatasetError::Output`].
    pub fn new(features: Matrix, outputs: Matrix, task: Task) -> Result<Self, DatasetError> {
        Self::checked(features, outputs, task, false)
    }

    /// Like [`new`](Self::new), but outputs may be missing: NaN in any layout.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_data::{Dataset, Task};
    /// let outputs = array![[1.0, f32::NAN], [0.0, 1.0]]; // label 1 of sample 0 is missing
    /// let data = Dataset::with_missing(array![[0.5], [0.1]].into(), outputs.into(), Task::MultiLabel)?;
    /// assert!(data.outputs().view().has_missing());
    /// assert_eq!(data.label_statistics().counts, [1, 1]);
    /// # Ok::<(), rpo_data::DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`new`](Self::new), except for outputs that are NaN.
    pub fn with_missing(features: Matrix, outputs: Matrix, task: Task) -> Result<Self, DatasetError> {
        Self::checked(features, outputs, task, true)
    }

    fn checked(features: Matrix, outputs: Matrix, task: Task, missing: bool) -> Result<Self, DatasetError> {
        Mismatch::check("samples of the outputs", features.n_rows(), outputs.n_rows())?;
        let features = as_csr_or_dense(features);
        if let Some((sample, feature, value)) = features.view().find(|_, v| v.is_infinite()) {
            return Err(DatasetError::InfiniteFeature {
                sample,
                feature,
                value,
            });
        }
        let outputs = match task {
            Task::MultiLabel => label_matrix(as_csr_or_dense(outputs), missing)?,
            Task::Regression => {
                let checked = if missing {
                    outputs.view().check_values(finite_or_missing)
                } else {
                    outputs.view().check_values(f32::is_finite)
                };
                checked.map_err(DatasetError::Output)?;
                as_csr_or_dense(outputs)
            }
        };
        Ok(Self {
            name: String::new(),
            notes: ReadNotes::default(),
            task,
            feature_names: Names::Numbered(features.n_cols()),
            output_names: Names::Numbered(outputs.n_cols()),
            features,
            outputs,
            label_column: None,
            class_columns: Vec::new(),
            labels_beside: Vec::new(),
            nominal: BTreeMap::new(),
            texts: Texts::new(),
            dates: BTreeMap::new(),
            weights: Weights::default(),
            ids: None,
            groups: None,
            first_feature: None,
            missing_values: Vec::new(),
        })
    }
}

/// Converts a sparse matrix to CSR, as it may be stored by columns.
fn as_csr_or_dense(a: Matrix) -> Matrix {
    match a {
        Matrix::Sparse(a) => Matrix::from(a),
        dense @ Matrix::Dense(_) => dense,
    }
}

/// Converts labels to CSR whose stored values are all 1, or NaN if labels may be missing.
fn label_matrix(outputs: Matrix, missing: bool) -> Result<Matrix, DatasetError> {
    let is_missing = |v: f32| missing && v.is_nan();
    if let Some((sample, output, value)) = outputs.view().first_not_label(missing) {
        return Err(DatasetError::NotALabel {
            sample,
            output,
            value,
        });
    }
    if let Matrix::Sparse(a) = &outputs
        && a.data().iter().all(|&v| v == 1.0 || is_missing(v))
    {
        return Ok(outputs);
    }
    let mut builder = MatrixBuilder::sparse(outputs.n_cols());
    builder.push_rows(outputs.view());
    Ok(builder.finish())
}
