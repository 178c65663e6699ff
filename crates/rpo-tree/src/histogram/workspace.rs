//! Buffers that nodes and trees share.

use super::categories::Scratches;
use super::scalar::Scalar;
use super::search::{Found, Sums};
use super::vector::Vector;
use crate::splitter::candidates::FeatureDraw;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Buffers of a [`HistogramSplitter`](super::HistogramSplitter), one per thread. Any splitter on the same features may
/// reuse them, so that a tree of a boosted model allocates nothing that depends on the features.
#[derive(Debug)]
pub struct HistogramWorkspace {
    pub(super) common: Common,
    pub(super) packed: Work<Scalar<i64>>,
    pub(super) narrow: Work<Scalar<[i32; 2]>>,
    pub(super) wide: Work<Scalar<[i64; 2]>>,
    pub(super) few: Work<Vector<i32, 4>>,
    pub(super) several: Work<Vector<i32, 8>>,
    pub(super) many: Work<Vector<i32, 16>>,
    pub(super) long: Work<Vector<i64, 8>>,
}

/// Buffers that do not depend on the targets.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) draw: FeatureDraw,
    /// The drawn features of nodes that are searched together.
    pub(super) drawn: [Vec<u32>; TOGETHER],
    /// One mark per training row; 0 between calls.
    pub(super) marks: Vec<u8>,
}

/// Most nodes that are searched together: the children of one node.
pub(super) const TOGETHER: usize = 2;

/// Results of searched nodes, and buffers.
pub(super) struct Work<S: Sums> {
    /// Targets of nodes that are searched together.
    pub(super) gathered: [S::Gathered; TOGETHER],
    pub(super) scratches: Scratches<S>,
    kept: Arc<Mutex<Kept<S>>>,
}

/// What the threads that grow a tree share.
struct Kept<S: Sums> {
    free: Vec<S::Histogram>,
    searched: BTreeMap<usize, Searched<S>>,
}

/// A node that was searched.
pub(super) struct Searched<S: Sums> {
    /// Its best split and the gain of that split, if one is good enough.
    pub(super) best: Option<(Found, f64)>,
    /// Its sums, if they cover all features.
    pub(super) sums: Option<(S::Histogram, S::Total)>,
}

impl<S: Sums> Default for Work<S> {
    fn default() -> Self {
        Self {
            gathered: Default::default(),
            scratches: Scratches::default(),
            kept: Arc::new(Mutex::new(Kept {
                free: Vec::new(),
                searched: BTreeMap::new(),
            })),
        }
    }
}

impl<S: Sums> std::fmt::Debug for Work<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.kept();
        let (free, searched) = (kept.free.len(), kept.searched.len());
        write!(f, "Work {{ {free} histograms free, {searched} nodes searched }}")
    }
}

impl HistogramWorkspace {
    pub(super) fn new(features: Vec<u32>) -> Self {
        Self {
            common: Common::new(FeatureDraw::new(features)),
            packed: Work::default(),
            narrow: Work::default(),
            wide: Work::default(),
            few: Work::default(),
            several: Work::default(),
            many: Work::default(),
            long: Work::default(),
        }
    }

    /// Returns buffers for another thread that grows the same trees.
    pub(super) fn beside(&self) -> Self {
        Self {
            common: Common::new(self.common.draw.clone()),
            packed: self.packed.beside(),
            narrow: self.narrow.beside(),
            wide: self.wide.beside(),
            few: self.few.beside(),
            several: self.several.beside(),
            many: self.many.beside(),
            long: self.long.beside(),
        }
    }

    /// Discards the nodes of an earlier tree.
    pub(super) fn begin(&mut self) {
        self.packed.begin();
        self.narrow.begin();
        self.wide.begin();
        self.few.begin();
        self.several.begin();
        self.many.begin();
        self.long.begin();
    }
}

impl Common {
    fn new(draw: FeatureDraw) -> Self {
        Self {
            draw,
            drawn: Default::default(),
            marks: Vec::new(),
        }
    }
}

impl<S: Sums> Work<S> {
    /// Most nodes whose histograms are kept; other nodes are searched when they are split. This only limits memory.
    const MOST_KEPT: usize = 64;

    /// Returns buffers for another thread that grows the same trees.
    fn beside(&self) -> Self {
        Self {
            kept: Arc::clone(&self.kept),
            ..Self::default()
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<S>> {
        self.kept
            .lock()
            .expect("no thread panics while it holds the nodes")
    }

    fn begin(&mut self) {
        let Kept { free, searched } = &mut *self.kept();
        let left = std::mem::take(searched).into_values();
        free.extend(left.filter_map(|searched| Some(searched.sums?.0)));
    }

    /// Returns a histogram to be filled.
    pub(super) fn take_free(&mut self) -> S::Histogram {
        self.kept().free.pop().unwrap_or_default()
    }

    /// Returns the histogram of a node that no longer needs it, if it has one, to the free list.
    pub(super) fn give_back(&mut self, sums: Option<(S::Histogram, S::Total)>) {
        if let Some((histogram, _)) = sums {
            self.kept().free.push(histogram);
        }
    }

    /// Returns true if the histograms of two more nodes may be kept.
    pub(super) fn has_room(&self) -> bool {
        self.kept().searched.len() + TOGETHER <= Self::MOST_KEPT
    }

    /// Removes and returns the result of a node, if it was searched and kept.
    pub(super) fn take(&mut self, node: usize) -> Option<Searched<S>> {
        self.kept().searched.remove(&node)
    }

    /// Keeps the result of a node.
    pub(super) fn keep(&mut self, node: usize, searched: Searched<S>) {
        self.kept().searched.insert(node, searched);
    }
}
