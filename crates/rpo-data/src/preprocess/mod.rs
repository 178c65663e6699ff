//! Transforms fitted on one set and applied to any other with the same columns.
//!
//! Fit on the training part alone and apply to both parts; only [`LabelFilter`] and [`FeatureFilter`] are, in
//! the protocol of Daniels and Metaxas (2017, section 4), fitted on the full data.
//!
//! ```
//! use ndarray::array;
//! use rpo_data::preprocess::{Fill, Imputer, Standardizer, Transform};
//! use rpo_data::{Dataset, Task};
//! let set = |x: [[f32; 1]; 3]| Dataset::new(array![x[0], x[1], x[2]].into(), array![[0.], [1.], [1.]].into(), Task::MultiLabel);
//! let train = set([[1.0], [f32::NAN], [3.0]])?;
//! let imputer = Imputer::fit(&train, Fill::Median)?;
//! let train = imputer.apply(&train)?; // 1, 2, 3
//! let standardizer = Standardizer::of_features(&train)?;
//! let test = standardizer.apply(&imputer.apply(&set([[2.0], [f32::NAN], [2.0]])?)?)?;
//! assert_eq!(test.features(), &array![[0.0], [0.0], [0.0]].into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Steps`] fits imputation, indicators and standardization one after the other, and the [`Pipeline`] it gives applies
//! them to sets and to plain matrices.

mod filter;
mod impute;
mod one_hot;
mod pipeline;
mod standardize;
mod store;

pub use filter::{FeatureFilter, LabelFilter, Scope};
pub use impute::{Fill, Imputer};
pub use one_hot::OneHot;
pub use pipeline::{Pipeline, Steps};
pub use standardize::Standardizer;

use crate::dataset::{Dataset, DatasetError, Task};
use rpo_core::MatrixError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A transform that has been fitted.
pub trait Transform {
    /// The set, transformed. Rows keep their order.
    ///
    /// # Errors
    /// [`PreprocessError`] if the columns of the set are not those that the transform was fitted on.
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError>;
}

/// Why a transform cannot be fitted or applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PreprocessError {
    /// No row to fit on.
    #[error("a transform cannot be fitted on a set without rows")]
    NoRows,
    /// Another number of columns than at fitting.
    #[error("the set has {found} {what}, the transform was fitted on {expected}")]
    ColumnCount {
        /// "features" or "outputs".
        what: &'static str,
        /// At fitting.
        expected: usize,
        /// Now.
        found: usize,
    },
    /// A feature whose kind or list of values is not that of fitting.
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
    /// A mean or factor of standardization that is not finite, or a factor that is negative.
    #[error("{value} is no mean or factor of feature {feature}")]
    Moment {
        /// The feature.
        feature: usize,
        /// The value.
        value: f64,
    },
    /// A share outside [0, 1].
    #[error("share {0} is not within 0 to 1")]
    Share(f64),
    /// An imbalance ratio below 1.
    #[error("imbalance ratio {0} is not 1 or more")]
    Ratio(f64),
    /// Targets of the wrong kind.
    #[error("the outputs are {found:?}, the transform is for {expected:?}")]
    Task {
        /// What it is for.
        expected: Task,
        /// What they are.
        found: Task,
    },
    /// A result that would not fit the memory budget.
    #[error(transparent)]
    Budget(#[from] MatrixError),
    /// A result that is no data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

fn check_rows(data: &Dataset) -> Result<(), PreprocessError> {
    if data.n_samples() == 0 {
        Err(PreprocessError::NoRows)
    } else {
        Ok(())
    }
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<(), PreprocessError> {
    if expected == found {
        Ok(())
    } else {
        Err(PreprocessError::ColumnCount {
            what,
            expected,
            found,
        })
    }
}

/// Nominal features and their values.
type Nominal = BTreeMap<usize, Arc<[String]>>;

/// Refuses nominal features that are beyond the number of features.
fn check_features(nominal: &Nominal, n_features: usize) -> Result<(), PreprocessError> {
    match nominal.last_key_value() {
        Some((&feature, _)) if feature >= n_features => Err(PreprocessError::Kind(feature)),
        _ => Ok(()),
    }
}

/// Whether a value is a position in a list of so many.
fn is_position(value: f32, n_values: usize) -> bool {
    value >= 0.0 && value < n_values as f32 && value.fract() == 0.0
}

/// Refuses a set whose nominal features are not those of fitting: their positions would mean other values.
fn check_nominal(expected: &Nominal, data: &Dataset) -> Result<(), PreprocessError> {
    let found = data.nominal();
    let differing = expected
        .keys()
        .chain(found.keys())
        .filter(|&j| expected.get(j) != found.get(j));
    differing.min().map_or(Ok(()), |&j| Err(PreprocessError::Kind(j)))
}
