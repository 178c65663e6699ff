//! Transforms that are fitted on one set and applied to any other with the same columns.
//!
//! Fit on the training set alone and apply to the training and the test set. Only a [`Filter`] is fitted on the full
//! data in the protocol of Daniels and Metaxas (2017, *Experiments and Results*).
//!
//! [`Steps`] fits text weights, the encoding of nominal features, imputation, standardization and feature weights in
//! sequence; the resulting [`Pipeline`] applies them to sets and to plain matrices.
//!
//! ```
//! use ndarray::array;
//! use rpo_data::preprocess::{Fill, Standardize, Steps, Transform};
//! use rpo_data::{Dataset, Task};
//! let set = |x: [[f32; 1]; 3]| Dataset::new(array![x[0], x[1], x[2]].into(), array![[0.], [1.], [1.]].into(), Task::MultiLabel);
//! let train = set([[1.0], [f32::NAN], [3.0]])?;
//! let steps = Steps { impute: Some(Fill::Median), standardize: Standardize::All, ..Steps::default() };
//! let pipeline = steps.fit(&train)?; // of 1, 2, 3
//! let test = pipeline.apply(&set([[2.0], [f32::NAN], [2.0]])?)?;
//! assert_eq!(test.features(), &array![[0.0], [0.0], [0.0]].into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod expansion;
mod filter;
mod impute;
mod kinds;
mod moments;
mod occurring;
mod one_hot;
mod pipeline;
mod scale;
mod standardize;
mod standardize_targets;
mod step;
mod steps;
mod target_encoding;
mod text_weights;

pub use filter::{ColumnFilter, Filter, Scope};
pub use impute::Fill;
pub use pipeline::Pipeline;
pub use scale::{FeatureWeights, Normalization};
pub use standardize::Standardize;
pub use standardize_targets::Standardizer;
pub use steps::{Encoding, Steps};
pub use target_encoding::EncodingTargets;
pub use text_weights::TextWeighting;

use crate::builder::MatrixBuilder;
use crate::dataset::{Dataset, DatasetError, Task};
use crate::text::Texts;
use rpo_core::{Matrix, MatrixError, MatrixView, MemoryLimit, Mismatch, ParameterError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A fitted transform.
pub trait Transform {
    /// Returns the transformed set. Samples keep their order.
    ///
    /// # Errors
    /// [`PreprocessError`] if the columns of the set are not those that the transform was fitted on.
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError>;
}

/// The reason why a transform cannot be fitted or applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PreprocessError {
    /// A set without samples to fit on.
    #[error("a transform cannot be fitted on a set without samples")]
    NoSamples,
    /// A number of columns that differs from the one the transform was fitted on.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A feature, by its index, whose kind or list of values differs from the one the transform was fitted on.
    #[error("feature {0} is not declared as it was when the transform was fitted")]
    Kind(usize),
    /// A value that cannot fill a feature.
    #[error("{value} cannot fill feature {feature}")]
    Fill {
        /// The feature.
        feature: usize,
        /// The value.
        value: f32,
    },
    /// A mean, factor or weight that is not finite, or a factor or weight that is negative.
    #[error("{value} is not a valid mean, factor or weight of feature {feature}")]
    Moment {
        /// The feature.
        feature: usize,
        /// The value.
        value: f64,
    },
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Targets of the wrong task.
    #[error("the outputs are {found:?}, but the transform was fitted to {expected:?}")]
    Task {
        /// The task of the transform.
        expected: Task,
        /// The task of the set.
        found: Task,
    },
    /// A result that exceeds the memory limit.
    #[error(transparent)]
    Memory(#[from] MatrixError),
    /// Dense features with indicators that exceed the memory limit.
    #[error(
        "{0}: make the features sparse, or set `nominal` = target, which makes few columns of a category"
    )]
    Indicators(MemoryLimit),
    /// Standardized features that exceed the memory limit.
    #[error("{0}: set `standardize` = false, which leaves sparse features sparse")]
    Standardized(MemoryLimit),
    /// A result that is not a valid data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl PreprocessError {
    /// The sample that the error names, if any. A caller that passed a part of the samples converts it to that of all.
    pub fn sample_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Dataset(e) => e.sample_mut(),
            Self::Memory(e) => e.row_mut(),
            _ => None,
        }
    }
}

fn check_samples(data: &Dataset) -> Result<(), PreprocessError> {
    if data.n_samples() == 0 {
        Err(PreprocessError::NoSamples)
    } else {
        Ok(())
    }
}

/// Returns the number of samples in which each feature is present: neither 0 nor missing.
fn count_present(data: &Dataset) -> Vec<usize> {
    let features = data.features().view();
    let mut counts = vec![0; features.n_cols()];
    for row in 0..features.n_rows() {
        features.for_each_in_row(row, |j, v| {
            counts[j as usize] += usize::from(v != 0.0 && !v.is_nan());
        });
    }
    counts
}

fn check_task(data: &Dataset, expected: Task) -> Result<(), PreprocessError> {
    let found = data.task();
    if found == expected {
        Ok(())
    } else {
        Err(PreprocessError::Task { expected, found })
    }
}

/// Nominal features with their values.
type Nominal = BTreeMap<usize, Arc<[String]>>;

/// Maps the stored values of a matrix, keeping the layout: `value` gets the row, column and value of each.
fn map_values(x: MatrixView<'_>, value: impl Fn(usize, u32, f32) -> f32) -> Matrix {
    let mut builder = match x {
        MatrixView::Dense(_) => MatrixBuilder::dense(x.n_cols()),
        MatrixView::Sparse(_) => MatrixBuilder::sparse(x.n_cols()),
    };
    for row in 0..x.n_rows() {
        x.for_each_in_row(row, |j, v| builder.push(j, value(row, j, v)));
        builder.end_row();
    }
    builder.finish()
}

/// Returns the features of texts, increasing.
fn text_features(texts: &Texts) -> impl Iterator<Item = usize> + '_ {
    let columns = texts.iter();
    columns.flat_map(|(&first, column)| first..first + column.n_features())
}

/// Returns true for a position in a list of `n_values` values.
fn is_position(value: f32, n_values: usize) -> bool {
    value >= 0.0 && value < n_values as f32 && value.fract() == 0.0
}
