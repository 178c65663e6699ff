//! The centroids of a node side by side, for sending many rows.

use super::gather::Centroid;
use super::rule::largest;
use crate::products::{add_products, table_width};

/// Weights feature by feature, each a row of a number per centroid: [`CentroidRule`](super::CentroidRule) in the most
/// room and the least time, for as long as rows of one node are sent on.
#[derive(Debug, Default)]
pub(super) struct Table {
    offsets: Vec<f32>,
    /// Zeros between nodes.
    weights: Vec<f32>,
    n_centroids: usize,
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
        self.n_centroids = centroids.len();
        self.offsets.clear();
        self.offsets.resize(width, 0.0);
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
        scores.clear();
        scores.extend_from_slice(&self.offsets);
        add_products(columns, values, &self.weights, scores);
        largest(&scores[..self.n_centroids])
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
