//! Random families: their maps depend on the seed and the sizes alone.

mod choice;
mod gaussian;
mod hadamard;
mod hashing;
mod identity;
mod rademacher;
mod subsample;

pub use gaussian::Gaussian;
pub use hadamard::Hadamard;
pub use hashing::{Hashing, HashingMap};
pub use identity::Identity;
pub use rademacher::Rademacher;
pub use subsample::Subsample;
