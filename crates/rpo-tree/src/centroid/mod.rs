//! Splits into many children: samples go to the nearest of k centroids, found by clustering the targets.
//!
//! This is the node classifier of CRAFTML: the targets of some of the node's samples are clustered by k-means, the
//! features of each cluster are averaged to a centroid, and *every* sample of the node goes to the centroid nearest to
//! its features, not to its own cluster, so that growing and prediction use the same rule. Children that no sample
//! reaches are dropped with their centroids.
//!
//! The splitter accesses features and targets through two traits and does not depend on projections: [`ClusterTargets`]
//! appends the target rows to be clustered, which may be projected anew at every node, and [`Routing`] turns the mean
//! of a cluster into the weights that score samples. Samples are routed by the given features; any projection of them
//! per tree happens before.
//!
//! Source: Siblini, Kuntz, Meyer, ICML 2018, algorithms 1 and 2.

mod gather;
mod lookup;
mod means;
mod member_rows;
mod recorded;
mod rule;
mod sparse_accumulator;
mod splitter;
mod store;
mod table;
mod weights;

pub use recorded::{RecordedTree, RouteBuffers};
pub use rule::CentroidRule;
pub use splitter::{CentroidParams, CentroidSplitter, CentroidWorkspace, NodeSample, StoredCentroids};

use crate::cluster::Points;
use crate::products::squared_length;
use rpo_core::{Seed, vectorized};
use std::fmt::Debug;

/// The targets that are clustered.
pub trait ClusterTargets: Sync {
    /// Number of columns of the rows that [`push`](Self::push) appends.
    fn n_columns(&self) -> usize;

    /// Appends the targets of the given training samples to `points`, in their order; a target may depend on the seed
    /// of the node.
    fn push(&self, rows: &[u32], seed: Seed, points: &mut Points);

    /// Returns true if all the given rows have the same targets: such a node is a leaf.
    fn all_equal(&self, rows: &[u32]) -> bool;
}

/// The distance by which samples are routed.
pub trait Routing: Debug + Sync {
    /// Returns true if rows are scaled to unit length in the mean of a cluster.
    fn unit_rows(&self) -> bool;

    /// Returns the scoring of the node with this seed.
    fn at_node(&self, seed: Seed) -> Box<dyn Scoring + '_>;
}

/// Turns the mean of a cluster into the weights that score samples.
pub trait Scoring {
    /// Replaces a mean by weights and returns an offset such that offset + weights · x is larger for samples x nearer
    /// to the mean.
    fn score(&self, mean: &mut SparseVector) -> f64;
}

/// A sparse vector in `f64`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVector {
    /// The features, increasing.
    pub features: Vec<u32>,
    /// One value per feature.
    pub values: Vec<f64>,
}

/// Routing by the largest cosine: weights are the mean scaled to unit length.
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

/// Routing by the smallest distance: -‖x - μ‖² is 2 (μ · x - ‖μ‖²/2) minus a term common to all centroids.
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
        -squared_length(&mean.values) / 2.0
    }
}

impl SparseVector {
    /// Scales to unit length; the zero vector is unchanged.
    fn normalize(&mut self) {
        let length = squared_length(&self.values).sqrt();
        if length > 0.0 {
            self.divide(length);
        }
    }

    fn divide(&mut self, divisor: f64) {
        vectorized(
            #[inline(always)]
            || {
                for value in &mut self.values {
                    *value /= divisor;
                }
            },
        );
    }
}
