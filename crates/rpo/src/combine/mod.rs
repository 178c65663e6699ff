//! Ensembles of any methods: predictions out of fold, weights of members, and the model that they make.
//!
//! A pool holds the members that may become part of an ensemble, with models of each that some samples were withheld
//! from. Their predictions for those samples, a block at a time, give the members' inner products (their Gram matrix), and these the
//! weights, by a [`CombineRule`]. What is chosen becomes an [`Ensemble`].

mod choice;
mod gram;
mod limits;
mod link;
mod model;
mod pool;
mod quantiles;
mod rules;
mod store;

pub use model::{Candidate, Ensemble, Selection};
pub use rules::CombineRule;

pub(crate) use choice::Choice;
pub(crate) use model::finite;
pub(crate) use pool::{Folds, Pool};
pub(crate) use store::restore;

use gram::Gram;
use limits::Limits;
use link::Link;
