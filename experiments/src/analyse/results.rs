//! Means over repetitions, and comparisons with other columns and with published figures.

use crate::describe::Description;
use crate::describe::Published;
use crate::plan::{Column, Plan, PlannedSet};
use crate::run::Store;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// Mean and standard deviation of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    /// The sample standard deviation (divisor n - 1); `None` for one repetition, or if none is printed.
    pub(crate) std: Option<f64>,
    pub(crate) n: usize,
}

impl Summary {
    /// The summary of values, `None` if there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (n > 0).then(|| Self {
            mean,
            std: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
            n,
        })
    }

    fn spread(self) -> f64 {
        self.std.unwrap_or(0.0)
    }

    /// Returns true if two means differ by the rule of the forest paper's Table 1: by more than the larger of the two
    /// standard deviations. (Its caption says "one standard deviation"; only the larger reproduces the counts of its
    /// text.) Figures are printed in decimals, so a difference equal to a deviation must not exceed it because of
    /// binary rounding. `None` if one of the means has no deviation.
    pub(crate) fn differs(self, other: Self) -> Option<bool> {
        let deviation = self.std?.max(other.std?);
        Some((self.mean - other.mean).abs() > deviation + 1e-9)
    }

    /// The difference from a published mean, also in standard deviations √(s² + s'²).
    pub(crate) fn against(self, published: Self) -> Against {
        let difference = self.mean - published.mean;
        let deviation = published.std.map(|std| self.spread().hypot(std));
        Against {
            difference,
            in_deviations: deviation.filter(|d| *d > 0.0).map(|d| difference / d),
        }
    }

    /// Returns true if this mean is within one published standard deviation, plus a slack, of the published mean.
    pub(crate) fn agrees(self, published: Self, slack: f64) -> bool {
        (self.mean - published.mean).abs() <= published.spread() + slack + 1e-9
    }
}

/// A difference from a published mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Against {
    /// Our mean minus the published one.
    pub(crate) difference: f64,
    /// The difference divided by √(s² + s'²), if a deviation is printed and the divisor is not 0.
    pub(crate) in_deviations: Option<f64>,
}

/// A data set and a column, with their positions in the plan.
pub(crate) struct Place<'a> {
    pub(crate) dataset: usize,
    pub(crate) set: &'a PlannedSet,
    pub(crate) column: usize,
    pub(crate) method: &'a Column,
}

/// The results of an experiment, from the cells that are finished.
pub(crate) struct Results<'a> {
    pub(crate) description: &'a Description,
    pub(crate) plan: &'a Plan,
    /// Values by data set, column and measure, in order of repetition.
    values: BTreeMap<(usize, usize), BTreeMap<String, Vec<f64>>>,
}

impl<'a> Results<'a> {
    /// Collects the finished cells of a plan from a store.
    pub(crate) fn new(description: &'a Description, plan: &'a Plan, store: &Store) -> Self {
        let mut values: BTreeMap<_, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
        for cell in &plan.cells {
            if let Some(outcome) = store.get(&cell.key) {
                let measures = values.entry((cell.dataset, cell.column)).or_default();
                for (measure, value) in &outcome.values {
                    measures.entry(measure.clone()).or_default().push(*value);
                }
            }
        }
        Self {
            description,
            plan,
            values,
        }
    }

    /// The measure that a claim names; by default the score.
    pub(crate) fn measure(&self, of: Option<&'a Spanned<String>>) -> &'a str {
        of.map_or(self.description.score(), |of| of.get_ref())
    }

    /// All pairs of a data set and a column.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place<'a>> {
        let (datasets, columns) = (&self.plan.datasets, &self.plan.columns);
        datasets.iter().enumerate().flat_map(move |(dataset, set)| {
            columns.iter().enumerate().map(move |(column, method)| Place {
                dataset,
                set,
                column,
                method,
            })
        })
    }

    /// The values of a measure, one per repetition.
    pub(crate) fn values(&self, dataset: usize, column: usize, measure: &str) -> &[f64] {
        let measures = self.values.get(&(dataset, column));
        measures.and_then(|m| m.get(measure)).map_or(&[], Vec::as_slice)
    }

    /// Mean and deviation of a measure over repetitions.
    pub(crate) fn summary(&self, dataset: usize, column: usize, measure: &str) -> Option<Summary> {
        Summary::of(self.values(dataset, column, measure))
    }

