#![doc = include_str!("../README.md")]

mod baseline;
mod checks;
mod decide;
mod descent;
mod error;
mod features;
mod fit;
mod loss;
mod model;
mod normal;
mod params;
mod scores;
mod source;
mod store;

/// What features and outputs come in.
pub use rpo_core::{CsrMatrix, Matrix, MatrixView};
/// What parameters are made of: penalties and solvers of least squares, the embedding, kernels.
pub use rpo_projections::linalg::{Penalty, RidgeSolver};
pub use rpo_projections::{LabelEmbedding, RandomFeatures, Rank, SpectralLaw};

pub use baseline::{LinearModel, LogisticParams, RidgeParams};
pub use decide::{Prevalence, f1_decisions, most_expected_f1};
pub use error::LinearError;
pub use features::FeatureMap;
pub use fit::FitLog;
pub use loss::Response;
pub use model::{DEFAULT_BUDGET, LinkModel};
pub use params::{Descent, Fit, Inputs, Link, LinkParams, ValidLinkParams};
