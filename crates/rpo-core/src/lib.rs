#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod contributions;
mod inverse_link;
mod learner;
pub mod math;
mod matrix;
mod parameter;
mod predictor;
mod propensity;
mod resources;
mod seed;
pub mod store;
pub mod text;
mod top;
mod units;
mod vectorized;
mod weights;

/// The dense arrays in the signatures of this crate, in the same version.
pub use ndarray;
/// The sparse matrices in the signatures of this crate, in the same version.
pub use sprs;
/// The generators of random numbers that [`Seed`] returns, and the traits that draw from them, in the same versions.
pub use {rand, rand_chacha};
/// The texts and schemas of parameters in the signatures of the crates above, in the same versions.
pub use {schemars, serde_json};

pub use contributions::{Contributions, Explain, check_explained};
pub use inverse_link::{InverseLink, is_probability};
pub use learner::{ForestLearner, Learner, Merge, Observers};
pub use matrix::{
    CsrMatrix, CsrView, Fused, Matrix, MatrixError, MatrixView, NotCsr, check_dense, csr_row,
    finite_or_missing, product, product_into,
};
pub use parameter::{CheckParams, Domain, Mismatch, Number, ParameterError, TooFew};
pub use predictor::{Apply, DEFAULT_MEMORY_LIMIT, FeatureImportances, Predictor, TreeEnsemble};
pub use propensity::Propensity;
pub use resources::{MemoryLimit, useful_threads};
pub use seed::{Seed, StreamRng};
pub use top::{best_first, best_of, csr_of_rows, keep_top, top_of, top_of_pairs};
pub use units::{Spread, measurements};
pub use vectorized::vectorized;
pub use weights::{WeightError, WideSum};
