//! Regularized least squares for many targets, on features that are read row by row and never copied.
//!
//! Targets are given as a product of a sparse matrix and a thin one, in panels of [`LANES`] columns
//! ([`panel_product`]). That product is the one kernel behind everything that is learned from sparse features and
//! outputs.

mod cholesky;
mod conjugate_gradients;
mod coordinates;
mod design;
mod gram;
mod moments;
mod panel;
mod penalty;
mod ridge;
mod rows;

pub use cholesky::{Cholesky, System};
pub use coordinates::Coordinates;
pub use design::Design;
pub(crate) use gram::gram;
pub use moments::Moments;
pub(crate) use panel::by_panels;
pub use panel::{LANES, Lanes, identity_panel, panel_product};
pub use penalty::{Penalty, PenaltyDiagonal};
pub use ridge::{Ridge, RidgeSolver};
pub use rows::Rows;
