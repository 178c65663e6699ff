//! Checks whether the results support the statements of the paper.

mod columns;
mod curves;
mod print;

use crate::analyse::results::{Results, Summary};
use crate::describe::ClaimText;
use crate::plan::PlannedSet;
use columns::{compared, ranked, tested};
use curves::reached;
use print::{same_verdict, within_published};

/// The outcome of checking a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    Supported,
    NotSupported,
    NotRun,
}

impl Finding {
    /// The outcome in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::NotSupported => "not supported",
            Self::NotRun => "not run",
        }
    }
}

/// A claim and the outcome of its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) says: String,
    /// The place in the paper.
    pub(crate) at: String,
    pub(crate) finding: Finding,
    /// The reason: where the claim held, and by which figures it did not.
    pub(crate) why: String,
}

/// Checks the claims of an experiment.
pub(crate) fn check(results: &Results<'_>) -> Vec<Claim> {
    let claims = results.description.claims.iter();
    claims.map(|text| check_one(text, results)).collect()
}

fn check_one(text: &ClaimText, results: &Results<'_>) -> Claim {
    let is_on = |name: &String| {
        text.on
            .as_ref()
            .is_none_or(|on| on.iter().any(|set| set.get_ref() == name))
    };
    let sets = results.plan.datasets.iter().enumerate();
    let sets: Vec<(usize, &PlannedSet)> = sets.filter(|(_, set)| is_on(&set.name)).collect();
    let (cases, share) = if let Some(claim) = &text.compare {
        (
            each(&sets, |place, set| compared(claim, results, place, set)),
            claim.share,
        )
    } else if let Some(claim) = &text.reaches {
        (
            each(&sets, |place, set| reached(claim, results, place, set)),
            claim.share,
        )
    } else if let Some(claim) = &text.significant {
        (
            each(&sets, |place, set| tested(claim, results, place, set)),
            claim.share,
        )
    } else if let Some(claim) = &text.published {
        let cases = each(&sets, |place, set| within_published(claim, results, place, set));
        (cases, Some(claim.share))
    } else if let Some(claim) = &text.verdicts {
        let cases = each(&sets, |place, set| same_verdict(claim, results, place, set));
        (cases, Some(claim.share))
    } else if let Some(claim) = &text.ranks {
        (ranked(claim, results).into_iter().collect(), None)
    } else {
        unreachable!("a description has exactly one check per claim")
    };
    let share = share.unwrap_or(1.0);
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

/// The cases of a claim on some data sets, which are passed with their positions in the plan.
fn each<C: IntoIterator<Item = Case>>(
    sets: &[(usize, &PlannedSet)],
    cases: impl Fn(usize, &PlannedSet) -> C,
) -> Vec<Case> {
    sets.iter().flat_map(|&(place, set)| cases(place, set)).collect()
}

/// One place where a claim can hold, with the figures.
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
        // If it held everywhere, the number of cases says more than a long list.
        (held, failed) if failed.is_empty() && held.len() > 4 => of,
        (held, failed) if failed.is_empty() => format!("{of}: {}", held.join("; ")),
        (_, failed) => format!("{of}; not {}", failed.join("; not ")),
    }
}

fn show(summary: Summary) -> String {
    match summary.std {
        Some(std) => format!("{:.3} ± {std:.3}", summary.mean),
        None => format!("{:.3}", summary.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
