//! Balanced clusters of labels.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rpo_core::Seed;

use crate::dual::Rows;

/// Maximum number of passes of k-means, and the increase of the mean cosine that justifies another pass.
const PASSES: usize = 20;
const RISE: f64 = 1e-4;
/// Number of components that a feature contributes to.
const ENTRIES: u64 = 3;

/// Labels as unit-length points in a random projection of the features.
pub(super) struct LabelPoints {
    width: usize,
    values: Vec<f32>,
}

impl LabelPoints {
    /// Projects the weighted mean of the samples of each label: each feature goes to three components with random signs.
    pub(super) fn project(rows: &Rows, samples: &[Vec<u32>], width: usize, seed: Seed) -> Self {
        let entry = |key: u64| {
            let hash = seed.hash(key);
            let component = ((hash & 0xffff_ffff) * width as u64) >> 32;
            (component as u32, if hash >> 63 == 0 { 1.0 } else { -1.0 })
        };
        let n_keys = rows.n_features() as u64 * ENTRIES;
        let table: Vec<(u32, f32)> = (0..n_keys).map(entry).collect();
        let mut values = vec![0.0; samples.len() * width];
        let points = values.par_chunks_mut(width).zip(samples);
        points.for_each(|(point, samples)| {
            for &sample in samples {
                let (features, values) = rows.row(sample as usize);
                let weight = rows.weight(sample as usize);
                for (&j, &v) in features.iter().zip(values) {
                    let first = j as usize * ENTRIES as usize;
                    for &(component, sign) in &table[first..first + ENTRIES as usize] {
                        point[component as usize] += sign * v * weight;
                    }
                }
            }
            scale(point.iter_mut());
        });
        Self { width, values }
    }

    fn point(&self, label: u32) -> &[f32] {
        &self.values[label as usize * self.width..][..self.width]
    }

    /// Splits labels into `k` clusters whose sizes differ by at most one, by k-means with cosines. Labels keep their
    /// order within each cluster. `k` must not exceed the number of labels.
    pub(super) fn split(&self, labels: &[u32], k: usize, seed: Seed) -> Vec<Vec<u32>> {
        let n = labels.len();
        let mut chosen = labels.to_vec();
        let (chosen, _) = chosen.partial_shuffle(&mut seed.stream(), k);
        // Stored component by component, so that the products with all centres are adjacent.
        let mut centres = vec![0.0; self.width * k];
        for (cluster, &label) in chosen.iter().enumerate() {
            let point = self.point(label).iter().enumerate();
            point.for_each(|(j, &v)| centres[j * k + cluster] = v);
        }
        let mut cosines = vec![0.0_f32; n * k];
        let mut cluster_of = vec![0; n];
        let mut before = f64::NEG_INFINITY;
        for _ in 0..PASSES {
            cosines.par_chunks_mut(k).zip(labels).for_each(|(out, &label)| {
                out.fill(0.0);
                for (&v, centres) in self.point(label).iter().zip(centres.chunks_exact(k)) {
                    out.iter_mut().zip(centres).for_each(|(out, c)| *out += v * c);
                }
            });
            assign(&cosines, k, &mut cluster_of);
            let of_all = cluster_of.iter().enumerate();
            let sum: f64 = of_all
                .map(|(i, &cluster)| f64::from(cosines[i * k + cluster]))
                .sum();
            let mean = sum / n as f64;
            if mean - before < RISE {
                break;
            }
            before = mean;
            centres.fill(0.0);
            for (&label, &cluster) in labels.iter().zip(&cluster_of) {
                let point = self.point(label).iter().enumerate();
                point.for_each(|(j, &v)| centres[j * k + cluster] += v);
            }
            for cluster in 0..k {
                scale(centres[cluster..].iter_mut().step_by(k));
            }
        }
        let mut clusters = vec![Vec::with_capacity(n.div_ceil(k)); k];
        for (&label, &cluster) in labels.iter().zip(&cluster_of) {
            clusters[cluster].push(label);
        }
        clusters
    }
}

/// Assigns each point (a row of `k` cosines) to a cluster, in order of decreasing cosines, while the cluster has room.
/// Clusters have ⌊n / k⌋ points; the first n mod k clusters that need one more get it.
fn assign(cosines: &[f32], k: usize, cluster_of: &mut [usize]) {
    let n = cluster_of.len();
    let mut order: Vec<u32> = (0..cosines.len() as u32).collect();
    order.par_sort_unstable_by(|&a, &b| {
        cosines[b as usize]
            .total_cmp(&cosines[a as usize])
            .then(a.cmp(&b))
    });
    let (mut sizes, mut larger) = (vec![0; k], n % k);
    cluster_of.fill(usize::MAX);
    for entry in order {
        let (point, cluster) = (entry as usize / k, entry as usize % k);
        let is_full = sizes[cluster] >= n / k;
        let fits = !is_full || (sizes[cluster] == n / k && larger > 0);
        if cluster_of[point] == usize::MAX && fits {
            larger -= usize::from(is_full);
            sizes[cluster] += 1;
            cluster_of[point] = cluster;
        }
    }
}

/// Scales values to unit length, unless all are 0.
fn scale<'a>(values: impl Iterator<Item = &'a mut f32>) {
    let values: Vec<&mut f32> = values.collect();
    let squares: f64 = values.iter().map(|v| f64::from(**v).powi(2)).sum();
    if squares > 0.0 {
        let factor = (1.0 / squares.sqrt()) as f32;
        values.into_iter().for_each(|v| *v *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    proptest! {
        #[test]
        fn clusters_partition_the_labels_evenly(n in 1_usize..40, k in 1_usize..9, seed in 0_u64..50, same in any::<bool>()) {
            let k = k.min(n);
            let value = |i: usize, j: usize| if same { 1.0 } else { (Seed::new(seed).hash((i * 9 + j) as u64) % 7) as f32 - 3.0 };
            let x = Array2::from_shape_fn((n, 9), |(i, j)| value(i, j));
            let rows = Rows::new(MatrixView::from(&x), true, None);
            let samples: Vec<Vec<u32>> = (0..n as u32).map(|i| vec![i]).collect();
            let points = LabelPoints::project(&rows, &samples, 5, Seed::new(seed));
            let labels: Vec<u32> = (0..n as u32).collect();
            let clusters = points.split(&labels, k, Seed::new(seed).child(1));
            prop_assert_eq!(clusters.len(), k);
            prop_assert!(clusters.iter().all(|c| c.len() == n / k || c.len() == n.div_ceil(k)));
            let mut all: Vec<u32> = clusters.concat();
            all.sort_unstable();
            prop_assert_eq!(all, labels);
        }
    }

    #[test]
    fn labels_of_like_samples_stay_together() {
        // The samples of labels 0, 2, 4, 6 have the first three features, the others the last three.
        let x = Array2::from_shape_fn((8, 6), |(i, j)| {
            f32::from(u8::from((i % 2 == 0) == (j < 3))) * (1.0 + (i + j) as f32 * 0.1)
        });
        let rows = Rows::new(MatrixView::from(&x), true, None);
        let samples: Vec<Vec<u32>> = (0..8).map(|i| vec![i]).collect();
        for seed in 0..5 {
            let points = LabelPoints::project(&rows, &samples, 16, Seed::new(seed));
            let mut clusters = points.split(&[0, 1, 2, 3, 4, 5, 6, 7], 2, Seed::new(seed));
            clusters.sort();
            assert_eq!(clusters, [[0, 2, 4, 6], [1, 3, 5, 7]]);
        }
    }
}
