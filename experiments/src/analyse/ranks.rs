//! Mean ranks of methods over data sets, with significance tests (Demšar 2006, section 3.2.2).

use super::results::Results;
use crate::describe::measures;
use ndarray::Array2;
use rpo_stats::{Better, Correction, Friedman, PostHoc, SignedRanks, StatsError};

/// The significance level of the tests.
pub(crate) const ALPHA: f64 = 0.05;

/// Ranks of the methods over the data sets on which all of them ran.
pub(crate) struct Ranks {
    pub(crate) metric: String,
    pub(crate) names: Vec<String>,
    /// Scores, data sets x methods.
    scores: Array2<f64>,
    pub(crate) friedman: Friedman,
    /// The smallest difference of mean ranks that is significant by Nemenyi's test.
    pub(crate) critical_difference: f64,
}

/// Two methods compared by Wilcoxon's signed-rank test.
pub(crate) struct Pair {
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// Number of data sets on which the first has the larger value.
    pub(crate) larger: usize,
    /// Number of data sets on which the first has the smaller value.
    pub(crate) smaller: usize,
    /// The exact two-sided p-value.
    pub(crate) p: f64,
    /// The p-value with Holm's correction for all pairs.
    pub(crate) corrected: f64,
}

impl Ranks {
    /// The ranks by each metric.
    pub(crate) fn all(results: &Results<'_>) -> Vec<Self> {
        let metrics = results.description.metrics.iter();
        metrics
            .filter_map(|metric| Self::of(results, metric.get_ref()))
            .collect()
    }

    /// The ranks of the methods of a table by a metric; `None` for curves, and if fewer than two data sets are complete
    /// or there are fewer than two or more than ten methods.
    pub(crate) fn of(results: &Results<'_>, score: &str) -> Option<Self> {
        let n_columns = results.plan.columns.len();
        if results.description.axis.is_some() || !(2..=10).contains(&n_columns) {
            return None;
        }
        let complete = (0..results.plan.datasets.len()).filter_map(|dataset| {
            let row: Option<Vec<f64>> = (0..n_columns)
                .map(|c| results.summary(dataset, c, score).map(|s| s.mean))
                .collect();
            row
        });
        let scores: Vec<f64> = complete.flatten().collect();
        let scores = Array2::from_shape_vec((scores.len() / n_columns, n_columns), scores).ok()?;
        let better = if results.description.higher_is_better(score) {
            Better::Higher
        } else {
            Better::Lower
        };
        let names = results
            .plan
            .columns
            .iter()
            .map(|column| column.label.clone())
            .collect();
        Self::new(measures::label(score), names, scores, better).ok()
    }

    fn new(
        metric: String,
        names: Vec<String>,
        scores: Array2<f64>,
        better: Better,
    ) -> Result<Self, StatsError> {
        let friedman = Friedman::new(scores.view(), better)?;
        let (n, k) = scores.dim();
        Ok(Self {
            metric,
            names,
            scores,
            friedman,
            critical_difference: PostHoc::Nemenyi.critical_difference(k, n, ALPHA)?,
        })
    }

    /// Number of data sets.
    pub(crate) fn n_datasets(&self) -> usize {
        self.scores.nrows()
    }

    /// The mean rank of each column.
    pub(crate) fn average_ranks(&self) -> &[f64] {
        &self.friedman.average_ranks
    }

    /// All pairs of methods that can be tested.
    pub(crate) fn pairs(&self) -> Vec<Pair> {
        let k = self.names.len();
        let pairs = (0..k).flat_map(|first| (first + 1..k).map(move |second| (first, second)));
        let mut pairs: Vec<Pair> = pairs
            .filter_map(|(first, second)| {
                let [x, y] = [first, second].map(|c| self.scores.column(c).to_vec());
                let p = SignedRanks::new(&x, &y).and_then(|test| test.exact()).ok()?;
                let count = |is: fn(&f64, &f64) -> bool| x.iter().zip(&y).filter(|(x, y)| is(x, y)).count();
                Some(Pair {
                    first,
                    second,
                    larger: count(f64::gt),
                    smaller: count(f64::lt),
                    p: p.two_sided,
                    corrected: f64::NAN,
                })
            })
            .collect();
        let p: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
        for (pair, corrected) in pairs
            .iter_mut()
            .zip(Correction::Holm.adjust(&p).unwrap_or_default())
        {
            pair.corrected = corrected;
        }
        pairs
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ndarray::array;

    /// Three methods on four data sets.
    pub(crate) fn ranks() -> Ranks {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let scores = array![[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.4, 0.3], [0.6, 0.5, 0.1]];
        Ranks::new("LRAP".to_owned(), names, scores, Better::Higher).unwrap()
    }

    #[test]
    fn ranks_and_pairs_by_hand() {
        let ranks = ranks();
        assert_eq!(ranks.average_ranks(), [1.0, 2.0, 3.0]);
        // q(0.05, 3) / √2 = 2.343 and √(3 · 4 / (6 · 4)) = 0.707.
        assert!((ranks.critical_difference - 1.657).abs() < 1e-3);
        // Each of the three pairs has the same order on all four sets: 2 / 2⁴, times three.
        for pair in ranks.pairs() {
            assert_eq!((pair.larger, pair.smaller), (4, 0));
            assert_eq!((pair.p, pair.corrected), (0.125, 0.375));
        }
    }
}
