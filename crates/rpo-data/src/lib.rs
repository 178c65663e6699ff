#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod builder;
mod catalogue;
mod column_sums;
mod dataset;
pub mod generate;
mod message;
mod names;
pub mod preprocess;
pub mod read;
pub mod split;
mod statistics;
mod summary;
mod suspicion;
pub mod text;
pub mod write;

/// The crate of the types in the signatures of this crate: matrices, parameters, and what errors hold.
pub use rpo_core as core;
/// Matrices of features and outputs, and seeds of splits and generators.
pub use rpo_core::{CsrMatrix, DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Seed};

pub use catalogue::{CATALOGUE_VARIABLE, Catalogue, CatalogueError, Entry, EntryFile, Loaded};
pub use dataset::{
    AUTO_DENSITY, ClassColumn, Code, Columns, Dataset, DatasetError, DateColumn, EmptyLines, IntegerIds,
    LabelColumn, Layout, LeftOut, ReadNotes, Rounded, Rounding, StoredAsText, TargetOutputs, Task, Weighting,
    check_positions,
};
pub use names::Names;
pub use statistics::{Imbalance, LabelStatistics, Moments};
pub use suspicion::{Form, Suspicion, suspicious_features};
