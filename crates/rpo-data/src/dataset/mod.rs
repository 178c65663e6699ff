//! The data set: features, outputs, their names and kinds.

mod class_column;
mod columns;
mod create;
mod date_column;
mod equality;
mod error;
mod groups;
mod label_column;
mod layout;
mod notes;
mod replace;
mod select;
mod task;
mod weights;

pub use class_column::{ClassColumn, TargetOutputs};
pub use columns::{Columns, check_positions};
pub use date_column::DateColumn;
pub use error::DatasetError;
pub use label_column::LabelColumn;
pub(crate) use layout::is_sparse;
pub use layout::{AUTO_DENSITY, Layout};
pub(crate) use notes::IntegerTypes;
pub use notes::{Code, EmptyLines, IntegerIds, LeftOut, ReadNotes, Rounded, Rounding, StoredAsText};
pub use task::Task;
pub use weights::Weighting;

use crate::names::Names;
use crate::read::FirstFeature;
use crate::text::{TextColumn, Texts};
use rpo_core::Matrix;
use std::collections::BTreeMap;
use std::sync::Arc;
use weights::Weights;

/// Samples with features and outputs.
///
/// Invariants: features and outputs have the same number of samples; features are finite or NaN (missing); labels are 0
/// or 1 and stored as CSR whose stored values are all 1; regression targets are finite; a nominal feature contains
/// positions in its list of values, as `f32`.
///
/// Outputs may be missing only in a set created by [`Dataset::with_missing`]. A missing output is NaN; among labels it
/// is a stored NaN, as labels that are not stored are 0. Missing outputs are ignored in statistics, splits, training
/// and metrics.
///
/// ```
/// use ndarray::array;
/// use rpo_data::{Dataset, Task};
/// let data = Dataset::new(
///     array![[0.5, 1.0], [0.1, f32::NAN]].into(), // NaN is a missing value
///     array![[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]].into(),
///     Task::MultiLabel,
/// )?;
/// assert_eq!((data.n_samples(), data.n_features(), data.n_outputs()), (2, 2, 3));
/// assert_eq!(data.label_statistics().counts, [0, 1, 2]);
/// # Ok::<(), rpo_data::DatasetError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The name of the set; empty unless given.
    pub name: String,
    /// What was noted when the set was read from a file.
    pub notes: ReadNotes,
    /// The index of the first feature in the file, if the set comes from an svmlight file.
    pub first_feature: Option<FirstFeature>,
    /// The texts that stand for missing values beside an empty field and `NA`, if the set comes from a CSV file
    /// ([`ReadOptions::missing_values`](crate::read::ReadOptions::missing_values)).
    pub missing_values: Vec<String>,
    task: Task,
    features: Matrix,
    outputs: Matrix,
    feature_names: Names,
    output_names: Names,
    label_column: Option<LabelColumn>,
    class_columns: Vec<ClassColumn>,
    /// Outputs of a set of numbers that are labels, increasing.
    labels_beside: Vec<usize>,
    nominal: BTreeMap<usize, Arc<[String]>>,
    texts: Texts,
    dates: BTreeMap<usize, DateColumn>,
    weights: Weights,
    ids: Option<Arc<[String]>>,
    groups: Option<Arc<[u32]>>,
}

impl Dataset {
    /// The kind of the outputs.
    pub fn task(&self) -> Task {
        self.task
    }

    /// Features, n_samples x n_features; NaN if missing.
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// Outputs, n_samples x n_outputs; NaN if missing, in a set created by [`with_missing`](Self::with_missing).
    pub fn outputs(&self) -> &Matrix {
        &self.outputs
    }

    /// Names of the features.
    pub fn feature_names(&self) -> &Names {
        &self.feature_names
    }

    /// Names of the outputs.
    pub fn output_names(&self) -> &Names {
        &self.output_names
    }

    /// The column that listed the labels in the file; `None` if there was none.
    pub fn label_column(&self) -> Option<&LabelColumn> {
        self.label_column.as_ref()
    }

    /// The nominal features and their values.
    pub fn nominal(&self) -> &BTreeMap<usize, Arc<[String]>> {
        &self.nominal
    }

    /// The text columns, by their first feature. From there on, a text column has one feature per term, which counts
    /// the term in the text.
    pub fn texts(&self) -> &BTreeMap<usize, Arc<TextColumn>> {
        &self.texts
    }

    /// Identifiers of the samples, if there are any ([`ReadOptions::id`](crate::read::ReadOptions::id)). Predictions
    /// are written with them.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// The name of the column of identifiers: that in the file, or `id`; `None` without identifiers.
    pub(crate) fn id_column(&self) -> Option<&str> {
        let name = self.notes.id_column.as_deref().unwrap_or("id");
        self.ids.as_ref().map(|_| name)
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.features.n_rows()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.features.n_cols()
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.n_cols()
    }

    /// Number of missing feature values.
    pub(crate) fn n_missing(&self) -> usize {
        count(&self.features, f32::is_nan)
    }

    /// Number of missing outputs.
    pub(crate) fn n_missing_outputs(&self) -> usize {
        count(&self.outputs, f32::is_nan)
    }

    /// Fraction of feature values that are not 0, including missing ones; 0 for an empty set. Stored zeros of a sparse
    /// matrix count as zeros.
    pub fn feature_density(&self) -> f64 {
        let nonzero = count(&self.features, |v| v != 0.0);
        nonzero as f64 / (self.n_samples() as f64 * self.n_features() as f64).max(1.0)
    }
}

/// Counts the stored values for which `test` returns true.
fn count(a: &Matrix, test: impl Fn(f32) -> bool) -> usize {
    match a {
        Matrix::Dense(a) => a.iter().filter(|v| test(**v)).count(),
        Matrix::Sparse(a) => a.data().iter().filter(|v| test(**v)).count(),
    }
}

fn check_range(what: &'static str, indices: &[usize], count: usize) -> Result<(), DatasetError> {
    indices
        .iter()
        .find(|&&index| index >= count)
        .map_or(Ok(()), |&index| {
            Err(DatasetError::OutOfRange { what, index, count })
        })
}

#[cfg(test)]
#[path = "../../tests/unit/dataset.rs"]
mod tests;
