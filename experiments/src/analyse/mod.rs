//! What the finished cells say: means and deviations, mean ranks with tests of significance, and claims.

pub(crate) mod claims;
pub(crate) mod ranks;
pub(crate) mod results;

use crate::describe::Description;
use crate::plan::Plan;
use crate::run::Store;
use claims::Claim;
use ranks::Ranks;
use results::Results;

/// An experiment as far as its cells are finished.
pub(crate) struct Analysis<'a> {
    pub(crate) results: Results<'a>,
    /// Mean ranks over the data sets, by each metric that has some.
    pub(crate) ranks: Vec<Ranks>,
    /// The claims and whether they are supported.
    pub(crate) claims: Vec<Claim>,
}

impl<'a> Analysis<'a> {
    /// Analyses what a store has of a plan.
    pub(crate) fn new(description: &'a Description, plan: &'a Plan, store: &Store) -> Self {
        let results = Results::new(description, plan, store);
        Self {
            ranks: Ranks::all(&results),
            claims: claims::check(&results),
            results,
        }
    }
}
