//! Centroids as means of training samples.

use super::gather::Centroid;
use super::member_rows::MemberRows;
use super::sparse_accumulator::SparseAccumulator;
use super::{Scoring, SparseVector};
use crate::partition::partition;

/// Computes centroids; holds the buffers.
#[derive(Debug)]
pub(super) struct Means {
    sums: SparseAccumulator<f64>,
    /// Sums that remain of a total.
    rest: Vec<f64>,
    mean: SparseVector,
    /// Rows cluster by cluster, and the end of each cluster.
    rows: Vec<u32>,
    end: Vec<usize>,
    sizes: Vec<u64>,
}

impl Means {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            sums: SparseAccumulator::new(n_features),
            rest: Vec::new(),
            mean: SparseVector::default(),
            rows: Vec::new(),
            end: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Replaces `centroids` by those of clusters 1 to `n_clusters`, given the cluster and the number of each row; rows
    /// of cluster 0 belong to no centroid. Sums are computed in the order in which rows are given.
    ///
    /// The `total` of all given rows of unit length, if available, makes it unnecessary to sum the largest cluster: its
    /// sum is the total minus the others.
    #[expect(clippy::too_many_arguments, reason = "what makes a centroid")]
    pub(super) fn compute(
        &mut self,
        rows: &MemberRows<'_>,
        members: impl Iterator<Item = (usize, u32)> + Clone,
        n_clusters: usize,
        total: Option<&[f64]>,
        max_entries: Option<usize>,
        scoring: &dyn Scoring,
        centroids: &mut Vec<Centroid>,
    ) {
        self.end.resize(n_clusters + 1, 0);
        partition(members, &mut self.end, &mut self.rows);
        centroids.resize_with(n_clusters, Centroid::default);
        let (sorted, end) = (&self.rows[..self.end[n_clusters]], &self.end);
        let of = |cluster: usize| &sorted[if cluster == 0 { 0 } else { end[cluster - 1] }..end[cluster]];
        let total = total.and_then(|total| {
            let entries = (0..=n_clusters).map(|cluster| (rows.n_entries(of(cluster)), cluster));
            let all = rows.n_entries(sorted);
            let (most, largest) = entries.max().filter(|(_, cluster)| *cluster > 0)?;
            // A pass over all sums costs about as much as adding this many entries.
            (most > all - most + total.len() / 2).then_some((total, largest))
        });
        for (centroid, cluster) in centroids.iter_mut().zip(1..) {
            let (of_cluster, mean) = (of(cluster), &mut self.mean);
            match total {
                Some((total, largest)) if largest == cluster => {
                    self.rest.clear();
                    self.rest.extend_from_slice(total);
                    let (before, behind) = (end[cluster - 1], end[cluster]);
                    take(&mut self.rest, rows, &sorted[..before]);
                    take(&mut self.rest, rows, &sorted[behind..]);
                    mean.assign(&self.rest);
                }
                _ if of_cluster.len() == 1 => mean.assign_row(rows.row(of_cluster[0])),
                _ => {
                    self.sums.begin(rows.n_entries(of_cluster));
                    for &row in of_cluster {
                        let (features, values) = rows.row(row);
                        self.sums
                            .update(features, values, |sum, value| *sum += f64::from(value));
                    }
                    self.sums.drain(&mut mean.features, &mut mean.values);
                }
            }
            mean.divide(of_cluster.len() as f64);
            if let Some(max) = max_entries {
                mean.keep_largest(max, &mut self.sizes);
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

/// Returns the sums by feature of the rows of a node's child, given those of the node if available; `None` unless they
/// help to compute its centroids.
pub(super) fn total_of_child<'r>(
    total: Option<Vec<f64>>,
    rows: &MemberRows<'_>,
    own: &[u32],
    others: impl Iterator<Item = &'r [u32]> + Clone,
    n_columns: usize,
) -> Option<Vec<f64>> {
    // Subtracting rows is cheaper than summing the remaining rows only if most rows stay together, node after node.
    let n_others = others.clone().map(<[u32]>::len).sum();
    if own.len() <= n_others || rows.n_entries(own) < 4 * n_columns {
        return None;
    }
    if let Some(mut total) = total {
        others.for_each(|others| take(&mut total, rows, others));
        return Some(total);
    }
    let mut total = vec![0.0; n_columns];
    for &row in own {
        let (features, values) = rows.row(row);
        let entries = features.iter().zip(values);
        entries.for_each(|(&feature, &value)| total[feature as usize] += f64::from(value));
    }
    Some(total)
}

/// Subtracts rows from sums that contain them.
fn take(sums: &mut [f64], rows: &MemberRows<'_>, taken: &[u32]) {
    for &row in taken {
        let (features, values) = rows.row(row);
        let entries = features.iter().zip(values);
        entries.for_each(|(&feature, &value)| sums[feature as usize] -= f64::from(value));
    }
}

impl SparseVector {
    /// Replaces the vector by the non-zero numbers.
    fn assign(&mut self, numbers: &[f64]) {
        self.features.resize(numbers.len(), 0);
        self.values.resize(numbers.len(), 0.0);
        let mut n = 0;
        // Always written, and kept only if non-zero: which numbers are cannot be predicted.
        for (feature, &value) in numbers.iter().enumerate() {
            (self.features[n], self.values[n]) = (feature as u32, value);
            n += usize::from(value != 0.0);
        }
        self.features.truncate(n);
        self.values.truncate(n);
    }

    /// Replaces the vector by the non-zero values stored in a row.
    fn assign_row(&mut self, (features, values): (&[u32], &[f32])) {
        let entries = || features.iter().zip(values).filter(|(_, value)| **value != 0.0);
        self.features.clear();
        self.features.extend(entries().map(|(&feature, _)| feature));
        self.values.clear();
        self.values.extend(entries().map(|(_, &value)| f64::from(value)));
    }

    /// Keeps the `n` values largest in magnitude, the first among equal ones.
    fn keep_largest(&mut self, n: usize, sizes: &mut Vec<u64>) {
        if self.values.len() <= n {
            return;
        }
        // The bits of nonnegative numbers sort like the numbers.
        let size = |value: f64| value.abs().to_bits();
        sizes.clear();
        sizes.extend(self.values.iter().map(|&v| size(v)));
        let least = *sizes.select_nth_unstable_by(n - 1, |a, b| b.cmp(a)).1;
        let mut ties = sizes[..n].iter().filter(|&&size| size == least).count();
        let mut to = 0;
        for from in 0..self.values.len() {
            let (feature, value) = (self.features[from], self.values[from]);
            (self.features[to], self.values[to]) = (feature, value);
            let is_tie = size(value) == least && ties > 0;
            ties -= usize::from(is_tie);
            to += usize::from(size(value) > least || is_tie);
        }
        self.features.truncate(n);
        self.values.truncate(n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_largest_are_kept_and_of_equal_ones_the_first(values in prop::collection::vec(-4_i8..5, 1..60), n in 1_usize..70) {
            let mut vector = SparseVector {
                features: (0..values.len() as u32).collect(),
                values: values.iter().map(|&v| f64::from(v)).collect(),
            };
            let mut order: Vec<u32> = vector.features.clone();
            order.sort_by_key(|&i| -values[i as usize].abs());
            order.truncate(n);
            order.sort_unstable();
            vector.keep_largest(n, &mut Vec::new());
            prop_assert!(vector.features.iter().zip(&vector.values).all(|(&i, &v)| v == f64::from(values[i as usize])));
            prop_assert_eq!(vector.features, order);
        }
    }
}
