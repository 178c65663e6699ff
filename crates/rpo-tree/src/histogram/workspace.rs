//! Buffers that nodes and trees share.

use super::categories::Scratches;
use super::scalar::Scalar;
use super::search::{Found, Sums};
use super::vector::Vector;
use crate::splitter::candidates::FeatureDraw;
use std::collections::BTreeMap;

/// Buffers of a [`HistogramSplitter`](super::HistogramSplitter), one per thread. They may be used again by any splitter on
/// the same features, so that a tree of a boosted model allocates nothing that depends on the features.
#[derive(Debug)]
pub struct HistogramWorkspace {
    pub(super) common: Common,
    pub(super) packed: Work<Scalar<i64>>,
    pub(super) wide: Work<Scalar<[i64; 2]>>,
    pub(super) few: Work<Vector<i32, 4>>,
    pub(super) many: Work<Vector<i32, 16>>,
    pub(super) long: Work<Vector<i64, 8>>,
}

/// Buffers whatever the targets.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) draw: FeatureDraw,
    /// The features of nodes that are searched together.
    pub(super) drawn: [Vec<u32>; TOGETHER],
    /// Per training row, 0 between calls.
    pub(super) marks: Vec<u8>,
}

/// Most nodes that are searched together, the children of one.
pub(super) const TOGETHER: usize = 2;

/// What is known of nodes that were searched, and buffers.
pub(super) struct Work<S: Sums> {
    /// Targets of nodes that are searched together.
    pub(super) gathered: [S::Gathered; TOGETHER],
    pub(super) scratches: Scratches<S>,
    free: Vec<S::Histogram>,
    searched: BTreeMap<usize, Searched<S>>,
}

/// A node that was searched.
pub(super) struct Searched<S: Sums> {
    /// Its best split and the gain of that, if one is good enough.
    pub(super) best: Option<(Found, f64)>,
    /// Its sums, if they are made of all features.
    pub(super) sums: Option<(S::Histogram, S::Total)>,
}

impl<S: Sums> Default for Work<S> {
    fn default() -> Self {
        Self {
            gathered: Default::default(),
            scratches: Scratches::default(),
            free: Vec::new(),
            searched: BTreeMap::new(),
        }
    }
}

impl<S: Sums> std::fmt::Debug for Work<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (free, searched) = (self.free.len(), self.searched.len());
        write!(f, "Work {{ {free} histograms free, {searched} nodes searched }}")
    }
}

impl HistogramWorkspace {
    pub(super) fn new(features: Vec<u32>) -> Self {
        Self {
            common: Common {
                draw: FeatureDraw::new(features),
                drawn: Default::default(),
                marks: Vec::new(),
            },
            packed: Work::default(),
            wide: Work::default(),
            few: Work::default(),
            many: Work::default(),
            long: Work::default(),
        }
    }
}

impl<S: Sums> Work<S> {
    /// Most nodes of which histograms are kept; others are searched when they are split. A matter of memory alone.
    const MOST_KEPT: usize = 64;

    /// Forgets the nodes of an earlier tree.
    pub(super) fn begin(&mut self) {
        let left = std::mem::take(&mut self.searched);
        left.into_values()
            .for_each(|searched| self.give_back(searched.sums));
    }

    /// A histogram to be filled.
    pub(super) fn take_free(&mut self) -> S::Histogram {
        self.free.pop().unwrap_or_default()
    }

    /// Gives back the histogram of a node that needs it no more, if it has one.
    pub(super) fn give_back(&mut self, sums: Option<(S::Histogram, S::Total)>) {
        self.free.extend(sums.map(|(histogram, _)| histogram));
    }

    /// Returns true if the histograms of two more nodes may be kept.
    pub(super) fn has_room(&self) -> bool {
        self.searched.len() + TOGETHER <= Self::MOST_KEPT
    }

    /// Takes what is known of a node, if it was searched and kept.
    pub(super) fn take(&mut self, node: usize) -> Option<Searched<S>> {
        self.searched.remove(&node)
    }

    /// Keeps what is known of a node.
    pub(super) fn keep(&mut self, node: usize, searched: Searched<S>) {
        self.searched.insert(node, searched);
    }
}
