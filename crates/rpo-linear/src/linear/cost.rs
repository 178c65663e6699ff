//! The cost of each label.

use std::cmp::Reverse;

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rpo_core::math;

use super::OneVsRestParams;
use super::calibrate::{Calibration, Pairs};
use super::classifiers::{Classifiers, Solver};
use crate::LinearError;
use crate::dual::{DualParams, LabelCost, MarginLoss, Precision, Rows};
use crate::groups::{by_group, joined};
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
    /// The mean weight of samples of positive weight. A cost multiplies the weights of samples, so that one relative to
    /// it has the same effect in all units of weights.
    mean_weight: f64,
    n_train: usize,
    /// The group of each sample; samples of a group are withheld together.
    groups: Option<&'a [u32]>,
    /// The trial of the cost, if it was found.
    trial: Option<Trial>,
}

impl<'a> Costs<'a> {
    /// Uses the given cost, or finds the best one on withheld samples; `samples` lists the samples with each label.
    ///
    /// # Errors
    /// Those of the fits during a search, and samples of a single group.
    pub(crate) fn new(
        params: &'a OneVsRestParams,
        rows: &mut Rows,
        samples: &[Vec<u32>],
        groups: Option<&'a [u32]>,
        limits: Limits<'_>,
    ) -> Result<Self, LinearError> {
        let weights = (0..rows.n_rows()).map(|row| f64::from(rows.weight(row)));
        let (n, total) = weights
            .filter(|weight| *weight > 0.0)
            .fold((0, 0.0), |(n, total), weight| (n + 1, total + weight));
        let mut costs = Self {
            params,
            cost: params.cost.unwrap_or(FIRST * f64::from(n) / total),
            mean_weight: total / f64::from(n),
            mean: mean_count(rows, samples),
            n_train: rows.n_counted(),
            groups,
            trial: None,
        };
        if params.cost.is_none() && costs.mean > 0.0 {
            let purpose = "to find `cost`: set it";
            let search = Search::new(&costs, rows, samples, limits);
            let (cost, trial) = search.ok_or(LinearError::OneGroup { purpose })?.run(rows)?;
            (costs.cost, costs.trial) = (cost, Some(trial));
        }
        Ok(costs)
    }

    /// Returns the probabilities of labels by their scores: for the squared hinge those that fit withheld samples, unless
    /// no label varies or no sample can be withheld.
    ///
    /// # Errors
    /// Those of the fits without the withheld samples.
    pub(crate) fn calibrate(
        &self,
        rows: &mut Rows,
        samples: &[Vec<u32>],
        limits: Limits<'_>,
    ) -> Result<Calibration, LinearError> {
        let loss = self.params.loss;
        let fixed = Calibration::line(loss.slope());
        if loss == MarginLoss::Logistic {
            return Ok(fixed);
        }
        let fitted = match &self.trial {
            Some(trial) => Calibration::fit(&trial.pairs),
            None => match Search::new(self, rows, samples, limits) {
                None => None,
                Some(search) => Calibration::fit(&search.trial(rows, self.cost)?.pairs),
            },
        };
        Ok(fitted.unwrap_or(fixed))
    }

    /// Returns the parameters of the solver for features that were multiplied with a factor.
    pub(crate) fn dual(&self, factor: f32) -> DualParams {
        self.params.dual(self.mean_weight, factor)
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
        self.among(self.mean, rows, samples)
    }

    /// Returns C for a label, or a cluster of labels, with these samples among others with a mean sum of sample weights.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn among(&self, mean: f64, rows: &Rows, samples: &[u32]) -> Result<LabelCost, LinearError> {
        let count = rows.sum_weights(samples);
        let ratio = if count > 0.0 { mean / count } else { 1.0 };
        let cost = self.cost * math::powf(ratio, self.params.cost_exponent);
        let weight = self.params.positive_weight(samples.len(), self.n_train)?;
        Ok(LabelCost {
            negative: cost as f32,
            positive: (cost * f64::from(weight)) as f32,
        })
    }
}

/// Returns the mean sum of the weights of the samples in a list, over the lists that have some; 0 if none has.
pub(crate) fn mean_count<'a>(rows: &Rows, lists: impl IntoIterator<Item = &'a Vec<u32>>) -> f64 {
    let counts = lists.into_iter().map(|samples| rows.sum_weights(samples));
    let (n, total) = counts
        .filter(|count| *count > 0.0)
        .fold((0, 0.0), |(n, total), count| (n + 1, total + count));
    total / f64::from(n.max(1))
}

