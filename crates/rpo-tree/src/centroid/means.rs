//! Centroids from the rows that teach them.

use super::accumulate::Touched;
use super::rule::Centroid;
use super::{Scoring, SparseVector};
use rayon::prelude::*;
use rpo_core::{CsrView, csr_row};

/// Rows as they count in means.
#[derive(Debug)]
pub(super) struct Teachers<'a> {
    x: CsrView<'a>,
    /// One over the length of each row, 0 for rows of zeros; empty where lengths do not matter.
    shares: Vec<f64>,
}

impl<'a> Teachers<'a> {
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
    sums: Touched<f64>,
    mean: SparseVector,
    /// Rows cluster by cluster.
    order: Vec<(u32, u32)>,
}

impl Means {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            sums: Touched::new(n_features),
            mean: SparseVector::default(),
            order: Vec::new(),
        }
    }

    /// Replaces `centroids` by those of clusters 0 to `n_clusters`, given which row teaches which. Sums are made in the
    /// order of the rows.
    pub(super) fn compute(
        &mut self,
        teachers: &Teachers<'_>,
        taught: impl Iterator<Item = (u32, u32)>,
        n_clusters: usize,
        max_entries: Option<usize>,
        scoring: &dyn Scoring,
        centroids: &mut Vec<Centroid>,
    ) {
        self.order.clear();
        self.order.extend(taught);
        self.order.sort_unstable();
        centroids.resize_with(n_clusters, Centroid::default);
        for cluster in self.order.chunk_by(|a, b| a.0 == b.0) {
            for &(_, row) in cluster {
                let share = teachers.shares.get(row as usize).copied().unwrap_or(1.0);
                let (features, values) = csr_row(&teachers.x, row as usize);
                for (&feature, &value) in features.iter().zip(values) {
                    *self.sums.touch(feature) += share * f64::from(value);
                }
            }
            let (mean, n) = (&mut self.mean, cluster.len() as f64);
            mean.features.clear();
            mean.values.clear();
            self.sums.drain(|feature, sum| {
                let sum = std::mem::take(sum);
                if sum != 0.0 {
                    mean.features.push(feature);
                    mean.values.push(sum / n);
                }
            });
            if let Some(max) = max_entries {
                mean.keep_largest(max);
            }
            let centroid = &mut centroids[cluster[0].0 as usize];
            centroid.offset = scoring.score(mean) as f32;
            centroid.features.clone_from(&mean.features);
            centroid.weights.clear();
            centroid.weights.extend(mean.values.iter().map(|&v| v as f32));
        }
    }
}

impl SparseVector {
    /// Keeps the `n` values largest in size, of equal ones the first.
    fn keep_largest(&mut self, n: usize) {
        if self.values.len() <= n {
            return;
        }
        let mut order: Vec<u32> = (0..self.values.len() as u32).collect();
        let size = |i: u32| self.values[i as usize].abs();
        order.select_nth_unstable_by(n - 1, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        order.truncate(n);
        order.sort_unstable();
        for (to, &from) in order.iter().enumerate() {
            self.features[to] = self.features[from as usize];
            self.values[to] = self.values[from as usize];
        }
        self.features.truncate(n);
        self.values.truncate(n);
    }
}
