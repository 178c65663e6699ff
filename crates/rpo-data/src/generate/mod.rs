//! Sets to order: regression problems with a known best answer, multi-label sets of any size.
//!
//! Every sample draws from a random stream of its own, so that a set is a function of its parameters and the
//! [`Seed`](rpo_core::Seed) alone, whatever the number of threads; of two sets that differ in the number of
//! samples only, one begins with the other (but for permuted outputs).

mod friedman;
mod multi_label;
mod topics;

pub use friedman::{Friedman, FriedmanKind};
pub use multi_label::{FeatureStyle, MultiLabelSet};

use crate::dataset::{DEFAULT_DENSE_BUDGET, DatasetError};

/// Why a set cannot be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A count that must be positive or is limited.
    #[error("{parameter} is {value}; {least} to {most} expected")]
    Count {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: usize,
        /// The least possible.
        least: usize,
        /// The most possible.
        most: usize,
    },
    /// A number outside its range.
    #[error("{parameter} is {value}; {least} to {most} expected")]
    Range {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// The least possible.
        least: f64,
        /// The most possible.
        most: f64,
    },
    /// A parameter that does nothing for the kind of set asked for.
    #[error("{parameter} has no effect on this kind of set")]
    NoEffect {
        /// The parameter.
        parameter: &'static str,
    },
    /// A dense set of more than 4 GiB.
    #[error("{rows} x {columns} dense values are more than {DEFAULT_DENSE_BUDGET} bytes")]
    TooLarge {
        /// Samples.
        rows: usize,
        /// Features or outputs.
        columns: usize,
    },
    /// Drawn values that are no data set, which extreme parameters might bring about.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

fn check_count(
    parameter: &'static str,
    value: usize,
    least: usize,
    most: usize,
) -> Result<(), GenerateError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(GenerateError::Count {
            parameter,
            value,
            least,
            most,
        })
    }
}

fn check_range(parameter: &'static str, value: f64, least: f64, most: f64) -> Result<(), GenerateError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(GenerateError::Range {
            parameter,
            value,
            least,
            most,
        })
    }
}

fn check_dense(rows: usize, columns: usize) -> Result<(), GenerateError> {
    let bytes = rows
        .checked_mul(columns)
        .and_then(|n| n.checked_mul(size_of::<f32>()));
    if bytes.is_some_and(|bytes| bytes <= DEFAULT_DENSE_BUDGET) {
        Ok(())
    } else {
        Err(GenerateError::TooLarge { rows, columns })
    }
}
