//! Buffers that nodes and trees share.

use super::categories::Scratches;
use super::scalar::Scalar;
use super::search::Sums;
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
    pub(super) drawn: Vec<u32>,
    /// Per training row, 0 between calls.
    pub(super) marks: Vec<u8>,
}

/// Histograms of open nodes, and buffers.
pub(super) struct Work<S: Sums> {
    pub(super) gathered: S::Gathered,
    pub(super) scratches: Scratches<S>,
    free: Vec<S::Histogram>,
    open: BTreeMap<usize, (S::Histogram, S::Total)>,
}

impl<S: Sums> Default for Work<S> {
    fn default() -> Self {
        Self {
            gathered: S::Gathered::default(),
            scratches: Scratches::default(),
            free: Vec::new(),
            open: BTreeMap::new(),
        }
    }
}

impl<S: Sums> std::fmt::Debug for Work<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (free, open) = (self.free.len(), self.open.len());
        write!(f, "Work {{ {free} histograms free, {open} of open nodes }}")
    }
}

impl HistogramWorkspace {
    pub(super) fn new(features: Vec<u32>) -> Self {
        Self {
            common: Common {
                draw: FeatureDraw::new(features),
                drawn: Vec::new(),
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
    /// Most histograms of open nodes that are kept; those of other nodes are summed again. A matter of memory alone.
    const MOST_OPEN: usize = 64;

    /// Forgets the nodes of an earlier tree.
    pub(super) fn begin(&mut self) {
        let left = std::mem::take(&mut self.open);
        self.free
            .extend(left.into_values().map(|(histogram, _)| histogram));
    }

    /// A histogram to be filled.
    pub(super) fn take_free(&mut self) -> S::Histogram {
        self.free.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, histogram: S::Histogram) {
        self.free.push(histogram);
    }

    /// Takes the sums of an open node, if they are kept.
    pub(super) fn take(&mut self, node: usize) -> Option<(S::Histogram, S::Total)> {
        self.open.remove(&node)
    }

    /// Keeps the sums of an open node.
    pub(super) fn keep(&mut self, node: usize, sums: (S::Histogram, S::Total)) {
        if self.open.len() < Self::MOST_OPEN {
            self.open.insert(node, sums);
        } else {
            self.give_back(sums.0);
        }
    }
}
