//! Ensembles of arbitrary methods: out-of-fold predictions, weights of members, and the resulting model.
//!
//! A pool holds the candidate members, each with models that were fitted without some withheld samples. Their
//! predictions for those samples, computed block by block, give the members' inner products (their Gram matrix), from
//! which a [`CombineRule`] finds the weights. The chosen members become an [`Ensemble`].

mod choice;
mod gram;
mod grams;
mod limits;
mod link;
mod model;
mod pool;
mod quantiles;
mod rules;
mod scoring;
mod stack;
mod store;
mod weight;

pub use model::{Candidate, Ensemble, Selection};
pub use rules::CombineRule;

pub(crate) use choice::{Choice, Chooser};
pub(crate) use model::finite;
pub(crate) use pool::{Pool, Splits};
pub(crate) use store::restore;
pub(crate) use weight::Weight;

use gram::Gram;
use grams::Grams;
use limits::Limits;
use link::Link;
