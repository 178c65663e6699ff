//! What the paper says, and whether these results support it.

use crate::reproduce::describe::{Ahead, ClaimText, Compare, Relation, SameVerdicts, WithinPublished};
use crate::reproduce::measures::p_relation;
use crate::reproduce::report::Ranks;
use crate::reproduce::results::{Results, Summary};
use rpo::metrics::stats::PairedT;
use toml::Spanned;

/// Whether a claim is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It is.
    Supported,
    /// It is not.
    NotSupported,
    /// What it speaks of was not run.
    NotRun,
}

impl Finding {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::NotSupported => "not supported",
            Self::NotRun => "not run",
        }
    }
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The sentence.
    pub(crate) says: String,
    /// Where the paper says it.
    pub(crate) at: String,
    /// Whether it is supported.
    pub(crate) finding: Finding,
    /// Why: on what it held, and by which figures it did not.
    pub(crate) why: String,
}

/// Checks the claims of an experiment.
pub(crate) fn check(results: &Results<'_>) -> Vec<Claim> {
    let claims = results.description.claims.iter();
    claims.map(|text| check_one(text, results)).collect()
}

fn check_one(text: &ClaimText, results: &Results<'_>) -> Claim {
    let (cases, share) = if let Some(compare) = &text.compare {
        (compared(compare, results), compare.share.unwrap_or(1.0))
    } else if let Some(within) = &text.published {
        (within_published(within, results), within.share)
    } else if let Some(ahead) = &text.ranks {
        (ranked(ahead, results).into_iter().collect(), 1.0)
    } else if let Some(same) = &text.verdicts {
        (same_verdicts(same, results), same.share)
    } else {
        unreachable!("a description has exactly one check per claim")
    };
    let remark = text.remark.iter().filter(|_| !cases.is_empty());
    let held = cases.iter().filter(|case| case.holds).count();
    let finding = match cases.len() {
        0 => Finding::NotRun,
        n if held as f64 >= share * n as f64 - 1e-9 => Finding::Supported,
        _ => Finding::NotSupported,
    };
    Claim {
        says: text.says.clone(),
        at: text.at.clone(),
        finding,
        why: std::iter::once(&reasons(&cases, held))
            .chain(remark)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(". "),
    }
}

/// A place where a claim can hold.
struct Case {
    holds: bool,
    figures: String,
}

fn reasons(cases: &[Case], held: usize) -> String {
    let figures = |which: bool| -> Vec<&str> {
        let cases = cases.iter().filter(|case| case.holds == which);
        cases.map(|case| case.figures.as_str()).collect()
    };
    let of = match cases {
        [] => return "nothing of it was run, or only once where it takes a standard deviation".to_owned(),
        [only] => return only.figures.clone(),
        _ => format!("{held} of {}", cases.len()),
    };
    match (figures(true), figures(false)) {
        // A long list of where it held says less than its length.
        (held, failed) if failed.is_empty() && held.len() > 4 => of,
        (held, failed) if failed.is_empty() => format!("{of}: {}", held.join("; ")),
        (_, failed) => format!("{of}; not {}", failed.join("; not ")),
    }
}

fn compared(compare: &Compare, results: &Results<'_>) -> Vec<Case> {
    let measure = compare
        .of
        .as_ref()
        .map_or(results.description.score(), |of| of.get_ref());
    let higher = results.description.higher_is_better(measure);
    let columns = results
        .column(compare.left.get_ref())
        .zip(results.column(compare.right.get_ref()));
    let Some((left, right)) = columns else {
        return Vec::new();
    };
    let case = |(dataset, set): (usize, &crate::reproduce::plan::PlannedSet)| {
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
    };
    results
        .plan
        .datasets
        .iter()
        .enumerate()
        .filter_map(case)
        .collect()
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

/// The mean difference over repetitions, which share their splits, and the p-value of the paired t test; nothing
/// where there are fewer than three.
fn pair_by_pair(left: &[f64], right: &[f64]) -> String {
    match PairedT::new(left, right) {
        Ok(test) if test.df >= 2 && test.p.two_sided.is_finite() => {
            format!(
                ", pair by pair {:+.3}, p {}",
                test.mean_difference,
                p_relation(test.p.two_sided)
            )
        }
        _ => String::new(),
    }
}

fn show(summary: Summary) -> String {
    match summary.std {
        Some(std) => format!("{:.3} ± {std:.3}", summary.mean),
        None => format!("{:.3}", summary.mean),
    }
}

fn within_published(within: &WithinPublished, results: &Results<'_>) -> Vec<Case> {
    let score = within
        .of
        .as_ref()
        .map_or(results.description.score(), |of| of.get_ref());
    let asked = |id: &str| match &within.columns {
        None => true,
        Some(columns) => columns.iter().any(|column| column.get_ref() == id),
    };
    let mut cases = Vec::new();
    for (dataset, set) in results.plan.datasets.iter().enumerate() {
        let columns = results.plan.columns.iter().enumerate();
        for (column, method) in columns.filter(|(_, column)| asked(&column.id)) {
            let here = results.summary(dataset, column, score);
            if let Some((here, print)) = here.zip(results.published(dataset, column, score)) {
                cases.push(Case {
                    holds: here.agrees(print, within.slack),
                    figures: format!(
                        "{}, {} ({}, published {})",
                        set.name,
                        method.label,
                        show(here),
                        show(print)
                    ),
                });
            }
        }
    }
    cases
}

/// One case for all data sets together.
fn ranked(ahead: &Ahead, results: &Results<'_>) -> Option<Case> {
    let metric = ahead
        .of
        .as_ref()
        .map_or(results.description.score(), |of| of.get_ref());
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

fn same_verdicts(same: &SameVerdicts, results: &Results<'_>) -> Vec<Case> {
    let Some(column) = results.column(same.column.get_ref()) else {
        return Vec::new();
    };
    let case = |(dataset, set): (usize, &crate::reproduce::plan::PlannedSet)| {
        let (here, print) = results.verdicts(dataset, column, results.description.score());
        let (here, print) = here.zip(print)?;
        let word = |differs: bool| if differs { "differs" } else { "the same" };
        Some(Case {
            holds: here == print,
            figures: format!("{} ({} here, {} in print)", set.name, word(here), word(print)),
        })
    };
    results
        .plan
        .datasets
        .iter()
        .enumerate()
        .filter_map(case)
        .collect()
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

    #[test]
    fn reasons_name_what_failed() {
        let case = |holds, figures: &str| Case {
            holds,
            figures: figures.to_owned(),
        };
        assert!(reasons(&[], 0).starts_with("nothing of it was run"));
        assert_eq!(reasons(&[case(false, "a (1)")], 0), "a (1)");
        assert_eq!(reasons(&[case(true, "a"), case(true, "b")], 2), "2 of 2: a; b");
        assert_eq!(
            reasons(&[case(true, "a"), case(false, "b"), case(false, "c")], 1),
            "1 of 3; not b; not c"
        );
    }
}
