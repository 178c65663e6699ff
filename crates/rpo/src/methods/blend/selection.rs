//! Selection of members with replacement, by their predictions for withheld samples.

use crate::{DEFAULT_MEMORY_LIMIT, Model, ModelError};
use ndarray::Array2;
use rpo_core::{CsrMatrix, MatrixView, csr_row, keep_top};
use rpo_data::{Dataset, Task};

/// Rounds of selection: weights are multiples of a twentieth.
const ROUNDS: usize = 20;
/// Labels that are kept of each sample: more than precision at 5 looks at in any mean of members.
const KEPT: usize = 100;
/// Labels that precision looks at.
const DEPTHS: [usize; 3] = [1, 3, 5];

/// The predictions of a member for the withheld samples.
pub(super) enum Candidate {
    /// The best labels.
    Labels(CsrMatrix),
    Numbers(Array2<f32>),
}

impl Candidate {
    pub(super) fn new(model: &Model, withheld: &Dataset) -> Result<Self, ModelError> {
        let x = withheld.features().view();
        Ok(match withheld.task() {
            Task::MultiLabel => Self::Labels(model.predict_top_k(x, KEPT)?),
            Task::Regression => Self::Numbers(model.predict_with_limit(x, DEFAULT_MEMORY_LIMIT)?),
        })
    }
}

/// How often each candidate was chosen: each time the one whose addition to those before it gives the best mean, of equal
/// ones the first. Ends with the best of all rounds.
pub(super) fn select(candidates: &[Candidate], withheld: &Dataset) -> Vec<usize> {
    let truth = withheld.outputs().view();
    let mut counts = vec![0; candidates.len()];
    let mut best = (f64::NEG_INFINITY, counts.clone());
    for _ in 0..ROUNDS {
        let mut round = (f64::NEG_INFINITY, 0);
        for added in 0..candidates.len() {
            counts[added] += 1;
            let value = goal(candidates, &counts, truth);
            counts[added] -= 1;
            if value > round.0 {
                round = (value, added);
            }
        }
        counts[round.1] += 1;
        if round.0 > best.0 {
            best = (round.0, counts.clone());
        }
    }
    if best.0 > f64::NEG_INFINITY {
        best.1
    } else {
        // Nothing can be told apart, as where no output varies.
        vec![1; candidates.len()]
    }
}

/// The goal that weights have: larger is better.
fn goal(candidates: &[Candidate], counts: &[usize], truth: MatrixView<'_>) -> f64 {
    match candidates.first() {
        Some(Candidate::Labels(_)) => precision(candidates, counts, truth),
        _ => -relative_error(candidates, counts, truth),
    }
}

/// The mean of the precision at 1, 3 and 5 of the weighted sum of scores.
fn precision(candidates: &[Candidate], counts: &[usize], truth: MatrixView<'_>) -> f64 {
    let mut sum = 0.0;
    let mut scores: Vec<(u32, f32)> = Vec::new();
    for row in 0..truth.n_rows() {
        scores.clear();
        for (candidate, &count) in candidates.iter().zip(counts).filter(|(_, count)| **count > 0) {
            if let Candidate::Labels(best) = candidate {
                let view = best.view();
                let (labels, values) = csr_row(&view, row);
                scores.extend(labels.iter().zip(values).map(|(&l, &v)| (l, count as f32 * v)));
            }
        }
        scores.sort_by_key(|(label, _)| *label);
        let groups = scores.chunk_by(|a, b| a.0 == b.0);
        let mut sums: Vec<(u32, f32)> = groups.map(|g| (g[0].0, g.iter().map(|(_, v)| v).sum())).collect();
        keep_top(&mut sums, DEPTHS[2]);
        sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut has = vec![false; sums.len()];
        truth.for_each_in_row(row, |label, value| {
            if value != 0.0
                && let Some(rank) = sums.iter().position(|(found, _)| *found == label)
            {
                has[rank] = true;
            }
        });
        let hits = |depth: usize| has.iter().take(depth).filter(|has| **has).count() as f64;
        sum += DEPTHS
            .iter()
            .map(|&depth| hits(depth) / depth as f64)
            .sum::<f64>();
    }
    sum / (truth.n_rows() * DEPTHS.len()) as f64
}

/// The mean over the outputs that vary of the squared error over that of the mean.
fn relative_error(candidates: &[Candidate], counts: &[usize], truth: MatrixView<'_>) -> f64 {
    let total: usize = counts.iter().sum();
    let (n, d) = (truth.n_rows(), truth.n_cols());
    let (mut row_truth, mut errors) = (vec![0.0; d], vec![0.0; d]);
    let (mut sums, mut squares) = (vec![0.0; d], vec![0.0; d]);
    for row in 0..n {
        truth.copy_row(row, &mut row_truth);
        for j in 0..d {
            let y = f64::from(row_truth[j]);
            let weighted = candidates
                .iter()
                .zip(counts)
                .map(|(candidate, &count)| match candidate {
                    Candidate::Numbers(scores) => count as f64 * f64::from(scores[[row, j]]),
                    Candidate::Labels(_) => 0.0,
                });
            errors[j] += (weighted.sum::<f64>() / total as f64 - y).powi(2);
            sums[j] += y;
            squares[j] += y * y;
        }
    }
    let spread = |j: usize| squares[j] - sums[j] * sums[j] / n as f64;
    let varied: Vec<usize> = (0..d).filter(|&j| spread(j) > 0.0).collect();
    varied.iter().map(|&j| errors[j] / spread(j)).sum::<f64>() / varied.len().max(1) as f64
}
