//! Synthetic data sets: regression problems with a known best prediction, and multi-label sets of any shape.
//!
//! Each sample draws from its own random stream, so that a set depends on its parameters and the [`Seed`] alone, for
//! any number of threads. If two sets differ only in the number of samples, the smaller one is the start of the larger
//! one (except for permuted outputs).

mod draw;
mod friedman;
mod multi_label;
mod topics;

pub use friedman::{Friedman, FriedmanKind};
pub use multi_label::{FeatureStyle, MultiLabelSet};

use crate::dataset::{Dataset, DatasetError};
use rpo_core::{DEFAULT_MEMORY_LIMIT, MemoryLimit, ParameterError, Seed};

/// Parameters from which sets can be drawn.
pub trait Generator {
    /// Draws a set that depends on the parameters and the seed alone.
    ///
    /// # Errors
    /// [`GenerateError`] for parameters that are out of range or have no effect, and for a set of more than 4 GiB.
    fn generate(&self, seed: Seed) -> Result<Dataset, GenerateError>;
}

/// The reason why a set cannot be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A parameter that is out of range or has no effect.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A set of more than 4 GiB.
    #[error(transparent)]
    Memory(#[from] MemoryLimit),
    /// Values drawn with extreme parameters that do not make a valid data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// Refuses a set that exceeds the memory limit.
fn check_memory(bytes: f64) -> Result<(), GenerateError> {
    Ok(MemoryLimit::check(
        bytes as usize,
        DEFAULT_MEMORY_LIMIT,
        || "the set",
    )?)
}

/// Number of bytes of a dense matrix.
fn dense_bytes(rows: usize, columns: usize) -> f64 {
    rows as f64 * columns as f64 * size_of::<f32>() as f64
}
