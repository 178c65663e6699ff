//! The classifiers of all labels, in groups.

use std::cmp::Reverse;

use ndarray::Array1;
use rayon::prelude::*;
use rpo_core::{CsrMatrix, Seed, csr_row};

use crate::LinearError;
use crate::dual::{DualParams, LANES, LabelCost, Rows, SparseWeights, fit_group};
use crate::options::{Limits, check_matrix};

/// One classifier per label.
pub(super) struct Classifiers {
    /// W (p x d).
    pub(super) weights: CsrMatrix,
    /// The intercepts; -∞ and ∞, beside weights of 0, for a label that no sample and that every sample has.
    pub(super) offset: Array1<f32>,
    /// The largest residual.
    pub(super) residual: f32,
}

impl Classifiers {
    /// Returns the scores of a sample.
    pub(super) fn scores(&self, rows: &Rows, row: u32) -> Vec<f32> {
        let (features, values) = rows.row(row as usize);
        let (mut scores, all) = (self.offset.to_vec(), self.weights.view());
        for (&j, &v) in features.iter().zip(values) {
            let (labels, weights) = csr_row(&all, j as usize);
            for (&label, &w) in labels.iter().zip(weights) {
                scores[label as usize] += v * w;
            }
        }
        scores
    }
}

/// The solver for the classifiers of all labels.
pub(super) struct Solver<'a> {
    pub(super) params: DualParams,
    pub(super) seed: Seed,
    pub(super) limits: Limits<'a>,
}

impl Solver<'_> {
    /// Fits the classifiers of all labels, in parallel. `samples` lists the samples with each label, and `cost` returns C
    /// for a label from its samples.
    ///
    /// # Errors
    /// [`LinearError::Memory`] for working memory above the limit, [`LinearError::Stopped`], [`LinearError::Overflow`] for weights beyond the
    /// range of their precision.
    pub(super) fn fit(
        &self,
        rows: &Rows,
        samples: &[Vec<u32>],
        cost: impl Fn(&[u32]) -> Result<LabelCost, LinearError> + Sync,
    ) -> Result<Classifiers, LinearError> {
        let n = rows.n_counted();
        let varies = |label: &u32| (1..n).contains(&samples[*label as usize].len());
        let mut labels: Vec<u32> = (0..samples.len() as u32).filter(varies).collect();
        let n_entries = rows.n_rows() + rows.n_features();
        let what = "the weights and dual variables of a group of labels";
        check_matrix::<f32>(what, n_entries, LANES, self.limits.memory)?;
        let n_groups = labels.len().div_ceil(LANES).max(1);
        // More threads than the memory has room for wait for each other.
        let n_at_once = match self.limits.memory / (n_entries * LANES * size_of::<f32>()).max(1) {
            room if room < rayon::current_num_threads() => room,
            _ => n_groups,
        };
        // Groups labels of similar frequency, as the unsettled samples of a group are those of any of its labels.
        labels.sort_by_key(|&label| Reverse(samples[label as usize].len()));
        let fitted = |(group, labels): (usize, &[u32])| {
            self.limits.check_stop()?;
            let samples = labels.iter().map(|&label| &samples[label as usize][..]);
            let seed = self.seed.child(group as u64);
            fit_group(rows, samples, &cost, &self.params, seed)
        };
        let groups: Vec<(usize, &[u32])> = labels.chunks(LANES).enumerate().collect();
        let at_once = |groups: &[(usize, &[u32])]| groups.par_iter().copied().map(fitted).collect::<Vec<_>>();
        let groups = groups.chunks(n_at_once).flat_map(at_once);
        let groups = groups.collect::<Result<Vec<_>, _>>()?;
        let residual = groups.iter().map(|(_, residual)| *residual).fold(0.0, f32::max);
        let groups: Vec<SparseWeights> = groups.into_iter().map(|(weights, _)| weights).collect();
        let constant = |samples: &Vec<u32>| match samples.is_empty() {
            true => f32::NEG_INFINITY,
            false => f32::INFINITY,
        };
        let mut offset: Array1<f32> = samples.iter().map(constant).collect();
        let offsets = groups.iter().flat_map(|group| &group.offsets);
        labels
            .iter()
            .zip(offsets)
            .for_each(|(&label, &b)| offset[label as usize] = b);
        Ok(Classifiers {
            weights: joined(groups, &labels, (rows.n_features(), samples.len())),
            offset,
            residual,
        })
    }
}

/// Concatenates the weights of all groups (p x d); `order` lists the labels of the classifiers of all groups in
/// sequence.
fn joined(groups: Vec<SparseWeights>, order: &[u32], (p, d): (usize, usize)) -> CsrMatrix {
    let mut starts = vec![0_usize; p + 1];
    for group in &groups {
        for (&feature, range) in group.features.iter().zip(group.starts.windows(2)) {
            starts[feature as usize + 1] += (range[1] - range[0]) as usize;
        }
    }
    for feature in 0..p {
        starts[feature + 1] += starts[feature];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0, 0.0); starts[p]];
    for (weights, labels) in groups.into_iter().zip(order.chunks(LANES)) {
        for (&feature, range) in weights.features.iter().zip(weights.starts.windows(2)) {
            let next = &mut next[feature as usize];
            for entry in range[0] as usize..range[1] as usize {
                entries[*next] = (labels[weights.lanes[entry] as usize], weights.values[entry]);
                *next += 1;
            }
        }
    }
    for range in starts.windows(2) {
        entries[range[0]..range[1]].sort_unstable_by_key(|(label, _)| *label);
    }
    let (labels, values) = entries.into_iter().unzip();
    CsrMatrix::new((p, d), starts, labels, values)
}
