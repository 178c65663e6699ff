//! Checks claims that compare with the published figures.

use super::{Case, show};
use crate::analyse::results::Results;
use crate::describe::{SameVerdicts, WithinPublished};
use crate::plan::{Column, PlannedSet};

pub(super) fn within_published(
    within: &WithinPublished,
    results: &Results<'_>,
    dataset: usize,
    set: &PlannedSet,
) -> Vec<Case> {
    let score = results.measure(within.of.as_ref());
    let asked = |id: &str| match &within.columns {
        None => true,
        Some(columns) => columns.iter().any(|column| column.get_ref() == id),
    };
    let columns = results.plan.columns.iter().enumerate();
    let case = |(column, method): (usize, &Column)| {
        let here = results.summary(dataset, column, score)?;
        let print = results.published(dataset, column, score)?;
        let is_better = within.or_better
            && if results.description.higher_is_better(score) {
                here.mean > print.mean
            } else {
                here.mean < print.mean
            };
        Some(Case {
            holds: is_better || here.agrees(print, within.slack),
            figures: format!(
                "{}, {} ({}, published {})",
                set.name,
                method.label,
                show(here),
                show(print)
            ),
        })
    };
    columns
        .filter(|(_, column)| asked(&column.id))
        .filter_map(case)
        .collect()
}

pub(super) fn same_verdict(
    same: &SameVerdicts,
    results: &Results<'_>,
    dataset: usize,
    set: &PlannedSet,
) -> Option<Case> {
    let column = results.column(same.column.get_ref())?;
    let (here, print) = results.verdicts(dataset, column, results.description.score());
    let (here, print) = here.zip(print)?;
    let word = |differs: bool| if differs { "differs" } else { "the same" };
    Some(Case {
        holds: here == print,
        figures: format!("{} ({} here, {} in print)", set.name, word(here), word(print)),
    })
}