/// What a cost gives for withheld samples.
struct Trial {
    /// The average precision of pairs of a withheld sample and a label; larger is better. All pairs are ordered by score
    /// together, so that samples are compared as well as labels. The mean over partitions; 0 without samples.
    precision: f64,
    /// The pairs of all partitions.
    pairs: Pairs,
}

/// A search for the cost.
struct Search<'c> {
    costs: &'c Costs<'c>,
    /// The samples of each label that is used.
    samples: Vec<&'c [u32]>,
    /// The labels of each sample, among those used.
    labels: Vec<Vec<u32>>,
    /// The samples that are withheld, one part at a time.
    parts: Vec<Vec<u32>>,
    /// The number of parts, of which those of very few samples may be empty.
    n_parts: usize,
    limits: Limits<'c>,
}

impl<'c> Search<'c> {
    /// Returns `None` if no sample can be withheld, as all are of one group.
    fn new(costs: &'c Costs<'c>, rows: &Rows, samples: &'c [Vec<u32>], limits: Limits<'c>) -> Option<Self> {
        let mut order: Vec<u32> = rows.counted().collect();
        let varies = |samples: &&'c [u32]| (2..order.len()).contains(&samples.len());
        let mut found: Vec<&[u32]> = samples.iter().map(Vec::as_slice).filter(varies).collect();
        found.sort_by_key(|samples| Reverse(samples.len()));
        // Frequent as well as rare labels.
        let step = found.len().div_ceil(LABELS).max(1);
        let samples: Vec<&[u32]> = found.into_iter().step_by(step).collect();
        let mut labels = vec![Vec::new(); rows.n_rows()];
        for (label, samples) in samples.iter().enumerate() {
            samples
                .iter()
                .for_each(|&row| labels[row as usize].push(label as u32));
        }
        order.shuffle(&mut costs.params.origin().purpose("cost").stream());
        let size = (order.len() / PARTS).clamp(1, MOST);
        let (parts, n_parts) = match costs.groups {
            None => {
                let n_parts = ENOUGH.div_ceil(size).min(PARTS);
                let parts = order.chunks_exact(size).take(n_parts).map(<[u32]>::to_vec);
                (parts.collect(), n_parts)
            }
            Some(groups) => {
                let parts = grouped(&order, groups, size)?;
                let n_parts = parts.len();
                (parts, n_parts)
            }
        };
        Some(Self {
            costs,
            samples,
            labels,
            parts,
            n_parts,
            limits,
        })
    }

    /// Returns the best cost and its trial: searches upwards from the first as long as that helps, otherwise downwards.
    fn run(&self, rows: &mut Rows) -> Result<(f64, Trial), LinearError> {
        let first = self.costs.cost;
        let (mut best, mut trial) = (first, self.trial(rows, first)?);
        for factor in [2.0, 0.5] {
            for _ in 0..STEPS {
                let cost = best * factor;
                let next = self.trial(rows, cost)?;
                if next.precision <= trial.precision + GAIN * (1.0 - trial.precision) {
                    break;
                }
                (best, trial) = (cost, next);
            }
            if best > first {
                break;
            }
        }
        Ok((best, trial))
    }

    fn trial(&self, rows: &mut Rows, cost: f64) -> Result<Trial, LinearError> {
        let (mut sum, mut all) = (0.0, Pairs::default());
        for withheld in &self.parts {
            // Samples of weight 0 take no part in a fit.
            let weights = rows.take_weights(withheld);
            let fitted = self.fit(rows, cost);
            rows.set_weights(withheld, &weights);
            let pairs = self.pairs(rows, withheld, &weights, &fitted?);
            sum += average_precision(&pairs);
            all.scores.extend(pairs.scores);
            all.present.extend(pairs.present);
            all.weights.extend(pairs.weights);
        }
        Ok(Trial {
            precision: sum / self.n_parts as f64,
            pairs: all,
        })
    }

