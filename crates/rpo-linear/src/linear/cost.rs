//! The cost of each label.

use std::cmp::Reverse;

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rpo_core::math;

use super::OneVsRestParams;
use super::classifiers::{Classifiers, Solver};
use crate::LinearError;
use crate::dual::{LabelCost, Precision, Rows};
use crate::options::Limits;

/// The initial cost of a search, for samples of mean weight 1; it proceeds in factors of two ...
const FIRST: f64 = 0.5;
/// ... at most this number of times in either direction ...
const STEPS: usize = 6;
/// ... as long as the score gains more than this fraction of its distance from 1.
const GAIN: f64 = 2e-3;
/// Maximum number of labels that the search uses.
const LABELS: usize = 64;
/// Number of partitions of the samples, one of which is withheld at a time ...
const PARTS: usize = 4;
/// ... until this number of samples has been withheld: one partition of many samples, all partitions of few.
const ENOUGH: usize = 1000;
/// Maximum number of samples of a partition.
const MOST: usize = 4096;

/// The cost C of each label, based on the samples with it.
pub(crate) struct Costs<'a> {
    params: &'a OneVsRestParams,
    /// C of a label with the mean number of samples ...
    cost: f64,
    /// ... k̄, the mean of the sums of sample weights of labels.
    mean: f64,
    /// The cost that a search begins with. A cost multiplies the weights of samples, so that the one that is found has
    /// the same effect in all units of weights.
    first: f64,
    n_train: usize,
}

impl<'a> Costs<'a> {
    /// Uses the given cost, or finds the best one on withheld samples; `samples` lists the samples with each label.
    ///
    /// # Errors
    /// Those of the fits during a search.
    pub(crate) fn new(
        params: &'a OneVsRestParams,
        rows: &mut Rows,
        samples: &[Vec<u32>],
        limits: Limits<'_>,
    ) -> Result<Self, LinearError> {
        let counts: Vec<f64> = samples.iter().map(|samples| rows.sum_weights(samples)).collect();
        let n_present = counts.iter().filter(|count| **count > 0.0).count();
        let weights = (0..rows.n_rows()).map(|row| f64::from(rows.weight(row)));
        let (n, total) = weights
            .filter(|weight| *weight > 0.0)
            .fold((0, 0.0), |(n, total), weight| (n + 1, total + weight));
        let first = FIRST * f64::from(n) / total;
        let mut costs = Self {
            params,
            cost: params.cost.unwrap_or(first),
            first,
            mean: counts.iter().sum::<f64>() / n_present.max(1) as f64,
            n_train: rows.n_rows(),
        };
        if params.cost.is_none() && n_present > 0 {
            costs.cost = Search::new(&costs, rows, samples, limits).run(rows)?;
        }
        Ok(costs)
    }

    /// Returns C of a label with the mean number of samples.
    pub(crate) fn mean_cost(&self) -> f64 {
        self.cost
    }

    /// Returns C for a label with these samples.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] for propensities out of range.
    pub(crate) fn of(&self, rows: &Rows, samples: &[u32]) -> Result<LabelCost, LinearError> {
        let count = rows.sum_weights(samples);
        let ratio = if count > 0.0 { self.mean / count } else { 1.0 };
        let cost = self.cost * math::powf(ratio, self.params.cost_exponent);
        let weight = self.params.positive_weight(samples.len(), self.n_train)?;
        Ok(LabelCost {
            negative: cost as f32,
            positive: (cost * f64::from(weight)) as f32,
        })
    }
}

/// A search for the cost.
struct Search<'c> {
    costs: &'c Costs<'c>,
    /// The samples of each label that is used.
    samples: Vec<&'c [u32]>,
    /// The labels of each sample, among those used.
    labels: Vec<Vec<u32>>,
    /// All samples in random order.
    order: Vec<u32>,
    limits: Limits<'c>,
}

impl<'c> Search<'c> {
    fn new(costs: &'c Costs<'c>, rows: &Rows, samples: &'c [Vec<u32>], limits: Limits<'c>) -> Self {
        let n = rows.n_rows();
        let varies = |samples: &&'c [u32]| (2..n).contains(&samples.len());
        let mut found: Vec<&[u32]> = samples.iter().map(Vec::as_slice).filter(varies).collect();
        found.sort_by_key(|samples| Reverse(samples.len()));
        // Frequent as well as rare labels.
        let step = found.len().div_ceil(LABELS).max(1);
        let samples: Vec<&[u32]> = found.into_iter().step_by(step).collect();
        let mut labels = vec![Vec::new(); n];
        for (label, samples) in samples.iter().enumerate() {
            samples
                .iter()
                .for_each(|&row| labels[row as usize].push(label as u32));
        }
        let mut order: Vec<u32> = (0..n as u32)
            .filter(|&row| rows.weight(row as usize) > 0.0)
            .collect();
        order.shuffle(&mut costs.params.origin().purpose("cost").stream());
        Self {
            costs,
            samples,
            labels,
            order,
            limits,
        }
    }

