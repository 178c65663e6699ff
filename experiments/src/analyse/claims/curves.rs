//! Claims about methods that have values along the axis.

use super::Case;
use crate::analyse::results::Results;
use crate::describe::Reaches;
use crate::describe::measures;
use crate::plan::PlannedSet;

pub(super) fn reached(
    reaches: &Reaches,
    results: &Results<'_>,
    dataset: usize,
    set: &PlannedSet,
) -> Option<Case> {
    let description = results.description;
    let measure = reaches.of.get_ref();
    let cost = |column| results.summary(dataset, column, measure).map(|s| s.mean);
    let place = |column: usize| results.plan.columns[column].value.clone().unwrap_or_default();
    let (goal, score) = best(results, dataset, reaches.best_of.get_ref())?;
    let curve = curve(results, dataset, reaches.curve.get_ref());
    let own_best = best(results, dataset, reaches.curve.get_ref())?;
    let higher = description.higher_is_better(description.score());
    let first = curve
        .into_iter()
        .find(|&(_, mean)| if higher { mean >= score } else { mean <= score });
    let goal_text = format!("{score:.3} of {} at {}", reaches.best_of.get_ref(), place(goal));
    let Some((first, mean)) = first else {
        return Some(Case {
            holds: false,
            figures: format!(
                "{} ({goal_text} is not reached: {:.3} at best)",
                set.name, own_best.1
            ),
        });
    };
    let ratio = cost(goal)? / cost(first)?;
    Some(Case {
        holds: ratio >= reaches.times,
        figures: format!(
            "{} ({goal_text}; {mean:.3} at {}, {}: {ratio:.1} times less)",
            set.name,
            place(first),
            measures::label(measure),
        ),
    })
}

/// The columns of a curve with their mean scores, in the order of the axis.
fn curve(results: &Results<'_>, dataset: usize, id: &str) -> Vec<(usize, f64)> {
    let (description, plan) = (results.description, results.plan);
    let of_method = |&column: &usize| description.methods[plan.columns[column].method].id.get_ref() == id;
    let mut columns: Vec<usize> = (0..plan.columns.len()).filter(of_method).collect();
    let position = |column: usize| plan.position(description, dataset, column).unwrap_or(f64::NAN);
    columns.sort_by(|&a, &b| position(a).total_cmp(&position(b)));
    let scored = columns.into_iter().filter_map(|column| {
        let score = results.summary(dataset, column, description.score())?;
        Some((column, score.mean))
    });
    scored.collect()
}

/// The best column of a curve, or the first of equal ones, and its mean score.
pub(super) fn best(results: &Results<'_>, dataset: usize, id: &str) -> Option<(usize, f64)> {
    let higher = results.description.higher_is_better(results.description.score());
    let sign = if higher { 1.0 } else { -1.0 };
    let better = |a: (usize, f64), b: (usize, f64)| if sign * b.1 > sign * a.1 { b } else { a };
    curve(results, dataset, id).into_iter().reduce(better)
}