    /// The published value of a measure: from the experiment's table, or, for metrics, from elsewhere in the paper
    /// (figures without numbers show methods whose scores are in a table).
    pub(crate) fn published(&self, dataset: usize, column: usize, measure: &str) -> Option<Summary> {
        let paper = self.description.paper.as_ref()?.get_ref();
        let set = self.plan.datasets[dataset].published.as_deref()?;
        let method = self.plan.columns[column].published.as_deref()?;
        let get = |table| Published::get().find(paper, table, set, method, measure);
        let elsewhere = || get(None).filter(|_| self.description.is_metric(measure));
        let figure = get(Some(&self.description.table)).or_else(elsewhere)?;
        Some(Summary {
            mean: figure.mean,
            std: figure.std,
            n: 0,
        })
    }

    /// The names of all measures of any cell: the score first, then in alphabetical order.
    pub(crate) fn measures(&self) -> Vec<String> {
        let score = self.description.score();
        let all: BTreeSet<&String> = self.values.values().flat_map(BTreeMap::keys).collect();
        let (first, rest): (Vec<&String>, Vec<&String>) = all.into_iter().partition(|name| *name == score);
        first.into_iter().chain(rest).cloned().collect()
    }

    /// The planned methods, by position in the description, with the names of their curves.
    pub(crate) fn curves(&self) -> impl Iterator<Item = (usize, String)> {
        let planned: BTreeSet<usize> = self.plan.columns.iter().map(|column| column.method).collect();
        let name = |method: usize| self.description.methods[method].curve_label();
        planned.into_iter().map(move |method| (method, name(method)))
    }

    /// The position of the column with an id.
    pub(crate) fn column(&self, id: &str) -> Option<usize> {
        self.plan.columns.iter().position(|column| column.id == id)
    }

    /// The position of the baseline, if there is one and it was planned.
    pub(crate) fn baseline(&self) -> Option<usize> {
        self.column(self.description.baseline.as_ref()?.get_ref())
    }

    /// Returns whether a column differs from the baseline by the paper's rule: in these results, and in print.
    pub(crate) fn verdicts(
        &self,
        dataset: usize,
        column: usize,
        score: &str,
    ) -> (Option<bool>, Option<bool>) {
        let Some(baseline) = self.baseline().filter(|&b| b != column) else {
            return (None, None);
        };
        let differs = |a: Option<Summary>, b: Option<Summary>| a.zip(b).and_then(|(a, b)| a.differs(b));
        let here = |c| self.summary(dataset, c, score);
        let print = |c| self.published(dataset, c, score);
        (
            differs(here(column), here(baseline)),
            differs(print(column), print(baseline)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::Figure;

    #[test]
    fn summaries() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(
            Summary::of(&[2.5]),
            Some(Summary {
                mean: 2.5,
                std: None,
                n: 1
            })
        );
        let summary = Summary::of(&[1.0, 2.0, 6.0]).unwrap();
        assert_eq!(
            (summary.mean, summary.std, summary.n),
            (3.0, Some(7.0_f64.sqrt()), 3)
        );
    }

    #[test]
    fn differences_are_measured_in_both_deviations() {
        let (ours, theirs) = (
            Summary {
                mean: 0.85,
                std: Some(0.03),
                n: 10,
            },
            Summary {
                mean: 0.80,
                std: Some(0.04),
                n: 0,
            },
        );
        let against = ours.against(theirs);
        assert!((against.difference - 0.05).abs() < 1e-12);
        assert!((against.in_deviations.unwrap() - 1.0).abs() < 1e-12);
        assert!(ours.agrees(theirs, 0.01) && !ours.agrees(theirs, 0.009));
        let exact = Summary { std: None, ..theirs };
        assert_eq!(ours.against(exact).in_deviations, None);
    }

    /// The text of section 4.3 counts the data sets that are not underlined: 11 for m = 1, 3 more for m = ln d, and all
    /// but SCOP-GO for m = d. The rule must give these counts from the printed figures.
    #[test]
    fn the_rule_reproduces_the_counts_of_the_text() {
        let published = Published::get();
        let of = |figure: &Figure| Summary {
            mean: figure.mean,
            std: figure.std,
            n: 0,
        };
        let table = || published.table("forests", "Table 1");
        let same = |method: &str| -> Vec<&str> {
            let column = table().filter(|figure| figure.method == method);
            let same = column.filter(|figure| {
                let full = "Random Forest, full output space (m none)";
                let base = published
                    .find("forests", Some("Table 1"), &figure.dataset, full, "lrap")
                    .unwrap();
                of(figure).differs(of(base)) == Some(false)
            });
            same.map(|figure| figure.dataset.as_str()).collect()
        };
        assert_eq!(same("Random Forest, Gaussian m=1").len(), 11);
        assert_eq!(same("Random Forest, Gaussian m=floor(0.5+ln d)").len(), 14);
        let all = same("Random Forest, Gaussian m=d");
        assert!(all.len() == 23 && !all.contains(&"SCOP-GO"), "{all:?}");
    }
}
