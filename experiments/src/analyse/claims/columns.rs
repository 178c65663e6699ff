//! Claims that compare columns with each other.

use super::curves::best;
use super::{Case, show};
use crate::analyse::ranks::Ranks;
use crate::analyse::results::{Results, Summary};
use crate::describe::measures::p_relation;
use crate::describe::{Ahead, Compare, Relation, Significant};
use crate::plan::PlannedSet;
use rpo_stats::PairedT;
use toml::Spanned;

pub(super) fn compared(
    compare: &Compare,
    results: &Results<'_>,
    dataset: usize,
    set: &PlannedSet,
) -> Option<Case> {
    let measure = results.measure(compare.of.as_ref());
    let higher = results.description.higher_is_better(measure);
    let left = column(results, dataset, compare.left.get_ref())?;
    let right = column(results, dataset, compare.right.get_ref())?;
    let a = results.summary(dataset, left, measure)?;
    let b = results.summary(dataset, right, measure)?;
    let detail = match compare.relation {
        Relation::Ratio(low, high) => {
            let bounds = if high == f64::INFINITY {
                format!("at least {low}")
            } else {
                format!("{low} to {high}")
            };
            format!("ratio {:.3}, expected {bounds}", a.mean / b.mean)
        }
        _ => {
            let pairs = [left, right].map(|column| results.values(dataset, column, measure));
            format!(
                "{} against {}{}",
                show(a),
                show(b),
                pair_by_pair(pairs[0], pairs[1])
            )
        }
    };
    Some(Case {
        holds: holds(compare.relation, a, b, higher)?,
        figures: format!("{} ({detail})", set.name),
    })
}

/// A column by its id, or the best one, by the mean score, of a method with values along the axis.
fn column(results: &Results<'_>, dataset: usize, id: &str) -> Option<usize> {
    results
        .column(id)
        .or_else(|| best(results, dataset, id).map(|(column, _)| column))
}

/// Whether a relation holds; `None` if it takes a deviation that one repetition does not have.
fn holds(relation: Relation, left: Summary, right: Summary, higher_is_better: bool) -> Option<bool> {
    let better = (left.mean > right.mean) == higher_is_better;
    Some(match relation {
        Relation::Same => !left.differs(right)?,
        Relation::Better => left.differs(right)? && better,
        Relation::Worse => left.differs(right)? && !better,
        Relation::NotWorse => !left.differs(right)? || better,
        Relation::Ratio(low, high) => (low..=high).contains(&(left.mean / right.mean)),
    })
}

/// A case for each pair of columns that have repetitions enough to be tested.
pub(super) fn tested(
    significant: &Significant,
    results: &Results<'_>,
    dataset: usize,
    set: &PlannedSet,
) -> Vec<Case> {
    let score = results.measure(significant.of.as_ref());
    let higher = results.description.higher_is_better(score);
    let ids: Vec<&String> = significant.among.iter().map(Spanned::get_ref).collect();
    let mut cases = Vec::new();
    for (a, b) in (0..ids.len()).flat_map(|a| (a + 1..ids.len()).map(move |b| (a, b))) {
        let pair = [ids[a], ids[b]];
        let values = pair.map(|id| {
            results
                .column(id)
                .map(|column| results.values(dataset, column, score))
        });
        let [Some(first), Some(second)] = values else {
            continue;
        };
        let Some((difference, p)) = paired(first, second) else {
            continue;
        };
        let is = |winner: &str, loser: &str| {
            let mut pairs = significant.pairs.iter();
            pairs.any(|[first, second]| first.get_ref() == winner && second.get_ref() == loser)
        };
        let expected = match (is(pair[0], pair[1]), is(pair[1], pair[0])) {
            (true, _) => '>',
            (_, true) => '<',
            _ => '=',
        };
        let found = match (p < ALPHA, (difference > 0.0) == higher) {
            (false, _) => '=',
            (true, true) => '>',
            (true, false) => '<',
        };
        cases.push(Case {
            holds: expected == found,
            figures: format!(
                "{}: {} {expected} {} ({difference:+.4}, p {})",
                set.name,
                pair[0],
                pair[1],
                p_relation(p)
            ),
        });
    }
    cases
}

