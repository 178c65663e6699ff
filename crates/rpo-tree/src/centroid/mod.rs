//! Nodes of many children: rows go to the nearest of k centroids, found by clustering the targets.
//!
//! The node classifier of CRAFTML: the targets of a sample of the node's rows are clustered by k-means, the features
//! of each cluster averaged to a centroid, and *every* row of the node goes to the centroid its features are nearest
//! to, not to its own cluster, so that growing and predicting route by one rule. Children that no row reaches
//! are dropped with their centroids.
//!
//! The splitter sees features and targets through two seams, so that it knows nothing of projections: a
//! [`ClusterTargets`] gives the target rows to be clustered, projected anew at every node if it likes, and a
//! [`Routing`] makes of a cluster's mean what scores rows. Rows are routed by the features they come with: one
//! projection of them per tree happens before, outside.
//!
//! Source: Siblini, Kuntz, Meyer, ICML 2018, algorithms 1 and 2.

mod gather;
mod lookup;
mod means;
mod rebuild;
mod rule;
mod splitter;
mod store;
mod weights;

pub use gather::Centroid;
pub use rebuild::{TreeRecord, rebuild};
pub use rule::CentroidRule;
pub use splitter::{CentroidParams, CentroidSplitter, CentroidWorkspace, NodeSample};

use crate::cluster::Points;
use rpo_core::Seed;
use std::fmt::Debug;

/// The targets whose rows are clustered.
pub trait ClusterTargets: Sync {
    /// Number of columns of the rows that [`push`](Self::push) appends.
    fn n_columns(&self) -> usize;

    /// Appends the target rows of the given training rows to `points`, in their order, as a node with this seed sees
    /// them.
    fn push(&self, rows: &[u32], seed: Seed, points: &mut Points);

    /// Whether all the given rows have the same targets: such a node is a leaf.
    fn all_equal(&self, rows: &[u32]) -> bool;
}

/// What near means when rows are routed.
pub trait Routing: Debug + Sync {
    /// Whether every row counts as one of unit length in a cluster's mean.
    fn unit_rows(&self) -> bool;

    /// How the node with this seed scores rows.
    fn at_node(&self, seed: Seed) -> Box<dyn Scoring + '_>;
}

/// Makes of a cluster's mean what scores rows.
pub trait Scoring {
    /// Replaces a mean by weights and returns an offset such that a row x is the nearer to the mean the larger
    /// offset + weights · x.
    fn score(&self, mean: &mut SparseVector) -> f64;
}

/// A sparse vector being computed with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVector {
    /// Increasing.
    pub features: Vec<u32>,
    /// One per feature.
    pub values: Vec<f64>,
}

/// Largest cosine: the mean scaled to unit length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cosine;

impl Routing for Cosine {
    fn unit_rows(&self) -> bool {
        true
    }

    fn at_node(&self, _: Seed) -> Box<dyn Scoring> {
        Box::new(*self)
    }
}

impl Scoring for Cosine {
    fn score(&self, mean: &mut SparseVector) -> f64 {
        mean.normalize();
        0.0
    }
}

/// Smallest distance: -‖x - μ‖² is 2 (μ · x - ‖μ‖²/2) less a term that all centroids share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Euclidean;

impl Routing for Euclidean {
    fn unit_rows(&self) -> bool {
        false
    }

    fn at_node(&self, _: Seed) -> Box<dyn Scoring> {
        Box::new(*self)
    }
}

impl Scoring for Euclidean {
    fn score(&self, mean: &mut SparseVector) -> f64 {
        -mean.square() / 2.0
    }
}

impl SparseVector {
    /// Squared length.
    pub fn square(&self) -> f64 {
        self.values.iter().map(|v| v * v).sum()
    }

    /// Scales to unit length; the zero vector stays.
    pub fn normalize(&mut self) {
        let length = self.square().sqrt();
        if length > 0.0 {
            self.values.iter_mut().for_each(|v| *v /= length);
        }
    }
}
