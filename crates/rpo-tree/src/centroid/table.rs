//! The centroids of a node side by side, for routing many rows.

use super::gather::Centroid;
use crate::products::{largest_product, table_width};
use rpo_core::vectorized;

/// Weights feature by feature, each a row with one number per centroid. Like [`CentroidRule`](super::CentroidRule), but
/// takes the most memory and the least time; used while rows of one node are routed.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// -∞ beyond the centroids.
    offsets: Vec<f32>,
    /// Zeros between nodes.
    weights: Vec<f32>,
}

impl Table {
    /// Returns whether a table of these sizes is worth its memory.
    pub(super) fn is_small(n_centroids: usize, n_columns: usize) -> bool {
        const MOST: usize = 1 << 22;
        table_width(n_centroids).saturating_mul(n_columns) <= MOST
    }

    /// Inserts the centroids of a node.
    pub(super) fn fill(&mut self, centroids: &[Centroid], n_columns: usize) {
        let width = table_width(centroids.len());
        if self.weights.len() < width * n_columns {
            self.weights = vec![0.0; width * n_columns];
        }
        self.offsets.clear();
        self.offsets.resize(width, f32::NEG_INFINITY);
        for (c, centroid) in centroids.iter().enumerate() {
            self.offsets[c] = centroid.offset;
            for (&feature, &weight) in centroid.features.iter().zip(&centroid.weights) {
                self.weights[feature as usize * width + c] = weight;
            }
        }
    }

    /// Returns the centroid with the largest score for a row, the first among equal ones. Scores are the sums that
    /// [`CentroidRule`](super::CentroidRule) computes, bit for bit.
    #[inline]
    pub(super) fn nearest(&self, columns: &[u32], values: &[f32], scores: &mut Vec<f32>) -> usize {
        let (weights, offsets) = (&self.weights, &self.offsets);
        vectorized(
            #[inline(always)]
            || largest_product(columns, values, weights, offsets, scores, |largest| largest),
        )
        .0
    }

    /// Removes the centroids with which the table was [filled](Self::fill).
    pub(super) fn clear(&mut self, centroids: &[Centroid]) {
        let width = self.offsets.len();
        for (c, centroid) in centroids.iter().enumerate() {
            for &feature in &centroid.features {
                self.weights[feature as usize * width + c] = 0.0;
            }
        }
    }
}
