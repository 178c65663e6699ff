//! Analyses finished cells: means and deviations, mean ranks with significance tests, and claims.

pub(crate) mod claims;
pub(crate) mod ranks;
pub(crate) mod results;

use crate::describe::Description;
use crate::plan::Plan;
use crate::run::Store;
use claims::Claim;
use ranks::Ranks;
use results::Results;

/// The results of an experiment, from the cells that are finished.
pub(crate) struct Analysis<'a> {
    pub(crate) results: Results<'a>,
    /// Mean ranks over the data sets, for each metric that can be ranked.
    pub(crate) ranks: Vec<Ranks>,
    /// The claims, with the outcomes of their checks.
    pub(crate) claims: Vec<Claim>,
}

impl<'a> Analysis<'a> {
    /// Analyses the finished cells of a plan in a store.
    pub(crate) fn new(description: &'a Description, plan: &'a Plan, store: &Store) -> Self {
        let results = Results::new(description, plan, store);
        Self {
            ranks: Ranks::all(&results),
            claims: claims::check(&results),
            results,
        }
    }
}