    /// Fits classifiers of the labels on the samples with a positive weight.
    fn fit(&self, rows: &Rows, cost: f64) -> Result<Classifiers, LinearError> {
        let counts = |row: &u32| rows.weight(*row as usize) > 0.0;
        let kept = |samples: &&[u32]| samples.iter().copied().filter(counts).collect();
        let samples: Vec<Vec<u32>> = self.samples.iter().map(kept).collect();
        let mut params = self.costs.dual(1.0);
        // A cost whose weights do not fit 16 bits is a bad one, but not an error.
        params.kept.precision = Precision::Single;
        let solver = Solver {
            params,
            seed: self.costs.params.origin(),
            limits: self.limits,
        };
        let costs = Costs {
            cost,
            trial: None,
            ..*self.costs
        };
        solver.fit(rows, &samples, |samples| costs.of(rows, samples))
    }

    /// Returns all pairs of a withheld sample and a label.
    fn pairs(&self, rows: &Rows, withheld: &[u32], weights: &[f32], fitted: &Classifiers) -> Pairs {
        let scores: Vec<Vec<f32>> = withheld.par_iter().map(|&row| fitted.scores(rows, row)).collect();
        let mut present = vec![false; withheld.len() * self.samples.len()];
        for (&row, present) in withheld.iter().zip(present.chunks_mut(self.samples.len().max(1))) {
            let labels = &self.labels[row as usize];
            labels.iter().for_each(|&label| present[label as usize] = true);
        }
        Pairs {
            scores: scores.concat(),
            present,
            weights: weights
                .iter()
                .flat_map(|&weight| std::iter::repeat_n(weight, self.samples.len()))
                .collect(),
        }
    }
}

/// Splits samples into parts of about this size, of whole groups: as many as are withheld. `None` if there is one group.
fn grouped(order: &[u32], groups: &[u32], size: usize) -> Option<Vec<Vec<u32>>> {
    let groups = by_group(order, groups);
    if groups.len() < 2 {
        return None;
    }
    let mut n_withheld = 0;
    let is_needed = |part: &Vec<u32>| {
        let is_needed = n_withheld < ENOUGH;
        n_withheld += part.len();
        is_needed
    };
    let parts = joined(groups, size).into_iter().take(PARTS).take_while(is_needed);
    Some(parts.collect())
}

/// Returns the mean, over the pairs with a label that is present, of the fraction of such pairs among those with at least
/// the same score; 0 if there are none.
fn average_precision(pairs: &Pairs) -> f64 {
    let descending = |mut scores: Vec<f32>| {
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores
    };
    let found = pairs.scores.iter().zip(&pairs.present);
    let found = descending(found.filter(|(_, present)| **present).map(|(s, _)| *s).collect());
    let all = descending(pairs.scores.clone());
    let least = |of: &[f32], score: f32| of.partition_point(|&s| s >= score) as f64;
    let sum: f64 = found.iter().map(|&s| least(&found, s) / least(&all, s)).sum();
    sum / found.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_made_of_whole_groups() {
        let groups = [4, 4, 2, 2, 2, 2, 2, 9];
        let order = [7, 0, 2, 3, 1, 4, 5, 6];
        let parts = grouped(&order, &groups, 2).unwrap();
        assert_eq!(parts, [vec![7], vec![0, 1], vec![2, 3, 4, 5, 6]]);
        assert_eq!(grouped(&order, &[1; 8], 2), None);
        // One part of many samples, and four of few.
        let pairs: Vec<u32> = (0..8000).map(|i| i / 2).collect();
        let order: Vec<u32> = (0..8000).collect();
        assert_eq!(grouped(&order, &pairs, 2000).unwrap().len(), 1);
        assert_eq!(grouped(&order[..80], &pairs, 20).unwrap().len(), 4);
    }

    #[test]
    fn average_precision_counts_ties_as_ranked_before() {
        let of = |relevant: &[usize]| {
            let present = (0..4).map(|at| relevant.contains(&at)).collect();
            let scores = vec![0.9, 0.5, 0.5, 0.1];
            average_precision(&Pairs {
                scores,
                present,
                weights: vec![1.0; 4],
            })
        };
        assert_eq!(of(&[0]), 1.0);
        assert_eq!(of(&[1]), 1.0 / 3.0);
        assert_eq!(of(&[0, 3]), 0.5 * (1.0 + 0.5));
        assert_eq!(of(&[]), 0.0);
    }
}
