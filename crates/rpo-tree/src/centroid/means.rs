//! Centroids as means of training samples.

use super::gather::Centroid;
use super::{Scoring, SparseVector};
use crate::partition::partition;
use rayon::prelude::*;
use rpo_core::{CsrView, SparseAccumulator, csr_row};

/// Rows as they count in means.
#[derive(Debug)]
pub(super) struct MemberRows<'a> {
    x: CsrView<'a>,
    /// One over the length of each row, 0 for rows of zeros; empty where lengths do not matter.
    shares: Vec<f64>,
}

impl<'a> MemberRows<'a> {
    pub(super) fn new(x: CsrView<'a>, unit_rows: bool) -> Self {
        let share = |row| {
            let square: f64 = csr_row(&x, row).1.iter().map(|&v| f64::from(v).powi(2)).sum();
            if square > 0.0 { square.sqrt().recip() } else { 0.0 }
        };
        let n = if unit_rows { x.rows() } else { 0 };
        let shares = (0..n).into_par_iter().map(share).collect();
        Self { x, shares }
    }
}

/// Makes centroids; holds what it works in.
#[derive(Debug)]
pub(super) struct Means {
    sums: SparseAccumulator<f64>,
    mean: SparseVector,
    /// Rows cluster by cluster, and where each cluster ends.
    rows: Vec<u32>,
    end: Vec<usize>,
}

impl Means {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            sums: SparseAccumulator::new(n_features),
            mean: SparseVector::default(),
            rows: Vec::new(),
            end: Vec::new(),
        }
    }

    /// Replaces `centroids` by those of clusters 0 to `n_clusters`, given the cluster and the number of each member.
    /// Sums are made in the order in which rows are given.
    pub(super) fn compute(
        &mut self,
        rows: &MemberRows<'_>,
        members: impl Iterator<Item = (u32, u32)> + Clone,
        n_clusters: usize,
        max_entries: Option<usize>,
        scoring: &dyn Scoring,
        centroids: &mut Vec<Centroid>,
    ) {
        self.end.resize(n_clusters, 0);
        let members = members.map(|(cluster, row)| (cluster as usize, row));
        partition(members, &mut self.end, &mut self.rows);
        centroids.resize_with(n_clusters, Centroid::default);
        let (mean, mut first) = (&mut self.mean, 0);
        for (&end, centroid) in self.end.iter().zip(centroids) {
            let of_cluster = &self.rows[first..end];
            first = end;
            let row = |&row: &u32| csr_row(&rows.x, row as usize);
            self.sums.begin(of_cluster.iter().map(|r| row(r).0.len()).sum());
            for r in of_cluster {
                let share = rows.shares.get(*r as usize).copied().unwrap_or(1.0);
                let (features, values) = row(r);
                self.sums
                    .update(features, values, |sum, value| *sum += share * f64::from(value));
            }
            self.sums.drain(&mut mean.features, &mut mean.values);
            let n = of_cluster.len() as f64;
            mean.values.iter_mut().for_each(|v| *v /= n);
            if let Some(max) = max_entries {
                mean.keep_largest(max);
            }
            centroid.offset = scoring.score(mean) as f32;
            centroid.features.clone_from(&mean.features);
            centroid.weights.clear();
            centroid.weights.extend(mean.values.iter().map(|&v| v as f32));
            if centroid.weights.contains(&0.0) {
                *centroid = centroid.without_zeros();
            }
        }
    }
}

impl SparseVector {
    /// Keeps the `n` values largest in size, of equal ones the first.
    fn keep_largest(&mut self, n: usize) {
        if self.values.len() <= n {
            return;
        }
        let size = |i: u32| self.values[i as usize].abs();
        let larger = |a: &u32, b: &u32| size(*b).total_cmp(&size(*a)).then(a.cmp(b));
        let mut order: Vec<u32> = (0..self.values.len() as u32).collect();
        let last = *order.select_nth_unstable_by(n - 1, larger).1;
        let is_kept: Vec<bool> = (0..order.len() as u32)
            .map(|i| larger(&i, &last).is_le())
            .collect();
        let kept = is_kept.iter().enumerate().filter(|(_, kept)| **kept);
        for (to, (from, _)) in kept.enumerate() {
            self.features[to] = self.features[from];
            self.values[to] = self.values[from];
        }
        self.features.truncate(n);
        self.values.truncate(n);
    }
}
