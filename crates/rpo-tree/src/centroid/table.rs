//! The centroids of a node side by side, for sending many rows.

use super::gather::Centroid;
use crate::products::{largest_product, table_width};
use rpo_core::vectorized;

/// Weights feature by feature, each a row of a number per centroid: [`CentroidRule`](super::CentroidRule) in the most
/// room and the least time, for as long as rows of one node are sent on.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// -∞ behind the centroids.
    offsets: Vec<f32>,
    /// Zeros between nodes.
    weights: Vec<f32>,
}

impl Table {
    /// Whether a table of these sizes is worth its room.
    pub(super) fn is_small(n_centroids: usize, n_columns: usize) -> bool {
        const MOST: usize = 1 << 22;
        table_width(n_centroids).saturating_mul(n_columns) <= MOST
    }

    /// Takes the centroids of a node.
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

    /// The centroid of largest score for a row, of equal ones the first. Scores are the sums that
    /// [`CentroidRule`](super::CentroidRule) makes, bit for bit.
    #[inline]
    pub(super) fn nearest(&self, columns: &[u32], values: &[f32], scores: &mut Vec<f32>) -> usize {
        let (weights, offsets) = (&self.weights, &self.offsets);
        vectorized(
            #[inline(always)]
            || largest_product(columns, values, weights, offsets, scores, |largest| largest),
        )
        .0
    }

    /// Removes the centroids that it was [filled](Self::fill) with.
    pub(super) fn clear(&mut self, centroids: &[Centroid]) {
        let width = self.offsets.len();
        for (c, centroid) in centroids.iter().enumerate() {
            for &feature in &centroid.features {
                self.weights[feature as usize * width + c] = 0.0;
            }
        }
    }
}
