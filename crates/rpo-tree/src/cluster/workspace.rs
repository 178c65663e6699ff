//! The clusters of one start, and the buffers of all starts.

use super::points::Points;
use super::seeding::SeedingBuffers;
use crate::products::{largest_product, table_width};

/// Products, and objectives, that differ by less than this fraction of their size are considered equal: rows of few
/// whole numbers often lie midway between two centres, and rounding, which depends on the order of the columns, must
/// not decide.
pub(super) const TIE: f64 = 1e-12;

/// Buffers of a clustering, and the clusters found last; reusable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    /// The current start.
    pub(super) run: Run,
    /// The best start so far, if there are several.
    pub(super) best: Run,
    /// Sum of the values per occurring column and cluster.
    pub(super) sums: Vec<f64>,
    /// Products of one row with all centres, if there are many.
    pub(super) products: Vec<f64>,
    pub(super) seeding: SeedingBuffers,
}

/// One start: its clusters and statistics.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) labels: Vec<u32>,
    pub(super) n_clusters: usize,
    /// Factors of rows (occurring columns x `width`, zero from `n_clusters` on): the centres, or Pᵀ times the centres
    /// of images.
    pub(super) centres: Vec<f64>,
    pub(super) width: usize,
    /// Added to the products of a row with the centres before they are compared: -‖μ‖²/2 for distances; -∞ beyond the
    /// clusters.
    pub(super) offsets: Vec<f64>,
    pub(super) history: Vec<f64>,
    pub(super) n_updates: usize,
    pub(super) is_stable: bool,
}

impl Run {
    pub(super) fn clear(&mut self, points: &Points, n_clusters: usize) {
        self.n_clusters = n_clusters;
        self.width = table_width(n_clusters);
        self.labels.clear();
        self.labels.resize(points.len(), u32::MAX);
        self.centres.clear();
        self.centres.resize(points.names().len() * self.width, 0.0);
        self.offsets.clear();
        self.offsets.resize(n_clusters, 0.0);
        self.offsets.resize(self.width, f64::NEG_INFINITY);
        self.history.clear();
        (self.n_updates, self.is_stable) = (0, false);
    }

    /// Computes the products of a row of the given size with all centres, plus their offsets; returns the first that
    /// equals the largest within [`TIE`].
    #[inline(always)]
    pub(super) fn nearest(
        &self,
        columns: &[u32],
        values: &[f32],
        size: f64,
        products: &mut Vec<f64>,
    ) -> (usize, f64) {
        let equal = |largest: f64| largest - TIE * (size + largest.abs());
        largest_product(columns, values, &self.centres, &self.offsets, products, equal)
    }
}

impl Workspace {
    /// Returns the cluster of each row, from 0.
    pub(crate) fn labels(&self) -> &[u32] {
        &self.run.labels
    }

    /// Number of clusters, none of them empty.
    pub(crate) fn n_clusters(&self) -> usize {
        self.run.n_clusters
    }
}