/// The level of the t tests.
const ALPHA: f64 = 0.05;

/// The mean difference over repetitions, which share their data, and the p-value of the paired t test; nothing
/// where there are fewer than three.
fn paired(left: &[f64], right: &[f64]) -> Option<(f64, f64)> {
    let test = PairedT::new(left, right).ok()?;
    (test.df >= 2 && test.p.two_sided.is_finite()).then_some((test.mean_difference, test.p.two_sided))
}

fn pair_by_pair(left: &[f64], right: &[f64]) -> String {
    paired(left, right).map_or_else(String::new, |(difference, p)| {
        format!(", pair by pair {difference:+.3}, p {}", p_relation(p))
    })
}

/// One case for all data sets together.
pub(super) fn ranked(ahead: &Ahead, results: &Results<'_>) -> Option<Case> {
    let metric = results.measure(ahead.of.as_ref());
    let ranks = Ranks::of(results, metric)?;
    let mean = |ids: &[Spanned<String>]| -> Option<Vec<(f64, String)>> {
        let rank = |id: &Spanned<String>| {
            let column = results.column(id.get_ref())?;
            Some((
                ranks.average_ranks()[column],
                results.plan.columns[column].label.clone(),
            ))
        };
        ids.iter().map(rank).collect()
    };
    let (first, last) = (mean(&ahead.ahead)?, mean(&ahead.behind)?);
    let worst = first
        .iter()
        .map(|(rank, _)| *rank)
        .fold(f64::NEG_INFINITY, f64::max);
    let best = last.iter().map(|(rank, _)| *rank).fold(f64::INFINITY, f64::min);
    let list = |ranks: &[(f64, String)]| {
        let ranks: Vec<String> = ranks
            .iter()
            .map(|(rank, label)| format!("{label} {rank:.2}"))
            .collect();
        ranks.join(", ")
    };
    Some(Case {
        holds: worst < best,
        figures: format!("mean ranks {} against {}", list(&first), list(&last)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_hold_by_the_larger_deviation() {
        let of = |mean, std| Summary {
            mean,
            std: Some(std),
            n: 3,
        };
        let (high, low) = (of(0.5, 0.01), of(0.4, 0.05));
        for (relation, expected) in [
            (Relation::Better, true),
            (Relation::Worse, false),
            (Relation::Same, false),
            (Relation::NotWorse, true),
            (Relation::Ratio(1.2, 1.3), true),
            (Relation::Ratio(1.3, f64::INFINITY), false),
        ] {
            assert_eq!(holds(relation, high, low, true), Some(expected), "{relation:?}");
        }
        // Where smaller is better the same figures mean the opposite.
        assert_eq!(holds(Relation::Worse, high, low, false), Some(true));
        assert_eq!(holds(Relation::NotWorse, high, low, false), Some(false));
        // Within the larger deviation nothing differs.
        let close = of(0.45, 0.0);
        assert_eq!(holds(Relation::Same, close, low, true), Some(true));
        assert_eq!(holds(Relation::Better, close, low, true), Some(false));
        assert_eq!(holds(Relation::NotWorse, low, close, true), Some(true));
        // One repetition has no deviation, but a ratio.
        let once = Summary { std: None, ..high };
        assert_eq!(holds(Relation::Same, once, low, true), None);
        assert_eq!(holds(Relation::Ratio(1.2, 1.3), once, low, true), Some(true));
    }

    #[test]
    fn pairs_are_tested_from_three_on() {
        assert_eq!(pair_by_pair(&[1.0, 2.0], &[0.0, 2.5]), "");
        assert_eq!(pair_by_pair(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), "");
        // Differences 1, 2, 3: t = 2 / (1 / √3) = 3.464 with 2 degrees of freedom.
        assert_eq!(
            pair_by_pair(&[1.0, 2.0, 3.0], &[0.0; 3]),
            ", pair by pair +2.000, p = 0.074"
        );
    }
}
