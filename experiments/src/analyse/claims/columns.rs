//! Checks claims that compare columns.

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
                pair_by_pair(pairs[0], pairs[1], set)
            )
        }
    };
    Some(Case {
        holds: holds(compare.relation, a, b, higher)?,
        figures: format!("{} ({detail})", set.name),
    })
}

/// The column with an id, or, for a method with values along the axis, its column with the best mean score.
fn column(results: &Results<'_>, dataset: usize, id: &str) -> Option<usize> {
    results
        .column(id)
        .or_else(|| best(results, dataset, id).map(|(column, _)| column))
}

/// Returns true if a relation holds; `None` if it needs a deviation and there is only one repetition.
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

/// One case for each pair of columns with enough repetitions for a test.
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
        let Some(test) = Paired::of(first, second, set) else {
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
        let found = match (test.decides() < ALPHA, (test.difference > 0.0) == higher) {
            (false, _) => '=',
            (true, true) => '>',
            (true, false) => '<',
        };
        cases.push(Case {
            holds: expected == found,
            figures: format!(
                "{}: {} {expected} {} ({:+.4}, {})",
                set.name,
                pair[0],
                pair[1],
                test.difference,
                test.show()
            ),
        });
    }
    cases
}

/// The level of the t tests.
const ALPHA: f64 = 0.05;

/// A comparison of two columns over repetitions, which share their data.
struct Paired {
    /// The mean difference.
    difference: f64,
    /// The p-value of the paired t test.
    plain: f64,
    /// The p-value of the corrected resampled t test of Nadeau and Bengio, if the training samples of repetitions
    /// overlap.
    corrected: Option<f64>,
}

impl Paired {
    /// `None` if there are fewer than three repetitions, or if they do not differ.
    fn of(left: &[f64], right: &[f64], set: &PlannedSet) -> Option<Self> {
        let plain = PairedT::new(left, right, 0.0).ok()?;
        let mut corrected = None;
        if set.resampled {
            let overlap = set.test as f64 / set.train as f64;
            corrected = Some(PairedT::new(left, right, overlap).ok()?.p.two_sided);
        }
        (plain.df >= 2 && plain.p.two_sided.is_finite()).then_some(Self {
            difference: plain.mean_difference,
            plain: plain.p.two_sided,
            corrected,
        })
    }

    /// The p-value that decides: the corrected one if available.
    fn decides(&self) -> f64 {
        self.corrected.unwrap_or(self.plain)
    }

    fn show(&self) -> String {
        let plain = format!("p {}", p_relation(self.plain));
        match self.corrected {
            None => plain,
            Some(corrected) => format!("{plain}, corrected {}", p_relation(corrected)),
        }
    }
}

fn pair_by_pair(left: &[f64], right: &[f64], set: &PlannedSet) -> String {
    Paired::of(left, right, set).map_or_else(String::new, |test| {
        format!(", pair by pair {:+.3}, {}", test.difference, test.show())
    })
}

/// A single case for all data sets together.
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
        // If smaller is better, the same figures mean the opposite.
        assert_eq!(holds(Relation::Worse, high, low, false), Some(true));
        assert_eq!(holds(Relation::NotWorse, high, low, false), Some(false));
        // Differences within the larger deviation do not count.
        let close = of(0.45, 0.0);
        assert_eq!(holds(Relation::Same, close, low, true), Some(true));
        assert_eq!(holds(Relation::Better, close, low, true), Some(false));
        assert_eq!(holds(Relation::NotWorse, low, close, true), Some(true));
        // A single repetition has no deviation, but has a ratio.
        let once = Summary { std: None, ..high };
        assert_eq!(holds(Relation::Same, once, low, true), None);
        assert_eq!(holds(Relation::Ratio(1.2, 1.3), once, low, true), Some(true));
    }

    #[test]
    fn pairs_are_tested_from_three_on() {
        let mut set = PlannedSet {
            name: "made".to_owned(),
            published: None,
            note: None,
            train: 60,
            test: 40,
            resampled: false,
            n_features: 1,
            n_outputs: 1,
            filtered: None,
        };
        assert_eq!(pair_by_pair(&[1.0, 2.0], &[0.0, 2.5], &set), "");
        assert_eq!(pair_by_pair(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], &set), "");
        // Differences 1, 2, 3: t = 2 / (1 / √3) = 3.464 with 2 degrees of freedom.
        let (left, right) = ([1.0, 2.0, 3.0], [0.0; 3]);
        let found = pair_by_pair(&left, &right, &set);
        assert_eq!(found, ", pair by pair +2.000, p = 0.074");
        // Splits of one set: t = 2 / √(1/3 + 40/60) = 2, p = 0.1835 (by hand: 1 - 2/√6).
        set.resampled = true;
        let found = pair_by_pair(&left, &right, &set);
        assert_eq!(found, ", pair by pair +2.000, p = 0.074, corrected = 0.184");
    }
}
