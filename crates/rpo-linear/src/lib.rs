#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod checks;
mod dual;
mod embedding;
mod error;
mod expected_f1;
mod groups;
mod label_tree;
mod linear;
#[cfg(feature = "linfa")]
pub mod linfa;
mod options;
mod scores;

/// The crate of the types in the signatures of this crate: matrices, parameters, and what errors hold.
pub use rpo_core as core;
/// The crate of projections, whose error is a part of this one's.
pub use rpo_projections as projections;

/// Types of features and outputs, the observers of fits, and the interfaces of methods and models.
pub use rpo_core::{
    CheckParams, Contributions, CsrMatrix, DEFAULT_MEMORY_LIMIT, Explain, ForestLearner, InverseLink,
    Learner, Matrix, MatrixView, Merge, Observers, Predictor,
};
/// Types of parameter values.
pub use rpo_projections::{Penalty, Rank, SpectralLaw};

pub use dual::{MarginLoss, Precision};
pub use embedding::{
    EmbeddingMode, FeatureMap, History, LabelEmbeddingModel, LabelEmbeddingParams, LinkLoss,
};
pub use error::LinearError;
pub use expected_f1::{Prevalence, f1_decisions};
pub use label_tree::{LabelForest, LabelTree, LabelTreeParams};
pub use linear::{LinearModel, LogisticRegressionParams, OneVsRestParams, RidgeParams, RowNorm};
pub use options::{ClassifierOptions, FitEstimate, LabelEmbeddingOptions, RegressionOptions};