    /// Returns the best cost: searches upwards from the first as long as that helps, otherwise downwards.
    fn run(&self, rows: &mut Rows) -> Result<f64, LinearError> {
        let first = self.costs.first;
        let mut best = (self.score(rows, first)?, first);
        for factor in [2.0, 0.5] {
            for _ in 0..STEPS {
                let cost = best.1 * factor;
                let score = self.score(rows, cost)?;
                if score <= best.0 + GAIN * (1.0 - best.0) {
                    break;
                }
                best = (score, cost);
            }
            if best.1 > first {
                break;
            }
        }
        Ok(best.1)
    }

    /// Returns the average precision of pairs of a withheld sample and a label; larger is better. All pairs are ordered
    /// by score together, so that samples are compared as well as labels. The mean over partitions; 0 without samples.
    fn score(&self, rows: &mut Rows, cost: f64) -> Result<f64, LinearError> {
        let size = (self.order.len() / PARTS).min(MOST);
        let n_parts = ENOUGH.div_ceil(size.max(1)).min(PARTS);
        let mut sum = 0.0;
        for withheld in self.order.chunks_exact(size.max(1)).take(n_parts) {
            // Samples of weight 0 take no part in a fit.
            let weights = rows.take_weights(withheld);
            let fitted = self.fit(rows, cost);
            rows.set_weights(withheld, &weights);
            sum += self.precision(rows, withheld, &fitted?);
        }
        Ok(sum / n_parts as f64)
    }

    /// Fits classifiers of the labels on the samples with a positive weight.
    fn fit(&self, rows: &Rows, cost: f64) -> Result<Classifiers, LinearError> {
        let counts = |row: &u32| rows.weight(*row as usize) > 0.0;
        let kept = |samples: &&[u32]| samples.iter().copied().filter(counts).collect();
        let samples: Vec<Vec<u32>> = self.samples.iter().map(kept).collect();
        let mut params = self.costs.params.dual();
        // A cost whose weights do not fit 16 bits is a bad one, but not an error.
        params.kept.precision = Precision::Single;
        let solver = Solver {
            params,
            seed: self.costs.params.origin(),
            limits: self.limits,
        };
        let costs = Costs { cost, ..*self.costs };
        let labels = (0..samples.len() as u32).collect();
        solver.fit(rows, &samples, labels, |samples| costs.of(rows, samples))
    }

    /// Returns the average precision of all pairs of a sample and a label.
    fn precision(&self, rows: &Rows, withheld: &[u32], fitted: &Classifiers) -> f64 {
        let scores: Vec<Vec<f32>> = withheld.par_iter().map(|&row| fitted.scores(rows, row)).collect();
        let of_sample = |(at, &row): (usize, &u32)| {
            let labels = &self.labels[row as usize];
            labels
                .iter()
                .map(move |label| (at * self.samples.len()) as u32 + label)
        };
        let relevant: Vec<u32> = withheld.iter().enumerate().flat_map(of_sample).collect();
        average_precision(&scores.concat(), &relevant)
    }
}

/// Returns the mean, over the relevant entries, of the fraction of relevant entries among those with at least the same
/// score; 0 if none are relevant.
fn average_precision(scores: &[f32], relevant: &[u32]) -> f64 {
    let descending = |mut scores: Vec<f32>| {
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores
    };
    let found = descending(relevant.iter().map(|&at| scores[at as usize]).collect());
    let all = descending(scores.to_vec());
    let least = |of: &[f32], score: f32| of.partition_point(|&s| s >= score) as f64;
    let sum: f64 = found.iter().map(|&s| least(&found, s) / least(&all, s)).sum();
    sum / found.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_precision_counts_ties_as_ranked_before() {
        let scores = [0.9, 0.5, 0.5, 0.1];
        assert_eq!(average_precision(&scores, &[0]), 1.0);
        assert_eq!(average_precision(&scores, &[1]), 1.0 / 3.0);
        assert_eq!(average_precision(&scores, &[0, 3]), 0.5 * (1.0 + 0.5));
        assert_eq!(average_precision(&scores, &[]), 0.0);
    }
}
